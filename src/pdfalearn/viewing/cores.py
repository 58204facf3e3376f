"""Which states of a large automaton a picture shows: those that words visit most."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pdfalearn.pdfa import PDFA

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_SYMBOLS = 1000
"""Visits are counted in the first symbols of words, at most so many."""
_MOST_WORK = 2**29
"""Transitions that probability is passed through."""
_NOTHING = 2.0**-50
"""So little probability is none."""
_LITTLE = 1e-4
"""So little probability of longer words does not change a picture."""


@dataclass(frozen=True, eq=False)
class Visited:
    """How the visits of an automaton's words are shared out among its states."""

    shares: Floats
    """The share of every state; the sum is 1."""
    symbols: int | None
    """In how many first symbols visits were counted; None if nearly all words end by then."""

    def described(self) -> str:
        """Word what the shares are shares of."""
        return "the visits" if self.symbols is None else f"the first {self.symbols:,} symbols"


def visited(pdfa: PDFA) -> Visited:
    """Compute how often words visit each state, in all of their symbols or in the first ones.

    So there is an answer for words that never end, too.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.

    Examples
    --------
    >>> from pdfalearn import figure_1
    >>> visited(figure_1()).shares.round(6).tolist()
    [0.333333, 0.666667]
    """
    moves = _moves(pdfa)
    left = np.zeros(len(pdfa))
    left[pdfa.initial] = 1.0
    visits = left.copy()
    symbols = max(10, min(_SYMBOLS, _MOST_WORK // max(moves.nnz, 1)))
    for _ in range(symbols):
        left = np.asarray(moves @ left)
        visits += left
        if left.sum() <= _NOTHING:
            break
    return Visited(visits / visits.sum(), None if left.sum() <= _LITTLE else symbols)


def _moves(pdfa: PDFA) -> csr_array[np.float64]:
    """Return the matrix that passes probability on by one symbol."""
    probabilities = pdfa.probabilities[:, 1:]
    sources, symbols = np.nonzero(probabilities)
    places = (pdfa.transitions[sources, symbols], sources)
    shape = (len(pdfa), len(pdfa))
    return csr_array((probabilities[sources, symbols], places), shape=shape)


def core(
    pdfa: PDFA, shares: Floats, *, most: int, enough: float, always: Iterable[int] = ()
) -> Indices:
    """Choose states that carry most of the visits, each reached from those chosen before it.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    shares : array of float
        Each state's share of the visits.
    most : int
        How many states at most, beside those that are always chosen.
    enough : float
        The share of the visits that is enough.
    always : iterable of int
        States that are chosen in any case.

    Returns
    -------
    array of int
        The states, by their numbers.
    """
    chosen = {pdfa.initial, *always}
    waiting: list[tuple[float, int]] = []
    for state in chosen:
        _wait(pdfa, shares, state, waiting)
    carried = float(shares[sorted(chosen)].sum())
    while waiting and len(chosen) < most and carried < enough:
        loss, state = heapq.heappop(waiting)
        if state not in chosen:
            chosen.add(state)
            carried -= loss
            _wait(pdfa, shares, state, waiting)
    return np.array(sorted(chosen), dtype=np.int64)


def _wait(pdfa: PDFA, shares: Floats, state: int, waiting: list[tuple[float, int]]) -> None:
    """Let the possible successors of a state wait for their turn, those visited most first."""
    possible = pdfa.probabilities[state, 1:] > 0
    for successor in np.unique(pdfa.transitions[state, possible]).tolist():
        heapq.heappush(waiting, (-float(shares[successor]), successor))
