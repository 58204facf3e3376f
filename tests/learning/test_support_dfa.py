"""The automaton of what a model may say, against every short word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, FunctionModel
from pdfalearn.equivalence import Quantization, Support
from pdfalearn.errors import InputError, ModelError
from pdfalearn.learning import support_dfa
from pdfalearn.models import Guided
from pdfalearn.oracles import AllWordsOracle
from pdfalearn.rows import Rows
from tests.strategies import all_words, pdfas
from tests.support import examples


def may_say(pdfa: PDFA, word: str, least: float) -> bool:
    """Whether every step is above the threshold, and so is the end; steps are looked at in turn."""
    for place in range(len(word) + 1):
        row = pdfa.next_distribution(word[:place])
        column = 0 if place == len(word) else 1 + pdfa.alphabet.index(word[place])
        if row is None or not row[column] > least * (1 + 1e-12):
            return False
    return True


@examples(40)
@given(pdfas(max_states=6, alphabet="ab"), st.sampled_from([0.0, 0.1, 0.2, 0.3]))
@pytest.mark.slow
def test_it_accepts_what_the_model_may_say(pdfa: PDFA, least: float) -> None:
    try:
        found = support_dfa(pdfa, threshold=least)
    except ModelError as error:
        assert "no symbol is above the threshold" in str(error)  # noqa: PT017
        assert (pdfa.probabilities <= least * (1 + 1e-12)).all(axis=1).any()
        return
    assert found.certificate.kind == "exact"
    for word in all_words("ab", 6):
        assert found.dfa.accepts(word) == may_say(pdfa, word, least)


def test_a_black_box_is_not_asked_for_what_it_may_not_say() -> None:
    asked: list[tuple[object, ...]] = []

    def answer(words: list[tuple[object, ...]]) -> list[list[float]]:
        asked.extend(words)
        return [[0.001, 0.009, 0.99] if len(word) % 2 else [0.5, 0.496, 0.004] for word in words]

    model = FunctionModel(answer, "ab")
    found = support_dfa(model, threshold=0.005, oracle=AllWordsOracle(6), audit=0)
    assert len(found.dfa) == 2
    assert found.certificate.kind == "tested"

    assert all("b" not in word[0::2] for word in asked)
    assert [found.dfa.accepts(word) for word in ("", "a", "ab", "aa", "b")] == [1, 0, 1, 1, 0]
    assert len(support_dfa(Guided(model, found.dfa), oracle=AllWordsOracle(6)).dfa) == 2


def test_a_budget_and_sparse_rows() -> None:
    def answer(words: list[tuple[object, ...]]) -> Rows:
        count, steps = len(words), [len(word) % 7 for word in words]
        columns = np.column_stack((np.zeros(count), np.add(steps, 1))).ravel()
        ceiling = np.full(count, 0.05)
        offsets, values = np.arange(0, 2 * count + 1, 2), np.tile([0.1, 0.7], count)
        rest = np.full(count, 0.2)
        return Rows.sparse(101, offsets, columns, values, rest=rest, ceiling=ceiling)

    model = FunctionModel(answer, [str(number) for number in range(100)])
    found = support_dfa(model, threshold=0.05)
    assert len(found.dfa) == 7
    assert (
        support_dfa(model, threshold=0.05, budget=Budget(max_words=3)).certificate.kind == "stopped"
    )
    with pytest.raises(ModelError, match="above the threshold; let the model list more symbols"):
        support_dfa(model, threshold=0.04)


@pytest.mark.parametrize("threshold", [-1, 2, float("nan"), "0.1"])
def test_bad_thresholds(threshold: float) -> None:
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    with pytest.raises(InputError, match="threshold"):
        support_dfa(pdfa, threshold=threshold)


def test_the_equivalence_is_not_chosen() -> None:
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    assert support_dfa(pdfa).result.equivalence == Support()
    assert support_dfa(pdfa, threshold=0.25).result.equivalence == Support(0.25)
    with pytest.raises(TypeError, match="equivalence"):
        support_dfa(pdfa, equivalence=Quantization(10))
