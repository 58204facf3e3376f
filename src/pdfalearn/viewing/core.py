"""The states and transitions of an automaton that its page has: the likely core, if it is large."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.pdfa import PDFA

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_STATES = 10_000
MOST_TRANSITIONS = 65_000
"""More would make a page of over two megabytes."""
MOST_ROW = 256
"""Of each state the page has this many transitions, the likeliest ones."""
_MOST_CELLS = 2**26
"""At most this many transitions are looked at."""


class Core(NamedTuple):
    """States, the initial one first and then by visits, and their transitions."""

    states: Indices
    sources: Indices
    """Places in ``states``, in order."""
    symbols: Indices
    left_out: Indices
    """The number of each state's defined transitions that are not here."""


def core_of(pdfa: PDFA, visits: Floats, most_transitions: int = MOST_TRANSITIONS) -> Core:
    """Choose the likeliest states, as many as a page has room for.

    Examples
    --------
    >>> from pdfalearn import figure_1
    >>> core_of(figure_1(), np.array([1.0, 2.0])).states.tolist()
    [0, 1]
    """
    order = _by_visits(visits, pdfa.initial)
    order = order[: max(1, min(MOST_STATES, _MOST_CELLS // len(pdfa.alphabet)))]
    counts = (pdfa.transitions[order] >= 0).sum(axis=1)
    room = np.cumsum(np.minimum(counts, MOST_ROW)) <= most_transitions
    states = order[: max(1, int(room.sum()))]
    sources, symbols = _transitions(pdfa, states)
    left_out = counts[: len(states)] - np.bincount(sources, minlength=len(states))
    return Core(states, sources, symbols, left_out)


def _by_visits(visits: Floats, initial: int) -> Indices:
    """Return all states, the initial one first; of as many visits the lower number comes first."""
    ranks = visits.copy()
    ranks[initial] = np.inf
    return np.argsort(-ranks, kind="stable")


def _transitions(pdfa: PDFA, states: Indices) -> tuple[Indices, Indices]:
    """Return places and symbols of the defined transitions, of each state the likeliest ones."""
    kept = pdfa.transitions[states] >= 0
    if kept.shape[1] > MOST_ROW:
        values = np.where(kept, pdfa.probabilities[states, 1:], -1.0)
        likely = np.argpartition(-values, MOST_ROW, axis=1)[:, :MOST_ROW]
        chosen = np.zeros_like(kept)
        np.put_along_axis(chosen, likely, True, axis=1)
        kept &= chosen
    sources, symbols = kept.nonzero()
    return sources.astype(np.int64), symbols.astype(np.int64)
