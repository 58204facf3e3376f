"""A PDFA in wrappers is an automaton again: the product, and what it is not made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.stacks import check_stack
from pdfalearn import (
    PDFA,
    FunctionModel,
    Guided,
    LanguageModel,
    Quantization,
    Temperature,
    TopK,
    TopP,
    learn,
    sweep,
)
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.languages import DFA
from pdfalearn.models import AutomatonModel
from pdfalearn.models.constrained.guided import wrapped_pdfa
from pdfalearn.models.opened import ask_words
from pdfalearn.models.protocol import EVERY_WORD
from pdfalearn.oracles import PACOracle
from pdfalearn.reachability import reachable, shortest_words
from pdfalearn.samplers import UniformWords
from tests.learners.checks import assert_is_quotient
from tests.models.constrained.direct import Constraint, wrapped
from tests.models.constrained.inside import RecordingModel, SparseModel
from tests.models.constrained.strategies import constraints, filtered
from tests.strategies import pdfas

ALL = DFA(alphabet="ab", transitions=[[0, 0]], accepting=[True])
TWO = PDFA(
    alphabet="ab",
    transitions=[[1, 0], [1, 1]],
    probabilities=[[0.5, 0.4, 0.1], [0.0, 0.0, 1.0]],
)


@pytest.mark.slow
@settings(max_examples=100)
@given(pdfas(alphabet="abc"), constraints("abc"))
def test_the_product_is_what_is_filtered_directly_and_what_is_answered(
    target: PDFA, chosen: list[Constraint]
) -> None:
    expected = filtered(target, chosen)
    model = wrapped(AutomatonModel(target), chosen)
    found = wrapped_pdfa(model)
    assert found is not None
    assert np.array_equal(found.transitions, expected.transitions)
    assert np.allclose(found.probabilities, expected.probabilities, atol=1e-12)
    words = shortest_words(found, reachable(found))
    for asked in (model, wrapped(RecordingModel(target), chosen)):
        rows = ask_words(asked, words)
        assert np.array_equal(rows.to_dense(), found.probabilities)


@pytest.mark.parametrize("seed", range(0, 1000, 10))
def test_random_stacks_are_learnt_exactly(seed: int) -> None:
    assert check_stack(seed) in ("exact", "nothing left")


def test_a_large_alphabet() -> None:
    target = random_pdfa(6, 80, seed=1)
    model = Temperature(TopK(target, 5), 0.5)
    found = wrapped_pdfa(model)
    assert found is not None
    assert np.count_nonzero(found.transitions[0] >= 0) in (4, 5)
    words = shortest_words(found, reachable(found))
    assert np.array_equal(ask_words(model, words).to_dense(), found.probabilities)
    result = learn(model)
    assert result.certificate is not None
    assert result.certificate.kind == "exact"


@pytest.mark.parametrize(
    "model",
    [
        FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab"),
        TopK(RecordingModel(TWO), 2),
        Temperature(SparseModel(TWO), 2),
        type("Own", (TopK,), {})(TWO, 2),
        Guided(type("Own", (Temperature,), {})(TWO, 2.0), ALL),
    ],
    ids=["function", "black box", "other rows", "own wrapper", "own wrapper inside"],
)
def test_other_models_are_no_automata(model: LanguageModel) -> None:
    assert wrapped_pdfa(model) is None


def test_what_is_too_large_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TopP(figure_3(), 1)
    cells = len(figure_3()) * 3
    assert wrapped_pdfa(model, most_cells=cells) is not None
    assert wrapped_pdfa(model, most_cells=cells - 1) is None
    large = DFA(
        alphabet="ab",
        transitions=[[min(i + 1, 2**13 - 1)] * 2 for i in range(2**13)],
        accepting=[True] * 2**13,
    )
    stack: LanguageModel = AutomatonModel(figure_3())
    for _ in range(5):  # so many tuples of states that integers do not number them
        stack = Guided(
            stack,
            DFA(alphabet=stack.alphabet, transitions=large.transitions, accepting=large.accepting),
        )
    assert wrapped_pdfa(stack) is None
    monkeypatch.setattr("pdfalearn.learning.loop.wrapped_pdfa", lambda model: None)
    result = learn(model)
    assert result.certificate is not None
    assert result.certificate.kind == "pac"


def test_bare_automata_and_those_that_cost_something_are_compared_exactly() -> None:
    for model in (
        AutomatonModel(figure_3()),
        AutomatonModel(figure_3(), cost=EVERY_WORD),
        TopP(AutomatonModel(figure_3(), cost=EVERY_WORD), 1),
    ):
        result = learn(model)
        assert result.certificate is not None
        assert result.certificate.kind == "exact"
        assert result.statistics.words > 0
        assert (result.statistics.cost > 0) == (not model.cost.is_free)
        assert_is_quotient(result.pdfa, figure_3(), Quantization(1000))


def test_a_given_oracle_is_used() -> None:
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(5))
    result = learn(TopK(figure_3(), 2), oracle=oracle)
    assert result.certificate is not None
    assert result.certificate.kind == "pac"


def test_a_sweep_is_exact_as_well() -> None:
    found = sweep(TopP(figure_3(), 1), kappas=[1, 10])
    kinds = [row.result.certificate.kind for row in found]
    assert kinds == ["exact", "exact"]


def test_a_state_of_which_nothing_is_left_is_named_by_a_word_to_it() -> None:
    guide = DFA(alphabet="ab", transitions=[[0, 1], [1, -1]], accepting=[True, True])
    for model in (Guided(TWO, guide), Temperature(Guided(TopP(TWO, 1), guide), 2)):
        with pytest.raises(
            ModelError, match=r"\('a', 'b'\): nothing is left of it: all that the g"
        ):
            wrapped_pdfa(model)
        with pytest.raises(
            ModelError, match=r"\('a', 'b'\): nothing is left of it: all that the g"
        ):
            learn(model)
    # It does not matter where no word leads.
    outer = DFA(alphabet="ab", transitions=[[-1, 0]], accepting=[True])
    found = wrapped_pdfa(Guided(Guided(TWO, guide), outer))
    assert found is not None
    assert found.transitions.tolist() == [[-1, 1], [-1, -1]]
    assert np.allclose(found.probabilities, np.array([[5 / 6, 0, 1 / 6], [1, 0, 0]]))
