"""Few words are handled one by one and many by array passes: where that changes does not matter."""

from __future__ import annotations

import pytest

from pdfalearn import PDFA, Result, learn, words
from pdfalearn.arrays import numbering, passes
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.learners import _counterexamples, classification_tree, quant
from pdfalearn.models import AutomatonModel, batch
from pdfalearn.observations import asking, nodes, tree
from pdfalearn.oracles import ExactOracle
from tests.learners.checks import assert_is_quotient
from tests.learners.families import FAMILIES, drawn
from tests.learners.wandering import WanderingOracle
from tests.models.watched import COSTS, WatchedModel
from tests.support import mostly_slow

BORDERS = [
    (_counterexamples, "FEW"),
    (classification_tree, "FEW"),
    (quant, "FEW"),
    (words, "_FEW"),
    (passes, "_FEW"),
    (tree, "FEW"),
    (batch, "FEW"),
    (asking, "FEW"),
    (numbering, "_FEW"),
    (numbering, "_MANY"),
    (numbering, "_SMALL"),
    (nodes, "_LONG"),
]
FEW = pytest.mark.parametrize("few", [1, 5, 10**9], ids=["all at once", "mixed", "one by one"])
EVERY_FAMILY = pytest.mark.parametrize("family", mostly_slow(FAMILIES))


def learnt(target: PDFA, equivalence: Equivalence, seed: int) -> Result:
    return learn(
        target,
        equivalence=equivalence,
        oracle=WanderingOracle(target, equivalence, seed) if seed % 3 else None,
    )


@FEW
@EVERY_FAMILY
def test_the_same_automaton_is_found(
    family: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(16):
        target, equivalence = drawn(family, 18, seed)
        with monkeypatch.context() as patch:
            for module, name in BORDERS:
                patch.setattr(module, name, few)
            result = learnt(target, equivalence, seed)
        # Which of the words that reach a new leaf together names its state may differ.
        assert_is_quotient(result.pdfa, target, equivalence)


@pytest.mark.parametrize("front", [1, 7, 2**18])
@EVERY_FAMILY
def test_wide_alphabets_and_small_fronts(
    family: str, front: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quant, "_WIDE", 0)
    monkeypatch.setattr(quant, "_LARGEST_FRONT", front)
    for seed in range(16):
        target, equivalence = drawn(family, 18, seed)
        result = learnt(target, equivalence, seed)
        assert_is_quotient(result.pdfa, target, equivalence)
        assert len(set(result.access_words)) == len(result.pdfa)


@FEW
@EVERY_FAMILY
def test_prefixes_may_cost_and_handles_be_few(
    family: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in BORDERS:
        monkeypatch.setattr(module, name, few)
    for seed in range(8):
        target, equivalence = drawn(family, 12, seed)
        for capacity in (None, 4, 15):
            model = WatchedModel(
                AutomatonModel(target), capacity=capacity, cost=COSTS[bool(seed % 2)]
            )
            result = learn(
                model,
                equivalence=equivalence,
                oracle=ExactOracle(target, equivalence=equivalence),
                audit=0,
            )
            assert_is_quotient(result.pdfa, target, equivalence)
            assert len(set(model.asked)) == len(model.asked)
