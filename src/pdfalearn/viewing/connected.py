"""Which states of a large automaton a picture shows: those that words visit most."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pdfalearn.pdfa import PDFA

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def connected_core(
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
        How many states at most, unless more are always chosen.
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
