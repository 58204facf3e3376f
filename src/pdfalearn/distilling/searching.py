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
"""Larger automata are made of the most useful contexts, without a search."""
_MOST_TRANSITIONS, _AT_LEAST = 2**22, 120
"""Automata of more transitions are not reduced either, unless they have at most 120 states."""
_CYCLED = 64
"""Automata of up to this many states are made larger and smaller again."""
_GROWTH = (0.3, 0.3, 0.6)
"""The shares by which they are made larger, until one helps too little."""
_GROWN, _ANSWERS_A_STATE = 250, 20
"""An automaton of merged prefixes is made larger up to this many states, if there are this many
answers for each."""
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
    others = _from_merged(evidence, sizes, cycles=cycles)
    fit: Fit | None = None
    for size in sorted(set(sizes), reverse=True):
        if size > largest:
            yield size, pruned(fitted(contexts.machine(size), evidence), evidence)
            continue
        if fit is None:
            fit = pruned(polished(only_reached(contexts.machine(largest)), evidence), evidence)
        fit = _at_most(size, fit, evidence, cycles=cycles)
        yield size, min(fit, others.get(size, fit), key=lambda each: each.loss)


def _at_most(size: int, fit: Fit, evidence: Evidence, *, cycles: bool) -> Fit:
    """Return an automaton of at most this many states; a small one is also grown and reduced."""
    if len(fit.machine) > size:
        fit = pruned(polished(reduced(fit, evidence, size).machine, evidence), evidence)
    return pruned(cycled(fit, evidence), evidence) if cycles and size <= _CYCLED else fit


def _from_merged(evidence: Evidence, sizes: Sequence[int], *, cycles: bool) -> dict[int, Fit]:
    """Return automata that are made of merged prefixes, if few states are enough for these."""
    machine = merged(evidence, _TOLERATED, _CYCLED) if min(sizes) <= _CYCLED else None
    if machine is None:
        return {}
    found = pruned(polished(machine, evidence), evidence)
    fits: dict[int, Fit] = {}
    fit = found
    for size in sorted((size for size in sizes if size <= len(found.machine)), reverse=True):
        fit = fits[size] = _at_most(size, fit, evidence, cycles=cycles)
    fit = fits.get(len(found.machine), found)
    most = min(_GROWN, len(evidence) // _ANSWERS_A_STATE)
    for size in sorted(size for size in sizes if len(found.machine) < size <= most):
        more = grown(fit, evidence, size - len(fit.machine))
        fit = fits[size] = pruned(polished(more, evidence), evidence)
    return fits


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
