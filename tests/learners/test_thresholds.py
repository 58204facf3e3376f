"""Few words are handled one by one and many by array passes: where that changes does not matter."""

from __future__ import annotations

import pytest

from pdfalearn import AutomatonModel, ExactOracle, learn
from pdfalearn.learners import quant
from pdfalearn.models import automaton
from pdfalearn.observations import _int_map, _nodes, tree
from tests.learners.checks import assert_is_quotient
from tests.learners.families import FAMILIES, drawn
from tests.learners.wandering import WanderingOracle
from tests.models.watched import WatchedModel


@pytest.fixture(params=[1, 5, 10**9], ids=["all at once", "mixed", "one by one"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Move all borders between few and many."""
    for module, name in [
        (quant, "_FEW"),
        (automaton, "_FEW"),
        (tree, "_FEW"),
        (_int_map, "_FEW"),
        (_int_map, "_MANY"),
        (_int_map, "_SMALL"),
        (_nodes, "_LONG"),
    ]:
        monkeypatch.setattr(module, name, request.param)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_quotient_is_learnt_all_the_same(family: str) -> None:
    for seed in range(20):
        target, by = drawn(family, 25, seed)
        oracle = WanderingOracle(target, by, seed) if seed % 3 else None
        assert_is_quotient(learn(target, by=by, oracle=oracle).pdfa, target, by)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("family", FAMILIES)
def test_prefixes_may_cost_and_handles_be_few_all_the_same(family: str) -> None:
    for seed in range(8):
        target, by = drawn(family, 12, seed)
        for capacity in (None, 4, 15):
            model = WatchedModel(
                AutomatonModel(target), capacity=capacity, prefixes_free=bool(seed % 2)
            )
            result = learn(model, by=by, oracle=ExactOracle(target, by=by), audit=0)
            assert_is_quotient(result.pdfa, target, by)
            assert len(set(model.asked)) == len(model.asked)
