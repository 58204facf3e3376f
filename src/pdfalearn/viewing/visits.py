"""How often words visit the states of an automaton, of any size and even if words never end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats

_MOST_SYMBOLS = 1_000
"""Words are followed for at most this many symbols."""
_LEAST_SYMBOLS = 20
_MOST_WORK = 2**29
"""Transitions passed through before the rest of all words is left out."""
_NOTHING = 1e-9
"""Words are followed until a smaller share than this still goes on."""
_FEW_TRANSITIONS = 2**13
"""Up to this many NumPy is fast enough; SciPy takes a third of its time for many."""


class CutVisits(NamedTuple):
    """Expected visits of a word, of which only the beginning is followed if it is long."""

    states: Floats
    """Of every state."""
    symbols: int | None
    """How many symbols of each word were followed; None if words end before."""


def cut_visits(pdfa: PDFA) -> CutVisits:
    """Compute the expected visits of states by the first symbols of a word.

    Exact visits (`expected_visits`) are infinite where words never end, and take long in large
    automata. For a picture the first thousand symbols tell as much.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> cut_visits(figure_1()).states.round(6).tolist(), cut_visits(figure_1()).symbols
    ([1.0, 2.0], None)
    """
    step = _step(pdfa)
    here = np.zeros(len(pdfa))
    here[pdfa.initial] = 1.0
    visits = here.copy()
    symbols = min(_MOST_SYMBOLS, max(_LEAST_SYMBOLS, _MOST_WORK // pdfa.transitions.size))
    for _ in range(symbols):
        here = step(here)
        visits += here
        if here.sum() <= _NOTHING:
            return CutVisits(visits, None)
    return CutVisits(visits, symbols)


def _step(pdfa: PDFA) -> Callable[[Floats], Floats]:
    """Return what passes probability on by one symbol.

    Undefined transitions have probability 0 and may lead anywhere. Both ways add up the same
    numbers in the same order.
    """
    probabilities, successors = pdfa.probabilities[:, 1:], np.maximum(pdfa.transitions, 0).ravel()
    states, symbols = pdfa.transitions.shape
    if states * symbols <= _FEW_TRANSITIONS:

        def step(here: Floats) -> Floats:
            passed = (probabilities * here[:, np.newaxis]).ravel()
            return np.asarray(np.bincount(successors, passed, states), dtype=np.float64)

        return step
    from scipy.sparse import csr_array  # takes 0.2 s to import

    # The rows of an automaton are those of a sparse matrix as they stand.
    ends = np.arange(0, states * symbols + 1, symbols)
    moves = csr_array((probabilities.ravel(), successors, ends), shape=(states, states)).T
    return lambda here: np.asarray(moves @ here)
