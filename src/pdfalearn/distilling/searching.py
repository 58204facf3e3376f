"""Search for the best automaton of every size that evidence supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.engine import improve_by_cycles, polish_and_prune, reduce
from pdfalearn.distilling.evidence import Evidence, make_dense
from pdfalearn.distilling.machines import Fit, Machine, fit_rows, prune, redirect, spread_rows
from pdfalearn.distilling.merging import merge_prefixes
from pdfalearn.distilling.prefixes import PrefixObjective
from pdfalearn.distilling.settings import DEFAULTS, SearchSettings
from pdfalearn.results import EVERY

# Larger sizes have these first digits: each is about a fifth larger than the one before.
_SERIES = (100, 120, 150, 180, 210, 250, 300, 360, 430, 500, 600, 750, 900)
# Above this size only every second one is made, the largest among them.
_MANY = 1800


def default_sizes(nodes: int, symbols: int, settings: SearchSettings = DEFAULTS) -> list[int]:
    """Return sizes for a number of answers and of symbols.

    Examples
    --------
    >>> default_sizes(20, 2)[-2:], default_sizes(100, 2)[-3:]
    ([32, 36], [120, 150, 180])
    >>> default_sizes(10**4, 500)[-4:]
    [5000, 7500, 10000, 15000]
    """
    most = max(settings.at_least, settings.most_transitions // symbols)
    largest = max(1, min(2 * nodes, most))
    sizes = list(range(1, min(largest, EVERY) + 1))
    scales = [0.1 * 10**power for power in range(9)]
    series = [round(scale * digits) for scale in scales for digits in _SERIES]
    series = [size for size in series if EVERY < size <= largest]
    many = sum(size <= _MANY for size in series)
    return [*sizes, *series[:many], *series[many:][::-2][::-1]]


def search(
    evidence: Evidence,
    sizes: Sequence[int],
    *,
    cycles: bool = True,
    counted: bool = False,
    settings: SearchSettings = DEFAULTS,
) -> Iterator[tuple[int, Fit]]:
    """Search for automata of at most each of some sizes, about the largest first.

    A size may come twice: the second automaton is better.

    With ``cycles`` small automata are made larger and smaller again, and prefixes are merged, too,
    unless answers are ``counted``: what followed, and not exact.
    """
    lumped = evidence.lumped
    for size, fit in Search(lumped, cycles, counted, settings).run(sizes):
        yield size, _spread(fit, lumped, evidence)


def search_from(
    start: Machine, evidence: Evidence, sizes: Sequence[int], *, settings: SearchSettings
) -> Iterator[Fit]:
    """Polish an automaton and yield it, and then smaller ones of at most each size below its own.

    Answers are counts of what followed.
    """
    lumped = evidence.lumped
    rows, priors = (make_dense(lumped.lump(table)) for table in start[1:])
    lighter = Machine(start.transitions, rows, priors)
    for fit in Search(lumped, False, True, settings).run_from(lighter, sizes):
        yield _spread(fit, lumped, evidence)


def _spread(fit: Fit, lumped: Evidence, evidence: Evidence) -> Fit:
    """Return a fit to lumped evidence as one to all of it."""
    if lumped is evidence:
        return fit
    spread = fit_rows(spread_rows(fit.machine, lumped), evidence, exact=False)
    return prune(spread, evidence)


class Search:
    """The search for the best automata of some sizes."""

    def __init__(
        self, evidence: Evidence, cycles: bool, counted: bool, settings: SearchSettings
    ) -> None:
        self._evidence, self._counted = evidence, counted
        self._settings = settings if cycles else replace(settings, cycled=0)
        self._objective = PrefixObjective(evidence, self._settings)
        # The best automata so far of small sizes.
        self._small: dict[int, Fit] = {}

    def run(self, sizes: Sequence[int]) -> Iterator[tuple[int, Fit]]:
        """Yield the best automaton of each size, from contexts or from merged prefixes."""
        evidence, settings, objective = self._evidence, self._settings, self._objective
        sizes = sorted(set(sizes), reverse=True)
        most = max(settings.at_least, settings.most_transitions // evidence.width)
        largest = min(settings.largest, most, max(2, evidence.size // 3))
        largest = max(2, min(largest, settings.most_costs // evidence.size))
        contexts = Contexts(evidence, max(largest, *sizes))
        for size in (size for size in sizes if size > largest):
            yield size, prune(fit_rows(contexts.machine(size), evidence), evidence)
        sizes = [size for size in sizes if size <= largest]
        if not sizes:
            return
        start = contexts.machine(min(largest, max(settings.first, 2 * sizes[0])))
        start = redirect(start, np.arange(len(start.rows), dtype=np.int32))
        fit = polish_and_prune(objective, objective.fit(start))
        merged = self._merge_prefixes(sizes)
        enough = 0 if merged is None else len(merged.machine.rows)
        losses: dict[int, float] = {}
        for size, smaller in self._go_down(fit, [size for size in sizes if size > enough]):
            fit, losses[size] = smaller, smaller.loss
            yield size, objective.take(fit)
        if merged is not None:
            # The two meet where merged prefixes have enough states: the better one goes on alone,
            # but for small sizes, which cost little.
            first, *others = [size for size in sizes if size <= enough] or [enough]
            both = [next(self._go_down(each, [first]))[1] for each in (fit, merged)]
            best, other = sorted(both, key=lambda each: each.loss)
            if first in sizes:
                losses[first] = best.loss
                yield first, objective.take(best)
            for size, found in self._go_down(best, others):
                losses[size] = found.loss
                yield size, objective.take(found)
            for _ in self._go_down(other, [size for size in others if size <= settings.each]):
                pass
            for size, found in self._grow(objective.take(both[1]), sorted(losses)):
                if size > first and found.loss < losses[size]:
                    yield size, found
        for size, found in self._exchange():
            yield size, polish_and_prune(objective, objective.fit(found.machine))

    def run_from(self, machine: Machine, sizes: Sequence[int]) -> Iterator[Fit]:
        """Yield an automaton when it is polished, and then those of at most each smaller size."""
        fit = polish_and_prune(self._objective, self._objective.fit(machine))
        yield fit
        smaller = [size for size in sorted(sizes, reverse=True) if size < len(fit.machine.rows)]
        for _, found in self._go_down(fit, smaller):
            yield found

    def _choose_objective(self, size: int) -> PrefixObjective:
        """Return what automata of a size are made to fit: fewer words are enough for small ones."""
        if not self._counted:
            for most, nodes in self._settings.thinned:
                if size <= most:
                    return PrefixObjective(self._evidence.thin(nodes), self._settings)
        return self._objective

    def _go_down(self, fit: Fit, sizes: Sequence[int]) -> Iterator[tuple[int, Fit]]:
        """Yield automata of at most each size, the largest first; small ones go through cycles."""
        settings, small, before = self._settings, self._small, inf
        for size in sizes:
            objective = self._choose_objective(size)
            fit = objective.take(fit)
            if len(fit.machine.rows) > size:
                fit = polish_and_prune(objective, reduce(objective, fit, size))
            is_apart = size <= settings.each or size <= settings.spacing * before
            if size <= settings.cycled and is_apart:
                fit, before = improve_by_cycles(objective, fit), size
            if size <= settings.exchanged and (size not in small or fit.loss < small[size].loss):
                small[size] = fit
            yield size, fit

    def _exchange(self) -> Iterator[tuple[int, Fit]]:
        """Yield small automata, made better by growing smaller ones and reducing larger ones."""
        objective = self._choose_objective(1)
        found = self._small = {size: objective.take(fit) for size, fit in self._small.items()}
        sizes = sorted(found)
        near = self._settings.near
        reaches = (near if size <= near else 1 for size in sizes)
        pairs = [
            (size, larger)
            for place, (size, reach) in enumerate(zip(sizes, reaches, strict=True))
            for larger in sizes[place + 1 : place + 1 + reach]
            if self._settings.cycled
        ]
        for size, larger in pairs:
            more = larger - len(found[size].machine.rows)
            self._try(objective, larger, objective.grow(found[size], more))
        for size, larger in pairs[::-1]:
            self._try(objective, size, reduce(objective, found[larger], size))
        yield from sorted(found.items(), reverse=True)

    def _try(self, objective: PrefixObjective, size: int, fit: Fit) -> None:
        """Take an automaton for a size if it is better once it is polished."""
        fit = polish_and_prune(objective, fit)
        if fit.loss < (1 - self._settings.better) * self._small[size].loss:
            self._small[size] = fit

    def _merge_prefixes(self, sizes: Sequence[int]) -> Fit | None:
        """Return the automaton of merged prefixes, if few states are enough for it."""
        evidence, settings = self._evidence, self._settings
        if self._counted or not settings.cycled or sizes[-1] > settings.merged:
            return None
        machine = merge_prefixes(evidence, settings.tolerated, settings.merged)
        return machine and polish_and_prune(self._objective, self._objective.fit(machine))

    def _grow(self, fit: Fit, sizes: Sequence[int]) -> Iterator[tuple[int, Fit]]:
        """Yield larger automata of merged prefixes, the smallest first."""
        settings, objective = self._settings, self._objective
        most = min(settings.grown, self._evidence.size // settings.answers_a_state)
        for size in sizes:
            if len(fit.machine.rows) < size <= most:
                more = size - len(fit.machine.rows)
                fit = polish_and_prune(objective, objective.grow(fit, more))
                yield size, fit
