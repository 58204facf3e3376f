"""Alphabets of thousands of symbols."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import PDFA, Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import UNDEFINED, ObservationTree
from tests.learners.checks import assert_is_quotient
from tests.support import mostly_slow


def two_states(symbols: int) -> PDFA:
    """Only the last symbol leads from the first state to the second."""
    transitions = np.zeros((2, symbols), dtype=np.int64)
    transitions[0, -1] = 1
    rows = np.full((2, symbols + 1), 0.5 / symbols)
    rows[:, 0] = 0.5
    rows[1, :2] = rows[1, 1], 0.5
    return PDFA(alphabet=range(symbols), transitions=transitions, probabilities=rows)


@pytest.mark.parametrize("symbols", mostly_slow([31, 32, 33, 34]))
def test_around_the_size_where_children_are_kept_differently(symbols: int) -> None:
    for seed in range(10):
        target = random_pdfa(
            12, symbols, distributions=3, zero_probability=0.3, undefined=bool(seed % 2), seed=seed
        )
        equivalence = Quantization(50)
        assert_is_quotient(learn(target, equivalence=equivalence).pdfa, target, equivalence)


def test_thousands_of_symbols_are_learnt() -> None:
    target = two_states(3000)
    equivalence = Quantization(2)
    result = learn(target, equivalence=equivalence)
    assert_is_quotient(result.pdfa, target, equivalence)
    assert result.access_words == [(), (2999,)]


def test_nodes_of_a_huge_alphabet_take_room_for_what_they_hold() -> None:
    target = two_states(50_000)
    tree = ObservationTree(AutomatonModel(target), Quantization(2))
    codes = range(0, 50_000, 5000)
    suffixes = np.array([tree.suffixes.add_word([code, code]) for code in codes])
    classes = tree.classes(np.zeros(len(codes), np.int64), suffixes)
    assert len(set(classes.tolist())) == 1
    assert UNDEFINED not in classes
    assert tree.nodes.size == 1 + 2 * len(codes)
