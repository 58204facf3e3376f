"""Learning that begins with a reference finds what it would find without, with fewer words."""

from __future__ import annotations

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


COSTS = [FREE, EVERY_STEP, EVERY_WORD, QueryCost(word=3.0, symbol=1.0)]


@settings(max_examples=100)
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
    assert found.tree.size() if hasattr(found.tree, "size") else True


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
