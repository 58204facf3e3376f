"""Learning that begins with a reference finds what it would find without, with fewer words."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, FunctionModel, Quantization, Tolerance, learn, quotient
from pdfalearn.datasets import chain, combination_lock, figure_3, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.protocol import EVERY_STEP, EVERY_WORD, FREE, QueryCost
from pdfalearn.oracles import AllWordsOracle
from pdfalearn.reachability import reachable_part
from pdfalearn.results import Result
from tests.strategies import equivalences, pdfas

BY = Quantization(1000)


def change(pdfa: PDFA, share: float, seed: int) -> PDFA:
    """Lead a share of the transitions to states that are drawn."""
    random = np.random.default_rng(seed)
    table = pdfa.transitions.copy().reshape(-1)
    places = random.choice(table.size, round(share * table.size), replace=False)
    table[places] = random.integers(len(pdfa), size=len(places))
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=table.reshape(pdfa.transitions.shape),
        probabilities=pdfa.probabilities,
        initial=pdfa.initial,
    )


def told_of(result: Result) -> dict[str, Any]:
    """What a certificate says of the reference."""
    return cast("dict[str, Any]", result.certificate.details["reference"])


COSTS = [FREE, EVERY_STEP, EVERY_WORD, QueryCost(word=3.0, symbol=1.0)]


@settings(max_examples=60)
@given(pdfas(), pdfas(), equivalences(), st.sampled_from(COSTS), st.booleans())
def test_the_result_is_the_quotient_whatever_the_reference_says(
    target: PDFA, reference: PDFA, by: Quantization, cost: QueryCost, few: bool
) -> None:
    model = AutomatonModel(target, cost=cost)
    learner = "quant-classes" if few else "quant"
    found = learn(model, equivalence=by, reference=reference, learner=learner)
    expected = quotient(target, equivalence=by)
    assert found.certificate.kind == "exact"
    assert len(found.pdfa) == len(expected)
    again = reachable_part(found.pdfa)
    assert (again.transitions == expected.transitions).all()
    for state, word in enumerate(found.access_words):
        assert found.pdfa.state_after(word) == state
    assert str(found.tree)


@settings(max_examples=30)
@given(
    st.integers(2, 40), st.integers(1, 4), st.sampled_from([2, 3, None]), st.floats(0, 1),
    st.integers(0, 99),
)  # fmt: skip
def test_a_changed_reference(
    size: int, symbols: int, distributions: int | None, share: float, seed: int
) -> None:
    old = random_pdfa(
        size, symbols, distributions=distributions, zero_probability=0.2, undefined=True, seed=seed
    )
    new = change(old, share, seed)
    if ((new.probabilities[:, 1:] > 0) & (new.transitions < 0)).any():
        return
    found = learn(new, equivalence=BY, reference=old)
    assert reachable_part(found.pdfa) == reachable_part(quotient(new, equivalence=BY))


@pytest.mark.parametrize("share", [0, 0.02, 0.05])
def test_at_least_five_times_fewer_words_where_little_has_changed(share: float) -> None:
    old = random_pdfa(150, seed=3)
    new = change(old, share, 1)
    found = learn(new, reference=old)
    assert 5 * found.statistics.words < learn(new).statistics.words
    told = told_of(found)
    assert not told["dropped"]
    assert told["not_tested"] == 0
    assert (told["changes"]["transitions"] > 0) == (share > 0)
    assert found.notes[-1].startswith("since the reference: 0 changed rows")


def test_an_unrelated_reference_is_dropped() -> None:
    new = random_pdfa(150, distributions=4, seed=3)
    found = learn(new, reference=random_pdfa(150, distributions=4, seed=4))
    assert told_of(found)["dropped"]
    assert found.statistics.words < 1.1 * learn(new).statistics.words


def test_rows_that_have_all_changed_keep_the_transitions() -> None:
    old = random_pdfa(150, seed=3)
    rows = random_pdfa(len(old), exact_size=True, seed=5).probabilities
    new = PDFA(alphabet=old.alphabet, transitions=old.transitions, probabilities=rows)
    found = learn(new, reference=old)
    assert 5 * found.statistics.words < learn(new).statistics.words
    assert told_of(found)["changes"] == {
        "rows": len(old), "transitions": 0, "new": 0, "lost": 0,
    }  # fmt: skip


def test_some_rows_that_are_those_of_other_states_now() -> None:
    old = random_pdfa(150, distributions=20, seed=3)
    rows = old.probabilities.copy()
    rows[[20, 40, 60, 80]] = rows[[21, 41, 61, 81]]
    new = PDFA(alphabet=old.alphabet, transitions=old.transitions, probabilities=rows)
    found = learn(new, reference=old)
    assert 5 * found.statistics.words < learn(new).statistics.words
    assert told_of(found)["changes"]["rows"] > 0


def test_symbols_that_lead_somewhere_without_probability() -> None:
    old = random_pdfa(50, 4, zero_probability=0.2, seed=3)
    assert ((old.probabilities[:, 1:] == 0) & (old.transitions >= 0)).any()
    found = learn(old, reference=old)
    assert not told_of(found)["dropped"]
    assert 5 * found.statistics.words < learn(old).statistics.words


@pytest.mark.parametrize("target", [chain(12, reset=True), combination_lock(12, seed=1)])
def test_hard_targets(target: PDFA) -> None:
    for reference in (target, figure_3(), chain(5, reset=True)):
        if not set(reference.alphabet) & set(target.alphabet):
            continue
        found = learn(target, reference=reference)
        assert len(found.pdfa) == len(target)


@settings(max_examples=40)
@given(pdfas(alphabet="ab"), pdfas(alphabet="ab"), st.integers(1, 30), st.booleans())
def test_a_bound_may_end_learning_anywhere(
    target: PDFA, reference: PDFA, words: int, free: bool
) -> None:
    model = AutomatonModel(target, cost=EVERY_STEP if free else EVERY_WORD)
    found = learn(model, reference=reference, budget=Budget(max_words=words))
    assert found.statistics.words <= words
    assert found.certificate.kind in ("stopped", "exact")
    assert str(found.tree) is not None


def test_black_boxes_and_symbols_that_the_reference_does_not_have() -> None:
    target = random_pdfa(20, 3, seed=2)
    model = FunctionModel(target.next_distributions, target.alphabet)
    reference = random_pdfa(20, 2, seed=2)
    found = learn(model, reference=reference, oracle=AllWordsOracle(6))
    assert len(found.pdfa) == len(quotient(target, equivalence=BY))


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="none of the model's symbols"):
        learn(figure_3(), reference=chain(3))
    with pytest.raises(InputError, match="take a reference"):
        learn(figure_3(), reference=figure_3(), learner="quant-paper")
    with pytest.raises(InputError, match="take a reference"):
        learn(figure_3(), reference=figure_3(), learner="lpstar", equivalence=Tolerance(0.1))
    with pytest.raises(InputError, match="reference"):
        learn(figure_3(), reference="old.json")  # type: ignore[arg-type]
