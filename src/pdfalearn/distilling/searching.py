"""Search for the best automaton of every size that evidence supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.growing import grown
from pdfalearn.distilling.machines import Fit, fitted, only_reached, pruned
from pdfalearn.distilling.merging import merged
from pdfalearn.distilling.polishing import polished
from pdfalearn.distilling.reducing import reduced

LARGEST_SEARCHED = 1500
"""Larger automata are the contexts that bring most, as they are."""
_MOST_TRANSITIONS, _AT_LEAST = 2**22, 120
"""Nor are automata of more transitions than this reduced, if they have this many states."""
_CYCLED = 64
"""Automata of up to this many states are made larger and smaller again."""
_GROWTH = (0.3, 0.3, 0.6)
"""By these shares, until one brings too little."""
_TOLERATED = 0.02
"""Prefixes are merged whose answers differ by at most this many nats a word."""
_BETTER = 1e-3
"""A cycle that brings less than this share of the loss is not taken."""


def search(
    evidence: Evidence, sizes: Sequence[int], *, cycles: bool = True
) -> Iterator[tuple[int, Fit]]:
    """Search for automata of at most each of some sizes, the largest first.

    Parameters
    ----------
    evidence : Evidence
        What the model answered.
    sizes : sequence of int
        The sizes.
    cycles : bool
        Whether small automata are made larger and smaller again, which takes most of the time.

    Yields
    ------
    int, Fit
        A size and the automaton that was found for it.
    """
    most = max(_AT_LEAST, _MOST_TRANSITIONS // evidence.width)
    largest = min(LARGEST_SEARCHED, most, max(2, len(evidence) // 3))
    contexts = Contexts(evidence, max(largest, *sizes))
    others = _merged(evidence, cycles=cycles) if min(sizes) <= _CYCLED else []
    fit: Fit | None = None
    for size in sorted(set(sizes), reverse=True):
        if size > largest:
            yield size, pruned(fitted(contexts.machine(size), evidence), evidence)
            continue
        if fit is None:
            fit = pruned(polished(only_reached(contexts.machine(largest)), evidence), evidence)
        if len(fit.machine) > size:
            fit = pruned(polished(reduced(fit, evidence, size).machine, evidence), evidence)
        if cycles and size <= _CYCLED:
            fit = pruned(cycled(fit, evidence), evidence)
        for other in others:
            if len(other.machine) <= size and other.loss < fit.loss:
                fit = other
        yield size, fit


def _merged(evidence: Evidence, *, cycles: bool) -> list[Fit]:
    """Return the automaton of merged prefixes, if there is one that is not too large."""
    machine = merged(evidence, _TOLERATED, _CYCLED)
    if machine is None:
        return []
    fit = pruned(polished(machine, evidence), evidence)
    return [pruned(cycled(fit, evidence), evidence) if cycles else fit]


def cycled(fit: Fit, evidence: Evidence) -> Fit:
    """Make an automaton larger and smaller again as long as that makes it better."""
    for share in _GROWTH:
        again = _cycle(fit, evidence, share)
        if again.loss >= (1 - _BETTER) * fit.loss:
            break
        fit = again
    return fit


def _cycle(fit: Fit, evidence: Evidence, share: float) -> Fit:
    size = len(fit.machine)
    larger = polished(grown(fit, evidence, max(1, round(share * size))), evidence)
    return polished(reduced(larger, evidence, size).machine, evidence)
