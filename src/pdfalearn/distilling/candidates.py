"""Choose rows and automata on held-out words, so that figures do not flatter the choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.estimates import HeldOut, WordSums
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import (
    PRIOR_WEIGHT,
    Fit,
    Machine,
    find_possible,
    fit_rows,
    prune,
    shrink_rows,
    take_states,
)
from pdfalearn.typing import Floats, Integers

# Of a strength, what the rows of some states are drawn to, and as if how many words had shown it.
PriorsOf: TypeAlias = Callable[[float, Integers | slice], tuple[Floats, float]]

# Rows may be drawn to what they are drawn to as if this many words had shown it.
STRENGTHS = (0.05, 0.2, 1.0, 3.0, 10.0, 30.0)
# Where the search for the strength begins.
_FIRST = 2
# With more answers a state than this, the strength hardly matters and is not searched for.
_MANY = 100


class Candidate(NamedTuple):
    """An automaton that was measured on held-out words."""

    # Its rows are those of evidence, drawn to the priors of its strength; see `fit_both`.
    machine: Machine
    priors: PriorsOf
    strength: float
    is_contexts: bool
    sums: WordSums


class Choice(NamedTuple):
    """The candidate that is best on all held-out words, and honest figures for it."""

    candidate: Candidate
    # Each half of the words is measured with the candidate that is best on the other half.
    sums: WordSums


class Chooser:
    """Chooses at each size between the automaton that was searched for and that of contexts."""

    def __init__(self, evidence: Evidence, held_out: HeldOut, contexts: Contexts) -> None:
        self._evidence, self._held_out, self._contexts = evidence, held_out, contexts
        # The places of the strengths chosen last: automata of like sizes need like ones.
        self._last = {True: _FIRST, False: _FIRST}

    def choose(self, machines: Mapping[int, Sequence[Machine]]) -> Iterator[tuple[int, Choice]]:
        """Yield the choice of every size, the largest first; if none was found, of contexts."""
        for size in sorted(machines, reverse=True):
            found = [each for machine in machines[size] for each in self._measure_searched(machine)]
            if not found or size <= len(self._contexts):
                found += self._measure_contexts(size)
            yield size, self._compare(found)

    def _measure_searched(self, machine: Machine) -> Iterator[Candidate]:
        yield from self._climb(
            machine, lambda strength, states: (machine.priors[states], strength), is_contexts=False
        )

    def _measure_contexts(self, size: int) -> Iterator[Candidate]:
        def priors(strength: float, states: Integers | slice) -> tuple[Floats, float]:
            return self._contexts.rows(size, strength, states), PRIOR_WEIGHT

        yield from self._climb(self._contexts.machine(size), priors, is_contexts=True)

    def _climb(self, machine: Machine, of: PriorsOf, *, is_contexts: bool) -> Iterator[Candidate]:
        """Yield candidates of several strengths, from the one chosen last to better ones.

        Only the states that held-out words visit have to have rows for that.
        """
        evidence, visited = self._evidence, self._held_out.find_visited(machine.transitions)
        seen = take_states(machine, visited).transitions
        numbers = np.full(len(machine.rows), -1, dtype=np.int32)
        numbers[visited] = np.arange(len(visited))
        states = numbers[evidence.states(machine.transitions, 0)]
        sums, weights = evidence.sums(states, len(visited))
        tried: dict[int, float] = {}
        last = self._last[is_contexts]
        pending = [last]
        while pending:
            for place in pending:
                rows = shrink_rows(sums, weights, *of(STRENGTHS[place], visited))
                transitions = np.where(find_possible(rows, states, evidence), seen, -1)
                words = self._held_out.sum_words(transitions, 0, rows)
                tried[place] = float(words.comparable.sum())
                yield Candidate(machine, of, STRENGTHS[place], is_contexts, words)
            if len(machine.rows) * _MANY < evidence.size:
                return
            last = min(tried, key=lambda place: tried[place])
            around = {max(last - 1, 0), min(last + 1, len(STRENGTHS) - 1)}
            pending = sorted(around - {*tried})
        self._last[is_contexts] = last

    def _compare(self, found: list[Candidate]) -> Choice:
        best, chosen = choose_on_halves([candidate.sums.comparable for candidate in found])
        words = np.arange(len(chosen))
        tables = map(np.array, zip(*(candidate.sums for candidate in found), strict=True))
        return Choice(found[best], WordSums(*(table[chosen, words] for table in tables)))


def choose_on_halves(losses: Sequence[Floats]) -> tuple[int, Integers]:
    """Choose among candidates by their losses on held-out words.

    Return the best on all words, and for every word the best on the other half of the words: so the
    choice does not flatter.
    """
    table = np.array(losses)
    is_first = np.arange(table.shape[1]) % 2 == 0
    first, second = table[:, is_first].sum(axis=1), table[:, ~is_first].sum(axis=1)
    by_other = np.where(is_first, second.argmin(), first.argmin())
    return int((first + second).argmin()), by_other


def fit_both(
    size: int, chosen: Candidate, evidence: Evidence, everything: Evidence, regrown: Contexts
) -> tuple[Fit, Fit]:
    """Return the automaton of a candidate with rows from evidence, and with rows from more.

    Contexts are chosen again with more, too: ``regrown`` are these.
    """
    priors, weight = chosen.priors(chosen.strength, slice(None))
    fit = fit_rows(chosen.machine._replace(priors=priors), evidence, prior_weight=weight)
    fit = prune(fit, evidence)
    more = regrown.machine(size, chosen.strength) if chosen.is_contexts else fit.machine
    return fit, prune(fit_rows(more, everything, prior_weight=weight), everything)
