"""Search for the best automaton of every size that evidence supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import Fit, fit_rows, prune, redirect
from pdfalearn.distilling.merging import merge_prefixes
from pdfalearn.distilling.polishing import grow, polish, reduce
from pdfalearn.results import EVERY

# Larger automata are made of the most useful contexts, without a search.
LARGEST_SEARCHED = 1500
# Automata of more transitions are neither reduced nor wanted by default, unless they have at most
# 120 states.
_MOST_TRANSITIONS, _AT_LEAST = 2**22, 120
# Automata of up to this many states are made larger and smaller again.
_CYCLED = 64
# The shares by which they are made larger, until one helps too little.
_GROWTH = (0.3, 0.3, 0.6)
# An automaton of merged prefixes is made larger up to this many states, if there are this many
# answers for each.
_GROWN, _ANSWERS_A_STATE = 250, 20
# Prefixes are merged whose answers differ by at most this many nats a word.
_TOLERATED = 0.02
# A cycle that brings less than this share of the loss is not taken.
_BETTER = 1e-3
# Larger sizes have these first digits: each is about a fifth larger than the one before.
_SERIES = (100, 120, 150, 180, 210, 250, 300, 360, 430, 500, 600, 750, 900)


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
    evidence: Evidence, sizes: Sequence[int], *, cycles: bool = True
) -> Iterator[tuple[int, Fit]]:
    """Search for automata of at most each of some sizes, the largest first.

    With ``cycles`` small automata are made larger and smaller again, which takes most of the time.
    """
    most = max(_AT_LEAST, _MOST_TRANSITIONS // evidence.width)
    largest = min(LARGEST_SEARCHED, most, max(2, evidence.size // 3))
    contexts = Contexts(evidence, max(largest, *sizes))
    others = _search_from_merged(evidence, sizes, cycles=cycles)
    fit: Fit | None = None
    for size in sorted(set(sizes), reverse=True):
        if size > largest:
            yield size, prune(fit_rows(contexts.machine(size), evidence), evidence)
            continue
        if fit is None:
            start = contexts.machine(largest)
            every_state = np.arange(len(start.rows), dtype=np.int32)
            fit = prune(polish(redirect(start, every_state), evidence), evidence)
        fit = _make_smaller(fit, evidence, size, cycles=cycles)
        yield size, min(fit, others.get(size, fit), key=lambda each: each.loss)


def _make_smaller(fit: Fit, evidence: Evidence, most: int, *, cycles: bool) -> Fit:
    """Return an automaton of at most this many states; a small one goes through cycles, too."""
    if len(fit.machine.rows) > most:
        fit = prune(polish(reduce(fit, evidence, most).machine, evidence), evidence)
    if not cycles or most > _CYCLED:
        return fit
    return prune(improve_by_cycles(fit, evidence), evidence)


def improve_by_cycles(fit: Fit, evidence: Evidence) -> Fit:
    """Make an automaton larger and smaller again as long as that makes it better."""
    for share in _GROWTH:
        size = len(fit.machine.rows)
        larger = polish(grow(fit, evidence, max(1, round(share * size))), evidence)
        again = polish(reduce(larger, evidence, size).machine, evidence)
        if again.loss >= (1 - _BETTER) * fit.loss:
            break
        fit = again
    return fit


def _search_from_merged(
    evidence: Evidence, sizes: Sequence[int], *, cycles: bool
) -> dict[int, Fit]:
    """Return automata that are made of merged prefixes, if few states are enough for these."""
    machine = merge_prefixes(evidence, _TOLERATED, _CYCLED) if min(sizes) <= _CYCLED else None
    if machine is None:
        return {}
    fit = found = prune(polish(machine, evidence), evidence)
    fits: dict[int, Fit] = {}
    enough = len(found.machine.rows)
    for size in sorted((size for size in sizes if size <= enough), reverse=True):
        fit = fits[size] = _make_smaller(fit, evidence, size, cycles=cycles)
    fit = fits.get(enough, found)
    most = min(_GROWN, evidence.size // _ANSWERS_A_STATE)
    for size in sorted(size for size in sizes if enough < size <= most):
        more = grow(fit, evidence, size - len(fit.machine.rows))
        fit = fits[size] = prune(polish(more, evidence), evidence)
    return fits
