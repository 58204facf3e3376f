"""Storm judges bounds: on the corners of boxes in exact arithmetic, and by its interval engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pdfalearn import PDFA, Quantization
from pdfalearn.analysis import length_bounds, probability_bounds
from pdfalearn.analysis.bounds import Boxes
from pdfalearn.io.other_programs import write_intervals
from pdfalearn.languages import DFA
from pdfalearn.languages.dfa import trim_dfa
from tests import storm
from tests.support import mostly_slow

LONG = 1e9
"""Lengths beyond come from boxes whose margin for rounding alone lets words end."""


def random_case(random: np.random.Generator, kappas: list[int]) -> tuple[PDFA, DFA, Quantization]:
    """An automaton with zeros and undefined transitions, some states unreachable; a language."""
    states, symbols = random.integers(1, 5), random.integers(1, 3)
    shape = random.choice([0.3, 1.0, 3.0])
    rows = random.dirichlet(np.full(symbols + 1, shape), size=states)
    if random.random() < 0.5:
        rows = np.round(rows * 10)
        rows[rows.sum(axis=1) == 0, 0] = 1
    transitions = random.integers(0, states, size=(states, symbols))
    if random.random() < 0.4:
        transitions[rows[:, 1:] == 0] = -1
    pdfa = PDFA(
        alphabet="ab"[:symbols],
        transitions=transitions,
        probabilities=rows / rows.sum(axis=1, keepdims=True),
    )
    size = int(random.integers(1, 4))
    dfa = DFA(
        alphabet="ab"[:symbols],
        transitions=random.integers(-1, size, size=(size, symbols)),
        accepting=random.random(size) < 0.7,
    )
    return pdfa, dfa, Quantization(int(random.choice(kappas)))


@pytest.mark.parametrize("seed", mostly_slow(range(10)))
def test_bounds_are_those_of_all_corners(seed: int, tmp_path: Path) -> None:
    random, compared = np.random.default_rng(seed), 0
    for _ in range(30):
        pdfa, dfa, equivalence = random_case(
            random, [1, 2, 4, 8, 16, 128, 1024]
        )  # of exact boundaries
        if trim_dfa(dfa) is None:
            continue
        ours = probability_bounds(pdfa, dfa, equivalence=equivalence)
        boxes, product = Boxes.of(pdfa, equivalence), storm.Product(pdfa, dfa)
        tables = product.table(boxes.lows), product.table(boxes.highs)
        low, high, *steps = storm.extremes(product.pdfa, *tables, product.labels, tmp_path)
        # Never inside of the truth, and hardly outside of it.
        assert low - 1e-9 <= ours.low <= low + 1e-15
        assert high - 1e-15 <= ours.high <= high + 1e-9
        lengths = length_bounds(pdfa, equivalence=equivalence)
        shortest, longest = (value - 2 for value in steps)  # less "yes" or "no", and the terminal
        assert lengths.low <= shortest * (1 + 1e-15)
        assert lengths.high >= longest * (1 - 1e-15)
        if shortest < LONG or shortest == np.inf:
            assert lengths.low == pytest.approx(shortest, rel=1e-9)
        if longest < LONG or longest == np.inf:
            assert lengths.high == pytest.approx(longest, rel=1e-9)
        compared += 1
    assert compared > 15


@pytest.mark.parametrize("seed", mostly_slow(range(4)))
def test_bounds_are_those_of_the_interval_engine(seed: int, tmp_path: Path) -> None:
    random, compared = np.random.default_rng(seed), 0
    while compared < 15:
        pdfa, dfa, equivalence = random_case(random, [10, 30, 100])
        boxes = Boxes.of(pdfa, equivalence)
        if (boxes.lows[boxes.highs > 0] == 0).any() or not dfa.accepting[dfa.initial]:
            continue  # Storm wants intervals that begin above 0
        product = storm.Product(pdfa, dfa)
        tables = product.table(boxes.lows), product.table(boxes.highs)
        with (tmp_path / "x.drn").open("wb") as stream:
            write_intervals(product.pdfa, *tables, stream)
        storm.add_labels(tmp_path / "x.drn", product.labels)
        theirs = storm.interval_values(tmp_path / "x.drn", 'P=? [F "yes"]')
        ours = probability_bounds(pdfa, dfa, equivalence=equivalence)
        assert (ours.low, ours.high) == pytest.approx(theirs, abs=1e-8)
        compared += 1
