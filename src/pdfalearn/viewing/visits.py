"""How often words visit the states of an automaton, of any size and even if words never end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from pdfalearn.pdfa import PDFA

Floats = NDArray[np.float64]

_MOST_SYMBOLS = 1_000
"""Words are followed for at most this many symbols."""
_LEAST_SYMBOLS = 20
_MOST_WORK = 2**29
"""Transitions passed through before the rest of all words is left out."""
_NOTHING = 1e-9
"""Words are followed until a smaller share than this still goes on."""


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
    >>> from pdfalearn import figure_1
    >>> cut_visits(figure_1()).states.round(6).tolist(), cut_visits(figure_1()).symbols
    ([1.0, 2.0], None)
    """
    moves = _moves(pdfa)
    here = np.zeros(len(pdfa))
    here[pdfa.initial] = 1.0
    visits = here.copy()
    symbols = min(_MOST_SYMBOLS, max(_LEAST_SYMBOLS, _MOST_WORK // moves.nnz))
    for _ in range(symbols):
        here = np.asarray(moves @ here)
        visits += here
        if here.sum() <= _NOTHING:
            return CutVisits(visits, None)
    return CutVisits(visits, symbols)


def _moves(pdfa: PDFA) -> csc_array[np.float64]:
    """Return the matrix that passes probability on by one symbol.

    The rows of an automaton are those of a sparse matrix as they stand: undefined transitions have
    probability 0 and may lead anywhere.
    """
    states, symbols = pdfa.transitions.shape
    arrays = (
        pdfa.probabilities[:, 1:].ravel(),
        np.maximum(pdfa.transitions, 0).ravel(),
        np.arange(0, states * symbols + 1, symbols),
    )
    return csr_array(arrays, shape=(states, states)).T
