"""Smaller automata that are nearest to a given one."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf
from typing import overload

import numpy as np

from pdfalearn.checks import checked_integer, checked_number
from pdfalearn.distilling._original import Fit, Original, polish, split_states
from pdfalearn.distilling.futures import FEW, MOST_COMPARED, merge_classes, reduce_states
from pdfalearn.equivalence import Exact, Quantization, quotient, state_classes
from pdfalearn.errors import InputError
from pdfalearn.metrics import directed_divergence
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.results import Simplified

# Automata of at most this many states are split and reduced again.
_SMALL = 64
_CYCLES = 4
_SPLIT = 0.3
# Where there are very many states, those that are equal at this κ are merged first.
_KAPPA = 1000
# Cycles are not expected to make a loss smaller by more than this factor.
_HOPE = 1.5
# The share of states by which the search for a divergence goes down at most.
_STEP = 0.3
# The number of cheapest merges that are tried.
_TRIES = 8
# Tries of merges times transitions between pairs of states.
_TRIALS = 4e5


@overload
def simplify(pdfa: PDFA, *, states: int) -> Simplified: ...
@overload
def simplify(pdfa: PDFA, *, states: Sequence[int]) -> list[Simplified]: ...
@overload
def simplify(pdfa: PDFA, *, divergence: float) -> Simplified: ...


def simplify(
    pdfa: PDFA, *, states: int | Sequence[int] | None = None, divergence: float | None = None
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
    [(20, 0.0041), (5, 0.0418), (1, 0.1524)]
    """
    search = Search(checked_pdfa(pdfa, "pdfa"))
    if (states is None) == (divergence is None):
        raise InputError("simplify needs either states or divergence; give one of the two")
    if divergence is not None:
        return search.within(checked_number(divergence, "divergence", 0.0, inf))
    if isinstance(states, Sequence | np.ndarray) and not isinstance(states, str):
        return search.curve([checked_integer(size, "states", 1) for size in states])
    return search.curve([checked_integer(states, "states", 1)])[0]


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
            fit = self._reduce(fit, size)
            found[size] = self._measure(fit)
        best: Simplified | None = None
        for size in sorted(found):
            if best is None or found[size].divergence < best.divergence:
                best = found[size]
            found[size] = best
        return [found[size] for size in sizes]

    def within(self, bound: float) -> Simplified:
        """Return the smallest automaton found whose divergence is at most a bound."""
        fit = self._start()
        best = self._measure(fit)
        step = self._step(best.states)
        while step:
            trial = self._reduce(fit, best.states - step, _HOPE * bound)
            measured = self._measure(trial)
            if measured.divergence <= bound:
                fit, best = trial, measured
                step = self._step(best.states)
            else:
                step //= 2
        return best

    @staticmethod
    def _step(size: int) -> int:
        return min(size - 1, max(1, int(_STEP * size)))

    def _start(self) -> Fit:
        """Return the original; if it is large, with nearly equal states merged."""
        states = self._original.states
        if len(states.rows) <= MOST_COMPARED:
            return Fit(states, 0.0)
        classes = state_classes(self._original.pdfa_of(states), equivalence=Quantization(_KAPPA))
        return Fit(merge_classes(states, classes), inf)

    def _measure(self, fit: Fit) -> Simplified:
        """Return a PDFA with its exact divergence; the quotient if nothing was merged."""
        pdfa = self._exact
        if len(fit.states.rows) < len(self._exact):
            pdfa = self._original.pdfa_of(fit.states)
        value = directed_divergence(self._given, pdfa).per_symbol
        return Simplified(len(pdfa), pdfa, value)

    def _reduce(self, fit: Fit, size: int, most: float = inf) -> Fit:
        """Reduce to a size, move transitions, and go through cycles while that helps.

        There are no cycles where more than ``most`` is lost.
        """
        if len(fit.states.rows) <= size:
            return fit
        fit = self._down(fit, size)
        small = 1 < size <= _SMALL and self._original.work <= _TRIALS
        for _ in range(_CYCLES if small and fit.loss <= most else 0):
            wider = split_states(self._original, fit, max(1, int(_SPLIT * size)))
            better = self._down(polish(self._original, wider), size)
            if better.loss >= 0.999 * fit.loss:
                return fit
            fit = better
        return fit

    def _down(self, fit: Fit, size: int) -> Fit:
        """Merge states down to a size and polish what is left."""
        for most in (FEW, size):
            tries = int(min(_TRIALS / self._original.work, _TRIES))
            if len(fit.states.rows) > most >= size:
                (found,) = reduce_states(fit.states, [most], self._original.refit, tries=tries)
                fit = Fit(*found)
        if isinf(fit.loss):
            fit = Fit(*self._original.fit_states(fit.states))
        return polish(self._original, fit)
