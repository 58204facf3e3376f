"""Smaller automata that are nearest to a given one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import inf, isinf
from typing import overload

import numpy as np

from pdfalearn.arrays import one_thread
from pdfalearn.chains import MOST_PAIRS
from pdfalearn.checks import check_integer, check_number
from pdfalearn.distilling.engine import improve_by_cycles, polish_fit, reduce
from pdfalearn.distilling.originals import Original, Visited, merge_classes, merge_rare_states
from pdfalearn.equivalence import Exact, Quantization, quotient, state_classes
from pdfalearn.errors import InputError
from pdfalearn.metrics import directed_divergence
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import Simplified

# Of more states than these the least visited ones are merged first, by their rows alone; and before
# that those that are equal at this κ.
MOST_COMPARED, _KAPPA = 2_000, 1000
# Automata of at most this many states are made larger and smaller again, which is not expected to
# make a loss smaller by more than a factor.
_SMALL, _HOPE = 64, 1.5
# The share of states by which the search for a divergence goes down at most, and the most pairs of
# states that it begins with.
_STEP, _COMPARED = 0.3, 2**20


@overload
def simplify(pdfa: PDFA, states: int) -> Simplified: ...
@overload
def simplify(pdfa: PDFA, states: Sequence[int]) -> list[Simplified]: ...
@overload
def simplify(pdfa: PDFA, *, divergence: float) -> Simplified: ...


@one_thread
def simplify(
    pdfa: PDFA, states: int | Sequence[int] | None = None, *, divergence: float | None = None
) -> Simplified | list[Simplified]:
    """Find a smaller PDFA whose divergence from a given one is small.

    Parameters
    ----------
    pdfa : PDFA
        Any automaton: learnt, read, random; its words may never end.
    states : int or sequence of int
        The most states of the result. Several numbers give a whole curve at the price of one.
    divergence : float
        Instead of states: find a small automaton whose exact divergence per symbol is at most this.

    Returns
    -------
    Simplified, or list of Simplified
        The automaton and its divergence KL(pdfa ‖ result) per symbol (the long-run rate where words
        never end); for several numbers of states a list in their order. It allows all that the
        given one allows, so that the divergence is finite. Symbols that no word can use may become
        undefined.

    Notes
    -----
    States are merged whose futures diverge least, weighted by their visits; rows are the means of
    the original's rows over the words that reach a state; then transitions move to where the
    expected divergence is least, and small automata are split and reduced again. Nothing is drawn:
    the same automaton gives the same result. That no better automaton of the size exists is not
    known.

    Examples
    --------
    >>> from pdfalearn.datasets import random_pdfa
    >>> pdfa = random_pdfa(40, seed=1)
    >>> [(one.states, round(one.divergence, 4)) for one in simplify(pdfa, states=[20, 5, 1])]
    [(20, 0.004), (5, 0.0418), (1, 0.1524)]
    """
    search = Search(check_pdfa(pdfa, "pdfa"))
    if (states is None) == (divergence is None):
        raise InputError("simplify needs either states or divergence; give one of the two")
    if divergence is not None:
        return search.within(check_number(divergence, "divergence", 0.0, inf))
    if isinstance(states, Sequence | np.ndarray) and not isinstance(states, str):
        return search.curve([check_integer(size, "states", 1) for size in states])
    return search.curve([check_integer(states, "states", 1)])[0]


class Search:
    """The search for automata that are smaller than one."""

    def __init__(self, given: PDFA) -> None:
        self._given = given
        self._exact = quotient(given, equivalence=Exact())
        self._original = Original(self._exact)

    def curve(self, sizes: Sequence[int]) -> list[Simplified]:
        """Return an automaton of each size; a larger one never diverges more."""
        found, fit = {}, self._start()
        for size in sorted(set(sizes), reverse=True):
            fit, found[size] = self._find(fit, size)
        best: Simplified | None = None
        for size in sorted(found):
            if best is None or found[size].divergence < best.divergence:
                best = found[size]
            found[size] = best
        return [found[size] for size in sizes]

    def within(self, bound: float) -> Simplified:
        """Return the smallest automaton found whose divergence is at most a bound."""
        fit, best = self._start(), self._measure(self._exact)
        step, compared = best.states, _COMPARED // len(self._exact)
        # Take large steps down, and half of one that goes too far. The first leads to where states
        # are so few that all pairs are walked quickly.
        while step := min(
            step, best.states - 1, max(1, int(_STEP * best.states), best.states - compared)
        ):
            with suppress(InputError):  # there are too many pairs
                trial, measured = self._find(fit, best.states - step, _HOPE * bound)
                if measured.divergence <= bound:
                    fit, best, step = trial, measured, measured.states
                    continue
            step //= 2
        return best

    def _find(self, fit: Visited, size: int, most: float = inf) -> tuple[Visited, Simplified]:
        """Return an automaton of a size, and measure it; see `_reduce`."""
        try:
            fit = self._reduce(fit, size, most)
            is_exact = len(fit.visits) == len(self._exact)
            return fit, self._measure(self._exact if is_exact else self._original.pdfa_of(fit))
        except InputError as error:
            raise InputError(
                f"{size:,} states are too many to be compared with {len(self._exact):,}: words "
                f"visit more than {MOST_PAIRS:,} pairs of them; ask for fewer states"
            ) from error

    def _start(self) -> Visited:
        """Return the original; if it is large, with nearly equal states merged."""
        fit = self._original.fit_itself()
        if len(fit.visits) <= MOST_COMPARED:
            return fit
        pdfa = self._original.pdfa_of(fit)
        return merge_classes(fit, state_classes(pdfa, equivalence=Quantization(_KAPPA)))

    def _measure(self, pdfa: PDFA) -> Simplified:
        """Return a PDFA with its exact divergence."""
        value = directed_divergence(self._given, pdfa).per_symbol
        return Simplified(len(pdfa), pdfa, value)

    def _reduce(self, fit: Visited, size: int, most: float = inf) -> Visited:
        """Reduce to a size, move transitions, and go through cycles while that helps.

        There are no cycles where more than ``most`` is lost.
        """
        original = self._original
        if len(fit.visits) <= size:
            return fit
        if len(fit.visits) > MOST_COMPARED:
            fit = merge_rare_states(fit, max(size, MOST_COMPARED))
        fit = reduce(original, fit, size)
        if isinf(fit.loss):
            fit = original.fit(fit)
        fit = polish_fit(original, fit)
        if 1 < size <= _SMALL and original.count_tries(fit) and fit.loss <= most:
            fit = improve_by_cycles(original, fit, size)
        return fit
