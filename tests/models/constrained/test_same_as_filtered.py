"""A constrained model is learnt as the quotient of the automaton that is filtered directly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.languages import DFA
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.models.protocol import EVERY_SYMBOL, EVERY_WORD, QueryCost
from pdfalearn.oracles import ExactOracle
from tests.learners.checks import assert_is_quotient
from tests.models.constrained.direct import Best, Constraint, Guide, Heat, Nucleus, product, wrapped
from tests.models.constrained.inside import RecordingModel
from tests.models.constrained.strategies import constraints, filtered
from tests.strategies import KAPPAS, pdfas
from tests.support import examples


@settings(max_examples=200)
@given(pdfas(alphabet="abc"), constraints("abc"), st.sampled_from(KAPPAS))
@pytest.mark.slow
def test_learnt_as_the_quotient_of_what_is_filtered(
    target: PDFA, chosen: list[Constraint], kappa: int
) -> None:
    expected, equivalence = filtered(target, chosen), Quantization(kappa)
    oracle = ExactOracle(expected, equivalence=equivalence)
    for name in LEARNERS:
        model = wrapped(AutomatonModel(target), chosen)
        assert_is_quotient(
            learn(model, equivalence=equivalence, oracle=oracle, learner=name).pdfa,
            expected,
            equivalence,
        )


@examples(100)
@given(
    pdfas(alphabet="ab", allow_undefined=False),
    constraints("ab"),
    st.sampled_from(KAPPAS),
    st.sampled_from([EVERY_WORD, EVERY_SYMBOL]),
)
def test_the_model_inside_is_never_asked_outside(
    target: PDFA,
    chosen: list[Constraint],
    kappa: int,
    cost: QueryCost,
) -> None:
    expected, equivalence = filtered(target, chosen), Quantization(kappa)
    inside = RecordingModel(target, cost=cost)
    result = learn(
        wrapped(inside, chosen),
        equivalence=equivalence,
        oracle=ExactOracle(expected, equivalence=equivalence),
        audit=0,
    )
    assert_is_quotient(result.pdfa, expected, equivalence)
    inside.assert_stayed_in(expected)
    assert len(set(inside.asked)) == len(inside.asked) == result.statistics.distributions


def in_hundredths(pdfa: PDFA) -> PDFA:
    """Round probabilities to two decimals; the terminal has what is left."""
    rows = np.floor(100 * pdfa.probabilities)
    rows[:, 0] = 100 - rows[:, 1:].sum(axis=1)
    return PDFA(alphabet=pdfa.alphabet, transitions=pdfa.transitions, probabilities=rows / 100)


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [[Best(3)], [Nucleus("0.7")], [Heat(0.5), Best(3)], [Nucleus("0.9"), Heat(2.0), Best(4)]],
    ids=str,
)
def test_larger_targets(chosen: list[Constraint]) -> None:
    target = in_hundredths(random_pdfa(25, 6, distributions=3, zero_probability=0.2, seed=5))
    expected, equivalence = product(target, chosen), Quantization(100)
    inside = RecordingModel(target)
    result = learn(
        wrapped(inside, chosen),
        equivalence=equivalence,
        oracle=ExactOracle(expected, equivalence=equivalence),
    )
    assert_is_quotient(result.pdfa, expected, equivalence)
    inside.assert_stayed_in(expected)


def random_guide(alphabet: Alphabet, states: int, seed: int) -> Guide:
    """A DFA with a third of its transitions, in which every state accepts."""
    random = np.random.default_rng(seed)
    transitions = random.integers(0, states, (states, len(alphabet)))
    transitions[random.random(transitions.shape) < 2 / 3] = -1
    return Guide(DFA(alphabet=alphabet, transitions=transitions, accepting=[True] * states))


@pytest.mark.slow
@pytest.mark.parametrize("symbols", [32, 60])
def test_large_alphabets(symbols: int) -> None:
    target = in_hundredths(random_pdfa(5, symbols, distributions=3, seed=6))
    guide = random_guide(target.alphabet, 3, seed=7)
    stacks: list[list[Constraint]] = [
        [guide],
        [Best(5)],
        [guide, Best(4)],
        [Nucleus("0.5"), guide],
        [Heat(0.5), guide],
    ]
    for chosen in stacks:
        expected, equivalence = product(target, chosen), Quantization(100)
        inside = RecordingModel(target)
        result = learn(
            wrapped(inside, chosen),
            equivalence=equivalence,
            oracle=ExactOracle(expected, equivalence=equivalence),
        )
        assert_is_quotient(result.pdfa, expected, equivalence)
        inside.assert_stayed_in(expected)
