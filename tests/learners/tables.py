"""What the tests of learners with a table share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.random import Generator

from pdfalearn import PDFA, Exact, Tolerance, distinguish, quotient
from tests.support import need_module

TABLE_LEARNERS = pytest.mark.parametrize("name", ["lpstar", "wlstar"])


def need_learner(name: str) -> None:
    """Skip where a learner's package is missing."""
    if name == "wlstar":
        need_module("sklearn")


def is_within(learnt: PDFA, target: PDFA, equivalence: Tolerance) -> bool:
    """Return whether the distributions are similar on all pairs of states that a word reaches."""
    return distinguish(learnt, target, equivalence=equivalence) is None


def are_separated(target: PDFA, equivalence: Tolerance) -> bool:
    """Return whether a word tells any two classes of states apart by more than twice the tolerance.

    Then no state of an automaton within the tolerance can stand for two of them.
    """
    smallest = quotient(target, equivalence=Exact())
    twice = Tolerance(min(1.0, 2 * equivalence.tolerance))
    return all(
        distinguish(smallest, smallest, equivalence=twice, states=(left, right)) is not None
        for right in range(len(smallest))
        for left in range(right)
    )


def assert_is_exact_quotient(learnt: PDFA, target: PDFA) -> None:
    """Check that learnt and quotient have the same transitions and distributions."""
    expected = quotient(target, equivalence=Exact())
    found = quotient(learnt, equivalence=Exact())
    assert len(learnt) == len(found) == len(expected)
    assert found.transitions.tolist() == expected.transitions.tolist()
    assert np.array_equal(found.probabilities, expected.probabilities)


def near_target(random: Generator, *, undefined: bool = False) -> PDFA:
    """Draw a small target whose distributions are near to one another."""
    states, symbols = int(random.integers(2, 12)), int(random.integers(1, 4))
    parts = int(random.choice([10, 20]))
    palette = random.multinomial(
        parts, [1 / (symbols + 1)] * (symbols + 1), size=int(random.integers(2, 5))
    )
    rows = palette[random.integers(len(palette), size=states)] / parts
    transitions = random.integers(states, size=(states, symbols))
    if undefined:
        transitions[rows[:, 1:] == 0] = -1
    return PDFA(alphabet="abc"[:symbols], transitions=transitions, probabilities=rows)


def tolerances() -> st.SearchStrategy[Tolerance]:
    return st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0]).map(Tolerance)
