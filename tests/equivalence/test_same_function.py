"""f_A = f_B, against brute force over words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from pdfalearn import PDFA, Exact, distinguish, quotient
from pdfalearn.analysis import reachable_part
from pdfalearn.datasets import figure_2, random_pdfa
from pdfalearn.equivalence import same_function
from tests.strategies import all_words, pdfas
from tests.support import examples


def brute_force(a: PDFA, b: PDFA) -> bool:
    """Compare on all words up to |A| + |B| - 1 symbols, which is enough (Paz 1971)."""
    words = all_words("ab", len(a) + len(b) - 1)
    left, right = a.word_probabilities(words), b.word_probabilities(words)
    return bool(np.allclose(left, right, rtol=1e-9, atol=0))


@examples(500)
@given(pdfas(max_states=3, alphabet="ab"), pdfas(max_states=3, alphabet="ab"))
def test_agrees_with_brute_force(a: PDFA, b: PDFA) -> None:
    assert same_function(a, b) == brute_force(a, b)


@examples(200)
@given(pdfas(max_states=6, alphabet="ab"))
def test_the_quotient_computes_the_same_function(pdfa: PDFA) -> None:
    assert same_function(pdfa, quotient(pdfa, equivalence=Exact()))


@pytest.mark.parametrize("power", [0.5, 2.0, 0.9])
def test_moved_weights_keep_the_function(power: float) -> None:
    """Move weight from each state's outgoing edges to its incoming ones: same function."""
    base = random_pdfa(8, seed=5)
    dead = len(base)
    scale = np.append(1.0, np.linspace(0.4, 0.9, len(base) - 1)) ** power
    rows, transitions = [], []
    for state in range(len(base)):
        row = base.probabilities[state].copy() * 0.2 / scale[state]
        row[1:] *= scale[base.transitions[state]]
        rows.append([*row, 1 - row.sum()])
        transitions.append([*base.transitions[state], dead])
    rows.append([0.0, 0.0, 0.0, 1.0])
    transitions.append([dead] * 3)
    moved = PDFA(alphabet="01x", transitions=transitions, probabilities=rows)
    plain_rows = np.column_stack((base.probabilities * 0.2, np.full(len(base), 0.8)))
    plain = PDFA(
        alphabet="01x",
        transitions=transitions,
        probabilities=np.vstack((plain_rows, rows[-1])),
    )
    assert same_function(plain, moved)
    assert distinguish(reachable_part(plain), moved, equivalence=Exact()) is not None
    changed = np.array(rows)
    changed[1, 0] += 1e-6
    changed[1, 3] -= 1e-6
    assert not same_function(
        plain, PDFA(alphabet="01x", transitions=transitions, probabilities=changed)
    )


def test_hundreds_of_states() -> None:
    target = random_pdfa(500, distributions=3, seed=1)
    assert same_function(target, quotient(target, equivalence=Exact()))
    assert not same_function(target, random_pdfa(500, distributions=3, seed=2))


def test_figure_2_and_its_symbols_in_another_order() -> None:
    a, b = figure_2()
    swapped = PDFA(
        alphabet="ba",
        transitions=b.transitions[:, ::-1],
        probabilities=b.probabilities[:, [0, 2, 1]],
    )
    assert same_function(a, swapped)
