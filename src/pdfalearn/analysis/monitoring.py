"""Follow a running sequence, and report how unlikely it has become."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from scipy.special import entr

from pdfalearn.alphabet import Symbol
from pdfalearn.chains import minus_logs, normalise_rows
from pdfalearn.pdfa import PDFA, checked_pdfa


class Monitor:
    """Follows a sequence of symbols through an automaton, in constant time a symbol.

    Parameters
    ----------
    pdfa : PDFA
        What is usual. Its rows are divided by their sums.

    Notes
    -----
    Every symbol has a surprise, -ln of its probability. What a state expects of the next one, and
    its variance, are known exactly. ``deviation`` is the sum of the surprises minus that of the
    expectations, over the root of the summed variances: it stays within a few units of 0 as long as
    the sequence comes from the automaton, however long it is.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> monitor = Monitor(figure_1())
    >>> [round(monitor.observe("a"), 3) for _ in range(3)]
    [0.0, 0.693, 0.693]
    >>> monitor.deviation, monitor.is_lost
    (0.0, False)
    >>> monitor.observe("$")  # the end of a word: the next one begins in the initial state
    0.6931471805599453
    """

    def __init__(self, pdfa: PDFA) -> None:
        self._pdfa = checked_pdfa(pdfa, "pdfa")
        rows = normalise_rows(pdfa.probabilities)
        self._costs = minus_logs(rows)
        self._means = entr(rows).sum(axis=1)
        gaps = np.where(rows > 0, self._costs - self._means[:, None], 0.0)
        self._variances = (rows * gaps**2).sum(axis=1)
        self.reset()

    def reset(self) -> None:
        """Begin again in the initial state, with nothing observed."""
        self._state: int | None = self._pdfa.initial
        self._observed = 0
        self._surprisal = self._expected = self._variance = 0.0

    @property
    def state(self) -> int | None:
        """The state that the sequence has led to; None if it is lost."""
        return self._state

    @property
    def is_lost(self) -> bool:
        """Whether something impossible was observed; only `reset` helps."""
        return self._state is None

    @property
    def observed(self) -> int:
        """How many symbols were observed, terminals counted."""
        return self._observed

    @property
    def surprisal(self) -> float:
        """The sum of all surprises, in nats."""
        return self._surprisal

    @property
    def expected(self) -> float:
        """The sum of what was expected of them."""
        return self._expected

    @property
    def deviation(self) -> float:
        """By how many standard deviations the sequence is more surprising than expected."""
        if self._surprisal == inf:
            return inf
        if self._variance == 0:
            return 0.0
        return (self._surprisal - self._expected) / sqrt(self._variance)

    def observe(self, symbol: Symbol) -> float:
        """Take the next symbol, or the terminal, and return its surprise.

        Raises
        ------
        InputError
            If the automaton has no such symbol.
        """
        pdfa = self._pdfa
        column = 0 if symbol == pdfa.terminal else pdfa.alphabet.index(symbol) + 1
        self._observed += 1
        if self._state is None:
            return inf
        state, cost = self._state, float(self._costs[self._state, column])
        self._surprisal += cost
        self._expected += float(self._means[state])
        self._variance += float(self._variances[state])
        if cost == inf:
            self._state = None
        else:
            self._state = pdfa.initial if column == 0 else int(pdfa.transitions[state, column - 1])
        return cost
