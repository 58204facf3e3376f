"""What a picture shows by default, and what it says of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from pdfalearn.pdfa import PDFA
from pdfalearn.viewing.connected import connected_core
from pdfalearn.viewing.edges import Edges
from pdfalearn.viewing.numbers import probability_text
from pdfalearn.viewing.visits import cut_visits

MOST_STATES = 60
"""Automata of at most this many reachable states are drawn whole."""
MOST_CORE_STATES = 30
"""At most this many states of larger automata are drawn."""
ENOUGH_VISITS = 0.95
"""States are added to a core until they carry this share of the visits."""
FEW_EDGES = 40
EDGES_A_STATE = 2.5
"""A picture has at most `FEW_EDGES`, or this many a state if that is more, where possible."""

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The part of an automaton that is drawn."""

    edges: Edges
    """Between the states that are drawn."""
    kept: NDArray[np.bool_]
    """Which edges are drawn."""
    shares: Floats
    """Each state's share of the visits."""
    note: str
    """What is left out; empty if nothing is."""


def chosen(
    pdfa: PDFA,
    *,
    most_states: int | None = None,
    least: float | None = None,
    always: frozenset[int] = frozenset(),
    way: frozenset[tuple[int, int]] = frozenset(),
) -> Chosen:
    """Choose states and edges so that there is a picture that can be read.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    most_states, least : optional
        As for `draw`.
    always : frozenset of int
        States that are drawn in any case.
    way : frozenset of pairs of int
        Edges between these that are drawn in any case.
    """
    visits = cut_visits(pdfa)
    shares = visits.states / visits.states.sum()
    states = _states(pdfa, shares, most_states, always, everything=least == 0)
    edges = Edges.between(pdfa, states)
    if least == 0:
        kept = np.ones(len(edges), dtype=bool)
    else:
        least = least or edges.readable(max(FEW_EDGES, round(EDGES_A_STATE * len(states))))
        kept = edges.kept(least) | edges.are_on(way)
    exceptions = "the word's and the likeliest" if way else "the likeliest"
    remarks = [
        _states_note(states, shares, visits.symbols),
        _edges_note(edges, kept, least, exceptions),
    ]
    return Chosen(edges, kept, shares, "; ".join(filter(None, remarks)))


def _states(
    pdfa: PDFA, shares: Floats, most: int | None, always: frozenset[int], *, everything: bool
) -> Indices:
    """Choose states: all that matter, or where they are too many the likely core."""
    most_shown = MOST_STATES if most is None else most
    if len(pdfa) <= most_shown and everything:
        return np.arange(len(pdfa))
    states = connected_core(pdfa, shares, most=most_shown + 1, enough=inf, always=always)
    if len(states) <= most_shown:
        return states
    most_core, enough = (MOST_CORE_STATES, ENOUGH_VISITS) if most is None else (most, inf)
    return connected_core(pdfa, shares, most=most_core, enough=enough, always=always)


def _states_note(states: Indices, shares: Floats, symbols: int | None) -> str:
    if len(states) == len(shares):
        return ""
    count = f"{len(states):,} of {len(shares):,} states"
    others = np.ones(len(shares), dtype=bool)
    others[states] = False
    lost = float(shares[others].sum())
    share = probability_text(1 - lost, 2) if lost else "all"
    if share == "1":
        share = "nearly all"
    visits = "visits" if symbols is None else f"first {symbols:,} symbols"
    return f"{count}, {share} of the {visits}"


def _edges_note(edges: Edges, kept: NDArray[np.bool_], least: float, exceptions: str) -> str:
    if kept[edges.are_possible].all():
        return ""
    has_exceptions = bool(((edges.weights < least) & kept).any())
    but = f", but for {exceptions} to and from a state" if has_exceptions else ""
    return f"edges under {least:g} are left out{but}"
