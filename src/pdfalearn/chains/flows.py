"""What is gained on the way of a word, and how often it comes by: one linear system.

The words that an automaton makes are such a flow, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pdfalearn.arrays import reaching
from pdfalearn.chains.systems import System
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in
from pdfalearn.typing import Flags, Floats, Integers


@dataclass(frozen=True, eq=False)
class Flow:
    """Places that words pass, the weights with which they pass on, and those with which they leave.

    Weights of a place need not sum to 1: all is relative to their sum. Edges stand in the order of
    their sources. Words begin in place 0.
    """

    sources: Integers
    successors: Integers
    weights: Floats
    leaving: Floats

    def __len__(self) -> int:
        return len(self.leaving)

    def values(self, gains: Floats) -> Floats:
        """Return what is expected to be gained from every place on; infinite where it never ends.

        ``gains`` is what each visit brings, times the sum of the place's weights; none is negative.
        The values solve dᵢxᵢ = gᵢ + Σ wᵢⱼxⱼ over j ≠ i, where dᵢ is the sum of what leads to other
        places or leaves. It is added up and not subtracted from 1, so that loops near 1 cost no
        digits; the solution is refined with residuals in extended precision.
        """
        if (self.leaving > 0).all():
            return self._system.solution(gains)
        # Places that gain nothing any more count as left; those that still never end are infinite.
        useful = reaching(self.sources, self.successors, gains > 0)
        lost = ~useful[self.successors]
        lost_weights = sums_by(self.sources[lost], self.weights[lost], len(self))
        ends = reaching(self.sources, self.successors, (self.leaving + lost_weights > 0) | ~useful)
        endless = reaching(self.sources, self.successors, ~ends)
        values = np.where(endless, np.inf, 0.0)
        kept = useful & ~endless
        values[kept] = self.restrict_to(kept)._system.solution(gains[kept])
        return values

    def visits(self, start: Floats) -> Floats:
        """Return how often words that begin as said are expected to visit each place.

        From every place words must leave with probability 1. With sᵢ for the sum of a place's
        weights, zᵢ = visits / sᵢ solves the transposed system: dⱼzⱼ = startⱼ + Σ zᵢwᵢⱼ over i ≠ j.
        """
        return np.asarray(self._system.transpose().solution(start) * self.sums)

    @cached_property
    def sums(self) -> Floats:
        """The sum of the weights of every place, with what leaves."""
        return self.leaving + sums_by(self.sources, self.weights, len(self))

    @cached_property
    def start(self) -> Floats:
        """All words in place 0."""
        return np.asarray(np.arange(len(self)) == 0, dtype=np.float64)

    def keep_edges(self, kept: Flags) -> Flow:
        """Return the flow along some edges; what takes others leaves."""
        left = sums_by(self.sources[~kept], self.weights[~kept], len(self))
        edges = self.sources[kept], self.successors[kept], self.weights[kept]
        return Flow(*edges, self.leaving + left)

    def restrict_to(self, places: Flags) -> Flow:
        """Return the flow within some places, numbered anew; what leads to others leaves."""
        numbers = np.cumsum(places) - 1
        flow = self.keep_edges(places[self.sources] & places[self.successors])
        edges = numbers[flow.sources], numbers[flow.successors], flow.weights
        return Flow(*edges, flow.leaving[places])

    def residual(self, values: Floats, gains: Floats) -> Floats:
        """Return how far values are from solving the system, in each place."""
        return np.asarray(self._system.residual(values, gains))

    def scaled_values(self, gains: Floats, costs: Floats) -> Floats:
        """Return the values times exp(costs), where they themselves might be too small to write.

        The gains are those of ``values``, times exp(costs). Every place reaches one where something
        is gained, and has no greater cost than a successor, minus the logarithm of the weight.
        """
        return self._system.scale(costs).solution(gains)

    @cached_property
    def _system(self) -> System:
        return System.of(self.sources, self.successors, self.weights, self.leaving)

    @cached_property
    def endless(self) -> Flags:
        """The places from which no word ends."""
        if (self.leaving > 0).all():
            return np.zeros(len(self), dtype=bool)
        return ~reaching(self.sources, self.successors, self.leaving > 0)

    @cached_property
    def components(self) -> Integers:
        """The number of the component that words never leave nor end in, by place; -1 for none."""
        if not self.endless.any():
            return np.full(len(self), -1)
        ones = np.ones(len(self.sources), dtype=np.int8)
        graph = csr_array((ones, (self.sources, self.successors)), shape=(len(self), len(self)))
        count, labels = connected_components(graph, connection="strong")
        # Closed are components without an end in them and without an edge that leaves.
        closed = np.ones(count, dtype=bool)
        closed[labels[self.leaving > 0]] = False
        begins, ends = labels[self.sources], labels[self.successors]
        closed[begins[begins != ends]] = False
        numbers = np.where(closed, np.cumsum(closed) - 1, -1)
        return np.asarray(numbers[labels], dtype=np.int64)


def visits_and_weights(flow: Flow) -> tuple[Floats, Floats]:
    """Return the expected visits of places that words leave, and all places' shares of positions.

    Where words may never end, positions are those of the words that do not, in the long run.
    """
    passing = flow.components < 0
    visits = np.zeros(len(flow))
    if passing.all():
        visits = flow.visits(flow.start)
        return visits, visits / visits.sum()
    if passing[0]:
        visits[passing] = flow.restrict_to(passing).visits(flow.start[passing])
    passed_on = flow.weights * (visits / flow.sums)[flow.sources]
    reached = flow.start + sums_by(flow.successors, passed_on, len(flow))
    return visits, _long_run(flow, reached)


def _long_run(flow: Flow, reached: Floats) -> Floats:
    """Return the share of every place among the positions of words that never end.

    In each component these are the visits between two visits of one of its places, the anchor.
    """
    kept = flow.components >= 0
    closed, components = flow.restrict_to(kept), flow.components[kept]
    entered = np.bincount(components, weights=reached[kept])
    anchors = np.unique(components, return_index=True)[1]
    is_anchor = np.zeros(len(closed), dtype=bool)
    is_anchor[anchors] = True
    rounds = closed.keep_edges(~is_anchor[closed.successors]).visits(is_anchor.astype(np.float64))
    lengths = np.bincount(components, weights=rounds)
    weights = np.zeros(len(flow))
    weights[kept] = (rounds / lengths[components]) * entered[components]
    return np.asarray(weights / weights.sum())


def sums_by(places: Integers, values: Floats, size: int) -> Floats:
    """Add up values by places, which may come in any order."""
    return np.asarray(np.bincount(places, values, size), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Reached:
    """The states that words of positive probability reach, breadth first.

    Rows are as they are in the automaton: all that is computed from them is relative to their sums.
    """

    pdfa: PDFA
    states: Integers
    """The automaton's states; the first one is initial."""
    flow: Flow
    """What leaves are words that end."""

    @classmethod
    def of(cls, pdfa: PDFA) -> Reached:
        """Find the states, and the edges between them."""
        possible = np.where(pdfa.probabilities[:, 1:] > 0, pdfa.transitions, np.int32(-1))
        part = reachable_in(possible, pdfa.initial)
        states = part.states.astype(np.int64)
        sources, symbols = (possible[states] >= 0).nonzero()
        successors = part.numbers(len(pdfa))[possible[states[sources], symbols]]
        weights = pdfa.probabilities[states[sources], symbols + 1]
        ends = pdfa.probabilities[states, 0].copy()
        return cls(pdfa, states, Flow(sources, successors.astype(np.int64), weights, ends))

    @property
    def endless_states(self) -> tuple[int, ...]:
        """The automaton's states from which no word ends."""
        return tuple(self.states[self.flow.endless].tolist())

    def by_state(self, values: Floats, otherwise: float = 0.0) -> Floats:
        """Return the values of the automaton's states, of which some were never reached."""
        by_state = np.full(len(self.pdfa), otherwise)
        by_state[self.states] = values
        return by_state

    @cached_property
    def endless_mass(self) -> float:
        """The probability that a word never ends."""
        flow, endless = self.flow, self.flow.endless
        if endless[0] or not endless.any():
            return float(endless[0])
        into = endless[flow.successors] & ~endless[flow.sources]
        gains = sums_by(flow.sources[into], flow.weights[into], len(flow))[~endless]
        return float(flow.restrict_to(~endless).values(gains)[0])


def ending_probabilities(pdfa: PDFA) -> Floats:
    """Return the probability that a word ends, from every state on; 1 for states never reached.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> ending_probabilities(figure_1())
    array([1., 1.])
    """
    if (pdfa.probabilities[:, 0] > 0).all():
        return np.ones(len(pdfa))
    reached = Reached.of(pdfa)
    if not reached.flow.endless.any():
        return np.ones(len(pdfa))
    return reached.by_state(reached.flow.values(reached.flow.leaving), otherwise=1.0)
