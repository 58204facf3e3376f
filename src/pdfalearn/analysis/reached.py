"""The part of an automaton that words reach, as a flow, and where words never end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pdfalearn.analysis.flows import Flow, sums_by
from pdfalearn.arrays.reaching import reaching
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reached:
    """The states that words of positive probability reach, breadth first.

    Rows are as they are in the automaton: all that is computed from them is relative to their sums.
    """

    pdfa: PDFA
    states: Indices
    """The automaton's states; the first one is initial."""
    symbols: Indices
    """The symbol of every edge of ``flow``."""
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
        flow = Flow(
            sources, successors.astype(np.int64), weights, pdfa.probabilities[states, 0].copy()
        )
        return cls(pdfa, states, symbols, flow)

    @cached_property
    def sums(self) -> Floats:
        """The sums of the rows."""
        return np.asarray(self.pdfa.probabilities.sum(axis=1)[self.states])

    @cached_property
    def endless(self) -> NDArray[np.bool_]:
        """The places from which no word ends."""
        if (self.flow.leaving > 0).all():
            return np.zeros(len(self.flow), dtype=bool)
        return ~reaching(self.flow.sources, self.flow.successors, self.flow.leaving > 0)

    @property
    def endless_states(self) -> tuple[int, ...]:
        """The automaton's states from which no word ends."""
        return tuple(self.states[self.endless].tolist())

    @cached_property
    def endless_mass(self) -> float:
        """The probability that a word never ends."""
        endless = self.endless
        if endless[0] or not endless.any():
            return float(endless[0])
        flow, into = self.flow, endless[self.flow.successors] & ~endless[self.flow.sources]
        gains = sums_by(flow.sources[into], flow.weights[into], len(flow))[~endless]
        return float(flow.restricted(~endless).values(gains)[0])


def ending_probabilities(pdfa: PDFA) -> Floats:
    """Return the probability that a word ends, from every state on; 1 for states never reached.

    Examples
    --------
    >>> from pdfalearn import figure_1
    >>> ending_probabilities(figure_1())
    array([1., 1.])
    """
    ending = np.ones(len(pdfa))
    if (pdfa.probabilities[:, 0] > 0).all():
        return ending
    reached = Reached.of(pdfa)
    if reached.endless.any():
        ending[reached.states] = reached.flow.values(reached.flow.leaving)
    return ending
