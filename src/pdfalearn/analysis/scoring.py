"""How likely an automaton finds words: scores of corpora, and of a sequence as it goes on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import exp, inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.chains import Side, minus_logs, normalise_rows
from pdfalearn.io import encode_lines
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Floats
from pdfalearn.words import Words, visited_states

# At most this many words are run through the automaton at once.
_BATCH = 2**12
# The impossible step is kept for at most this many words.
_SHOWN = 100


@dataclass(frozen=True)
class ImpossibleWord:
    """A word of probability 0, and the step at which it becomes so.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> score(figure_1(), ["a", ""]).first_impossible
    (ImpossibleWord(number=2, position=0, symbol='$'),)
    """

    number: int
    """Its place in the corpus, or its line in the file; the first is 1."""
    position: int
    """How many symbols come before the step."""
    symbol: Symbol
    """The symbol that is impossible there; it may be the terminal."""


@dataclass(frozen=True)
class Score:
    """How likely an automaton finds the words of a corpus, in nats.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = score(figure_1(), ["a", "aa"])
    >>> found.words, found.symbols, found.positions, round(found.surprisal, 6)
    (2, 3, 5, 1.039721)
    """

    words: int
    symbols: int
    """Of all words, terminals not counted."""
    impossible: int
    """How many words have probability 0; all that follows is about the others."""
    log_probability: float
    """The sum over the possible words."""
    positions: int
    """The symbols of the possible words, terminals counted."""
    first_impossible: tuple[ImpossibleWord, ...]
    """The first hundred of the impossible words."""

    @property
    def perplexity(self) -> float:
        """The exponential of a symbol's mean surprise, terminals counted; NaN if there is none."""
        return exp(-self.log_probability / self.positions) if self.positions else nan

    @property
    def surprisal(self) -> float:
        """The mean of -ln P of a word; NaN without possible words."""
        possible = self.words - self.impossible
        return -self.log_probability / possible if possible else nan


def score(pdfa: PDFA, words: str | os.PathLike[str] | Iterable[Word]) -> Score:
    """Score a corpus of any size; words are read and forgotten, a batch at a time.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.
    words : str, os.PathLike, or iterable of words
        A file with one word a line, as ``pdfalearn sample`` prints them, or the words themselves,
        which may come from a generator.

    Raises
    ------
    InputError
        If a word has a symbol that the automaton has not; of a file, `FileFormatError` with the
        line and the symbol.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = score(figure_1(), ["a", "aa", ""])
    >>> result.words, result.impossible, result.first_impossible[0].symbol
    (3, 1, '$')
    >>> round(result.log_probability, 6), round(result.perplexity, 6)
    (-2.079442, 1.515717)
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    costs, names = minus_logs(Side(pdfa).rows), (pdfa.terminal, *pdfa.alphabet.symbols)
    count = symbols = impossible = positions = 0
    surprisal = 0.0
    shown: list[ImpossibleWord] = []
    for batch in _batches(words, pdfa.alphabet):
        if not len(batch):
            continue
        values, columns = _surprisals(pdfa, costs, batch)
        # Every word has a value more than symbols: that of its end.
        begins = batch.offsets[:-1] + np.arange(len(batch))
        sums = np.add.reduceat(values, begins)
        possible = np.isfinite(sums)
        for place in np.flatnonzero(~possible)[: _SHOWN - len(shown)].tolist():
            begin, length = int(begins[place]), int(batch.lengths[place])
            position = int(np.isinf(values[begin : begin + length + 1]).argmax())
            symbol = names[columns[begin + position]]
            shown.append(ImpossibleWord(count + place + 1, position, symbol))
        impossible += int((~possible).sum())
        surprisal += float(sums[possible].sum())
        positions += int(batch.lengths[possible].sum() + possible.sum())
        count += len(batch)
        symbols += len(batch.symbols)
    return Score(count, symbols, impossible, 0.0 - surprisal, positions, tuple(shown))


def surprisals(pdfa: PDFA, word: Word) -> Floats:
    """Return -ln of the probability of every symbol of a word, and of its end.

    It is infinite from an impossible symbol on.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> surprisals(figure_1(), "aa").round(3).tolist()
    [0.0, 0.693, 0.693]
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    values, _ = _surprisals(pdfa, minus_logs(Side(pdfa).rows), pdfa.alphabet.encode_words([word]))
    impossible = np.cumsum(np.isinf(values)) > 0
    return np.where(impossible, np.inf, values)


def _surprisals(pdfa: PDFA, costs: Floats, words: Words) -> tuple[Floats, NDArray[np.int32]]:
    """Return the surprise of every symbol and end of many words, and the columns they are in."""
    columns = words.next_columns()
    return costs[visited_states(pdfa.table, pdfa.initial, words), columns], columns


def _batches(words: str | os.PathLike[str] | Iterable[Word], alphabet: Alphabet) -> Iterator[Words]:
    if isinstance(words, str | os.PathLike):
        yield from encode_lines(words, alphabet, _BATCH)
        return
    alphabet.check_batch(words)
    rest = iter(words)
    while batch := list(islice(rest, _BATCH)):
        yield alphabet.encode_words(batch)


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
        self._pdfa = check_pdfa(pdfa, "pdfa")
        rows = normalise_rows(pdfa.probabilities)
        self._costs = minus_logs(rows)
        self._means = entr(rows).sum(axis=1)
        # A state's expected surprise is its entropy; the variance is that of the surprise.
        gaps = np.where(rows > 0, self._costs - self._means[:, None], 0.0)
        self._variances = (rows * gaps**2).sum(axis=1)
        self.reset()

    def reset(self) -> None:
        """Begin again in the initial state, with nothing observed."""
        self.state: int | None = self._pdfa.initial
        """The state that the sequence has led to; None if it is lost."""
        self.observed = 0
        """How many symbols were observed, terminals counted."""
        self.surprisal = 0.0
        """The sum of all surprises, in nats."""
        self.expected = 0.0
        """The sum of what was expected of them."""
        self._variance = 0.0

    @property
    def is_lost(self) -> bool:
        """Whether something impossible was observed; only `reset` helps."""
        return self.state is None

    @property
    def deviation(self) -> float:
        """By how many standard deviations the sequence is more surprising than expected."""
        if self.surprisal == inf:
            return inf
        if self._variance == 0:
            return 0.0
        return (self.surprisal - self.expected) / sqrt(self._variance)

    def observe(self, symbol: Symbol) -> float:
        """Take the next symbol, or the terminal, and return its surprise.

        Raises
        ------
        InputError
            If the automaton has no such symbol.
        """
        pdfa = self._pdfa
        column = 0 if symbol == pdfa.terminal else pdfa.alphabet.index(symbol) + 1
        self.observed += 1
        if self.state is None:
            return inf
        state, cost = self.state, float(self._costs[self.state, column])
        self.surprisal += cost
        self.expected += float(self._means[state])
        self._variance += float(self._variances[state])
        if cost == inf:
            self.state = None
        else:
            self.state = pdfa.initial if column == 0 else int(pdfa.transitions[state, column - 1])
        return cost
