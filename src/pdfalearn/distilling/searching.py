"""Search for the best automaton of every size that evidence supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from pdfalearn.checks import check_integer, check_number
from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import Fit, Machine, fit_rows, prune, redirect, spread_rows
from pdfalearn.distilling.merging import merge_prefixes
from pdfalearn.distilling.polishing import RELUCTANCE, grow, polish, reduce
from pdfalearn.results import EVERY

# Automata of more transitions are neither reduced nor wanted by default, unless they have at most
# 120 states.
_MOST_TRANSITIONS, _AT_LEAST = 2**22, 120
# Prefixes times states that fit into memory while automata are searched.
_MOST_COSTS = 2**28
# A search starts with this many contexts at least, if there are as many, or twice the largest size.
_FIRST = 512
# Each size up to the first number goes through cycles, and then those that are by this factor
# smaller than the one before; those between learn from them.
_EACH, _SPACING = 8, 0.75
# Up to this size automata are tried for as many sizes around theirs.
_NEAR = 4
# Automata of up to this many states are tried for the sizes around theirs.
_SMALL = 64
# Automata of up to so many states are searched with at most about so many exact answers, and with
# so many times more counts.
_THINNED, _COUNTED = ((32, 2**13), (120, 2**15)), 4
# The shares by which automata are made larger, until one helps too little.
_GROWTH = (0.3, 0.3, 0.6, 1.0)
# An automaton of merged prefixes is made larger up to this many states, if there are this many
# answers for each; and counted prefixes are merged into at most this many states.
_GROWN, _ANSWERS_A_STATE = 250, 20
# Prefixes of exact answers are merged if this many states are enough.
_MERGED = 64
# A cycle that brings less than this share of the loss is not taken.
_BETTER = 1e-3
# Larger sizes have these first digits: each is about a fifth larger than the one before.
_SERIES = (100, 120, 150, 180, 210, 250, 300, 360, 430, 500, 600, 750, 900)


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """What decides how long a search takes, and how near it comes.

    Parameters
    ----------
    largest : int
        The most states of an automaton that is searched for; larger ones are made of the most
        useful contexts. The first automata are that large: time and memory grow with it, and it
        matters for results of some hundred states.
    cycled : int
        Automata of up to this many states are made larger and smaller again, which takes about half
        of the time and brings about one percent of the loss, more where few states are enough.
    tolerated : float
        How many nats a word exact answers may differ by after prefixes that become one state. More
        makes fewer states, and may miss a difference.
    deviations : float
        By how many standard deviations counts must differ more than by chance for prefixes to be
        different states. With fewer there are more states, some of them by chance.
    reluctance : float
        The nats that a transition must gain to be moved. More overfits less where words are few.

    Examples
    --------
    >>> SearchSettings(cycled=0, reluctance=2.0).largest
    1500
    """

    largest: int = 1500
    cycled: int = 64
    tolerated: float = 0.02
    deviations: float = 4.0
    reluctance: float = RELUCTANCE

    def __post_init__(self) -> None:
        check_integer(self.largest, "largest", 2)
        check_integer(self.cycled, "cycled", 0)
        for name in ("tolerated", "deviations", "reluctance"):
            check_number(getattr(self, name), name, 0.0, inf)


def default_sizes(nodes: int, symbols: int) -> list[int]:
    """Return sizes for a number of answers and of symbols.

    Examples
    --------
    >>> default_sizes(20, 2)[-2:], default_sizes(100, 2)[-3:]
    ([32, 36], [120, 150, 180])
    """
    largest = max(1, min(2 * nodes, max(_AT_LEAST, _MOST_TRANSITIONS // symbols)))
    sizes = list(range(1, min(largest, EVERY) + 1))
    scales = [0.1 * 10**power for power in range(9)]
    series = (round(scale * digits) for scale in scales for digits in _SERIES)
    return [*sizes, *(size for size in series if EVERY < size <= largest)]


def search(
    evidence: Evidence,
    sizes: Sequence[int],
    *,
    cycles: bool = True,
    counted: bool = False,
    settings: SearchSettings = SearchSettings(),
) -> Iterator[tuple[int, Fit]]:
    """Search for automata of at most each of some sizes, about the largest first.

    A size may come twice: the second automaton is better.

    With ``cycles`` prefixes are merged, too, and small automata are made larger and smaller again.
    ``counted`` says that answers are counts of what followed, and not exact.
    """
    lumped = evidence.lumped
    for size, fit in Search(lumped, cycles, counted, settings).run(sizes):
        if lumped is evidence:
            yield size, fit
        else:
            yield size, prune(fit_rows(spread_rows(fit.machine, lumped), evidence), evidence)


class Search:
    """The search for the best automata of some sizes."""

    def __init__(
        self, evidence: Evidence, cycles: bool, counted: bool, settings: SearchSettings
    ) -> None:
        self._evidence, self._settings, self._counted = evidence, settings, counted
        self._cycled = settings.cycled if cycles else 0
        # The best automata so far of small sizes.
        self._small: dict[int, Fit] = {}

    def run(self, sizes: Sequence[int]) -> Iterator[tuple[int, Fit]]:
        """Yield the best automaton of each size, from contexts or from merged prefixes."""
        evidence, sizes = self._evidence, sorted(set(sizes), reverse=True)
        most = max(_AT_LEAST, _MOST_TRANSITIONS // evidence.width)
        largest = min(self._settings.largest, most, max(2, evidence.size // 3))
        largest = max(2, min(largest, _MOST_COSTS // evidence.size))
        contexts = Contexts(evidence, max(largest, *sizes))
        for size in (size for size in sizes if size > largest):
            yield size, prune(fit_rows(contexts.machine(size), evidence), evidence)
        sizes = [size for size in sizes if size <= largest]
        if not sizes:
            return
        start = contexts.machine(min(largest, max(_FIRST, 2 * sizes[0])))
        fit = self._polish(redirect(start, np.arange(len(start.rows), dtype=np.int32)))
        merged = self._merge_prefixes(sizes)
        enough = 0 if merged is None else len(merged.machine.rows)
        losses: dict[int, float] = {}
        for size, smaller in self._go_down(fit, [size for size in sizes if size > enough]):
            fit, losses[size] = smaller, smaller.loss
            yield size, self._fit(fit, evidence)
        if merged is not None:
            # The two meet where merged prefixes have enough states: the better one goes on alone,
            # but for small sizes, which cost little.
            first, *others = [size for size in sizes if size <= enough] or [enough]
            both = [next(self._go_down(each, [first]))[1] for each in (fit, merged)]
            best, other = sorted(both, key=lambda each: each.loss)
            if first in sizes:
                losses[first] = best.loss
                yield first, self._fit(best, evidence)
            for size, found in self._go_down(best, others):
                losses[size] = found.loss
                yield size, self._fit(found, evidence)
            for _ in self._go_down(other, [size for size in others if size <= _EACH]):
                pass
            if best.machine is both[1].machine:
                for size, found in self._grow(merged, sorted(losses)):
                    if found.loss < losses[size]:
                        yield size, found
        for size, found in self._exchange():
            yield size, self._polish(found.machine)

    def _polish(self, machine: Machine, evidence: Evidence | None = None) -> Fit:
        evidence = evidence or self._evidence
        return prune(polish(machine, evidence, reluctance=self._settings.reluctance), evidence)

    def _fit(self, fit: Fit, evidence: Evidence) -> Fit:
        """Return a fit on this evidence."""
        return fit if len(fit.states) == evidence.size else fit_rows(fit.machine, evidence)

    def _choose_evidence(self, size: int) -> Evidence:
        """Return what automata of a size are searched with: small ones need fewer words."""
        for most, nodes in _THINNED:
            if size <= most:
                return self._evidence.thin(_COUNTED * nodes if self._counted else nodes)
        return self._evidence

    def _go_down(self, fit: Fit, sizes: Sequence[int]) -> Iterator[tuple[int, Fit]]:
        """Yield automata of at most each size, the largest first; small ones go through cycles."""
        before = inf
        for size in sizes:
            evidence = self._choose_evidence(size)
            fit = self._fit(fit, evidence)
            if len(fit.machine.rows) > size:
                fit = self._polish(reduce(fit, evidence, size).machine, evidence)
            if size <= self._cycled and (size <= _EACH or size <= _SPACING * before):
                fit, before = self.improve_by_cycles(fit, evidence), size
            if size <= _SMALL and (size not in self._small or fit.loss < self._small[size].loss):
                self._small[size] = fit
            yield size, fit

    def _exchange(self) -> Iterator[tuple[int, Fit]]:
        """Yield small automata, made better by growing smaller ones and reducing larger ones."""
        evidence = self._choose_evidence(1)
        found = {size: self._fit(fit, evidence) for size, fit in self._small.items()}
        sizes = sorted(found)
        reaches = (_NEAR if size <= _NEAR else 1 for size in sizes)
        pairs = [
            (size, larger)
            for place, (size, reach) in enumerate(zip(sizes, reaches, strict=True))
            for larger in sizes[place + 1 : place + 1 + reach]
            if self._cycled
        ]

        def take(size: int, machine: Machine) -> None:
            fit = self._polish(machine, evidence)
            if fit.loss < (1 - _BETTER) * found[size].loss:
                found[size] = fit

        for size, larger in pairs:
            take(larger, grow(found[size], evidence, larger - len(found[size].machine.rows)))
        for size, larger in pairs[::-1]:
            take(size, reduce(found[larger], evidence, size).machine)
        yield from sorted(found.items(), reverse=True)

    def improve_by_cycles(self, fit: Fit, evidence: Evidence) -> Fit:
        """Make an automaton larger and smaller again as long as that makes it better."""
        for share in _GROWTH:
            size = len(fit.machine.rows)
            larger = self._polish(grow(fit, evidence, max(1, round(share * size))), evidence)
            again = self._polish(reduce(larger, evidence, size).machine, evidence)
            if again.loss < (1 - _BETTER) * fit.loss:
                fit = again
            elif size > _EACH:
                break
        return fit

    def _merge_prefixes(self, sizes: Sequence[int]) -> Fit | None:
        """Return the automaton of merged prefixes, if few states are enough for it."""
        evidence, settings = self._evidence, self._settings
        if self._counted:
            machine = merge_prefixes(evidence, 0.0, _GROWN, deviations=settings.deviations)
        elif self._cycled and sizes[-1] <= _MERGED:
            machine = merge_prefixes(evidence, settings.tolerated, _MERGED)
        else:
            machine = None
        return None if machine is None else self._polish(machine)

    def _grow(self, fit: Fit, sizes: Sequence[int]) -> Iterator[tuple[int, Fit]]:
        """Yield larger automata of merged prefixes, the smallest first."""
        most = min(_GROWN, self._evidence.size // _ANSWERS_A_STATE)
        for size in sizes:
            if len(fit.machine.rows) < size <= most:
                more = size - len(fit.machine.rows)
                fit = self._polish(grow(fit, self._evidence, more))
                yield size, fit
