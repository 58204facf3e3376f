"""Which states words visit, which states and edges a picture shows, what it says of the rest."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import floor, inf, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats, Integers

# Words are followed for at most this many symbols, or fewer in large automata.
_MOST_SYMBOLS, _LEAST_SYMBOLS = 1_000, 20
# Transitions passed through before the rest of all words is left out.
_MOST_WORK = 2**29
# Words are followed until a smaller share than this still goes on.
_NOTHING = 1e-9
# Up to this many NumPy is fast enough; SciPy takes a third of its time for many.
_FEW_TRANSITIONS = 2**13


class CutVisits(NamedTuple):
    """Expected visits of a word, of which only the beginning is followed if it is long."""

    states: Floats  # of every state
    symbols: int | None  # how many symbols of each word were followed; None if words end before


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


_MOST_DECIMALS = 6
# What is below is as good as 0: it is not drawn unless everything is.
NEGLIGIBLE = 1e-6


def probability_text(probability: float, digits: int) -> str:
    """Write a probability, with as many digits of what it lacks to 1 where that is little.

    Examples
    --------
    >>> [probability_text(value, 2) for value in (0, 1 / 3, 2 / 3, 0.9973, 1, 1e-7)]
    ['0', '0.33', '0.67', '0.9973', '1', '<1e-6']
    """
    if 0 < probability < NEGLIGIBLE:
        return "<1e-6"
    lack = 1 - probability
    if not 0 < lack < 0.5:
        return f"{probability:.{digits}g}"
    decimals = min(_MOST_DECIMALS, digits - floor(log10(lack)) - 1)
    return f"{probability:.{decimals}f}".rstrip("0").rstrip(".")


def connected_core(
    pdfa: PDFA, shares: Floats, *, most: int, enough: float, always: Iterable[int] = ()
) -> Integers:
    """Choose states that carry most of the visits, each reached from those chosen before it.

    At most ``most`` states are chosen, unless there are more that ``always`` are, and none beyond
    those that carry ``enough`` of all visits.
    """
    chosen: set[int] = set()
    carried = 0.0
    for state, is_wanted in _connected(pdfa, shares, always):
        if not is_wanted and (len(chosen) >= most or carried >= enough):
            break
        chosen.add(state)
        carried += float(shares[state])
    return np.array(sorted(chosen), dtype=np.int64)


def connected_order(pdfa: PDFA, shares: Floats, most: int) -> Integers:
    """Return the first states that join a core, in the order in which they do."""
    states = [state for state, _ in islice(_connected(pdfa, shares, ()), most)]
    return np.array(states, dtype=np.int64)


def _connected(pdfa: PDFA, shares: Floats, always: Iterable[int]) -> Iterator[tuple[int, bool]]:
    """Yield states, each after one that leads to it, and whether they are always chosen."""
    chosen: set[int] = set()
    # The state that words visit most comes first; those that are always chosen before all others.
    waiting = [(-inf, state) for state in sorted({pdfa.initial, *always})]
    while waiting:
        share, state = heapq.heappop(waiting)
        if state in chosen:
            continue
        chosen.add(state)
        yield state, share == -inf
        possible = pdfa.probabilities[state, 1:] >= NEGLIGIBLE
        for successor in np.unique(pdfa.transitions[state, possible]).tolist():
            heapq.heappush(waiting, (-float(shares[successor]), successor))


# The least probabilities that a picture is tried with, one after the other.
_LADDER = (NEGLIGIBLE, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
# Each step of a way costs this much, so that of two ways as likely the shorter one is taken.
_STEP = 1e-9


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges between some states of an automaton."""

    pdfa: PDFA
    states: Integers  # the states between which they are
    sources: Integers  # the two ends of every edge, as numbers of states
    targets: Integers
    weights: Floats  # the probability of every edge: of all its symbols together

    @classmethod
    def between(cls, pdfa: PDFA, states: Integers) -> Edges:
        """Find the edges between some states, also those of probability 0."""
        numbers = np.full(len(pdfa) + 1, -1)  # undefined, -1, finds the last one
        numbers[states] = np.arange(len(states))
        targets = numbers[pdfa.transitions[states]]
        weights = pdfa.probabilities[states, 1:]
        rows, columns = np.nonzero(targets >= 0)
        keys, places = np.unique(rows * len(states) + targets[rows, columns], return_inverse=True)
        sums = np.zeros(len(keys))
        np.add.at(sums, places, weights[rows, columns])
        return cls(pdfa, states, states[keys // len(states)], states[keys % len(states)], sums)

    def __len__(self) -> int:
        return len(self.sources)

    def symbols(self, edge: int) -> list[int]:
        """Return the columns of an edge's symbols, the likeliest first."""
        source = self.sources[edge]
        columns = np.flatnonzero(self.pdfa.transitions[source] == self.targets[edge])
        probabilities = self.pdfa.probabilities[source, columns + 1]
        kept = (probabilities > 0) | (self.weights[edge] == 0)
        order = np.argsort(-probabilities[kept], kind="stable")
        return [int(column) for column in columns[kept][order]]

    def keep(self, least: float) -> NDArray[np.bool_]:
        """Mark possible edges of at least a probability, and those that no picture does without.

        These are the likeliest one from each state, the likeliest from each to another one, so that
        none looks as if words stay there, and those on the likeliest way to a state.
        """
        if least <= 0:
            return self.are_possible
        likely = (self.weights >= least) & self.are_possible
        if likely.sum() == self.are_possible.sum():
            return likely
        return np.asarray(likely | self.on_likeliest_ways | self.are_likeliest)

    def readable(self, most: int) -> float:
        """Return the least probability that leaves at most ``most`` edges, if there is one."""
        fitting = (least for least in _LADDER if np.count_nonzero(self.keep(least)) <= most)
        return next(fitting, _LADDER[-1])

    @property
    def are_possible(self) -> NDArray[np.bool_]:
        """Marks the edges of a positive probability."""
        return np.asarray(self.weights > 0)

    def are_on(self, way: frozenset[tuple[int, int]]) -> NDArray[np.bool_]:
        """Mark the edges that lead from one state to another of a way."""
        pairs = zip(self.sources.tolist(), self.targets.tolist(), strict=True)
        return np.array([pair in way for pair in pairs], dtype=bool)

    @cached_property
    def are_likeliest(self) -> NDArray[np.bool_]:
        """Marks the likeliest edge from each state, and the likeliest to another one."""
        order = np.lexsort((-self.weights, self.sources))
        marks = np.zeros(len(self), dtype=bool)
        for one in (order, order[(self.sources != self.targets)[order]]):
            _, firsts = np.unique(self.sources[one], return_index=True)
            marks[one[firsts]] = True
        return np.asarray(marks & self.are_possible & (self.weights >= NEGLIGIBLE))

    @cached_property
    def on_likeliest_ways(self) -> NDArray[np.bool_]:
        """Marks the edges of a tree of likeliest ways from the initial state."""
        from scipy.sparse import csr_array  # takes 0.2 s to import
        from scipy.sparse.csgraph import dijkstra

        numbers = np.zeros(len(self.pdfa), dtype=np.int64)
        numbers[self.states] = np.arange(len(self.states))
        possible = self.are_possible
        lengths = _STEP - np.log(np.minimum(self.weights[possible], 1.0))
        places = (numbers[self.sources[possible]], numbers[self.targets[possible]])
        graph = csr_array((lengths, places), shape=(len(self.states), len(self.states)))
        _, before = dijkstra(graph, indices=numbers[self.pdfa.initial], return_predecessors=True)
        return np.asarray(before[numbers[self.targets]] == numbers[self.sources])


# Automata of at most this many reachable states are drawn whole.
MOST_STATES = 60
# At most this many states of larger automata are drawn.
MOST_CORE_STATES = 30
# States are added to a core until they carry this share of the visits.
ENOUGH_VISITS = 0.95
# A picture has at most this many edges, or this many a state if that is more, where possible.
FEW_EDGES, EDGES_A_STATE = 40, 2.5


@dataclass(frozen=True, eq=False)
class Chosen:
    """The part of an automaton that is drawn."""

    edges: Edges  # between the states that are drawn
    kept: NDArray[np.bool_]  # which edges are drawn
    shares: Floats  # each state's share of the visits
    note: str  # what is left out; empty if nothing is


def choose_part(
    pdfa: PDFA,
    *,
    most_states: int | None = None,
    least: float | None = None,
    always: frozenset[int] = frozenset(),
    way: frozenset[tuple[int, int]] = frozenset(),
) -> Chosen:
    """Choose states and edges for a picture that can be read.

    ``most_states`` and ``least`` are as in `draw`. The states of ``always`` and the edges between
    the pairs of ``way`` are drawn in any case.
    """
    visits = cut_visits(pdfa)
    shares = visits.states / visits.states.sum()
    states = _choose_states(pdfa, shares, most_states, always, everything=least == 0)
    edges = Edges.between(pdfa, states)
    if least == 0:
        kept = np.ones(len(edges), dtype=bool)
    else:
        least = least or edges.readable(max(FEW_EDGES, round(EDGES_A_STATE * len(states))))
        kept = edges.keep(least) | edges.are_on(way)
    exceptions = "the word's and the likeliest" if way else "the likeliest"
    remarks = [
        _states_note(states, shares, visits.symbols),
        _edges_note(edges, kept, least, exceptions),
    ]
    return Chosen(edges, kept, shares, "; ".join(filter(None, remarks)))


def count_drawn(pdfa: PDFA, visits: Floats) -> int:
    """Return how many states a picture has by default, given the visits of all."""
    shares = visits / visits.sum()
    return len(_choose_states(pdfa, shares, None, frozenset(), everything=False))


def _choose_states(
    pdfa: PDFA, shares: Floats, most: int | None, always: frozenset[int], *, everything: bool
) -> Integers:
    """Choose states: all that matter, or where they are too many the likely core."""
    most_shown = MOST_STATES if most is None else most
    if len(pdfa) <= most_shown and everything:
        return np.arange(len(pdfa))
    states = connected_core(pdfa, shares, most=most_shown + 1, enough=inf, always=always)
    if len(states) <= most_shown:
        return states
    most_core, enough = (MOST_CORE_STATES, ENOUGH_VISITS) if most is None else (most, inf)
    return connected_core(pdfa, shares, most=most_core, enough=enough, always=always)


def _states_note(states: Integers, shares: Floats, symbols: int | None) -> str:
    if len(states) == len(shares):
        return ""
    count = f"{len(states):,} of {len(shares):,} states"
    missing = float(np.delete(shares, states).sum())
    share = probability_text(1 - missing, 2) if missing else "all"
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
