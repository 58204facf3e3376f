"""Scores of corpora of any size: how likely an automaton finds the words, and which it cannot."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import exp, nan

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.chains import minus_logs, normalise_rows
from pdfalearn.io import encode_lines
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.typing import Floats
from pdfalearn.words import Words, visited_states

_BATCH = 2**12
"""At most this many words are run through the automaton at once."""
_FEW = 64
"""At most this many words run faster one after the other than side by side."""
_SHOWN = 100
"""The impossible step is kept for at most this many words."""


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
    pdfa = checked_pdfa(pdfa, "pdfa")
    tally = _Tally(pdfa)
    for batch in _batches(words, pdfa.alphabet):
        tally.add(batch)
    return tally.score()


def surprisals(pdfa: PDFA, word: Word) -> Floats:
    """Return -ln of the probability of every symbol of a word, and of its end.

    It is infinite from an impossible symbol on.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> surprisals(figure_1(), "aa").round(3).tolist()
    [0.0, 0.693, 0.693]
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    values, _ = _surprisals(pdfa, minus_logs(_padded(pdfa)), pdfa.alphabet.encode_words([word]))
    impossible = np.cumsum(np.isinf(values)) > 0
    return np.where(impossible, np.inf, values)


def _padded(pdfa: PDFA) -> Floats:
    """Return normalised rows, and one more of zeros, for words that are undefined."""
    return np.concatenate(
        (normalise_rows(pdfa.probabilities), np.zeros((1, len(pdfa.alphabet) + 1)))
    )


def _surprisals(pdfa: PDFA, costs: Floats, words: Words) -> tuple[Floats, NDArray[np.int32]]:
    """Return the surprise of every symbol and end of many words, and the columns they are in."""
    columns = words.next_columns()
    return costs[visited_states(pdfa.table, pdfa.initial, words), columns], columns


class _Tally:
    """Adds up scores, batch by batch.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    """

    def __init__(self, pdfa: PDFA) -> None:
        self._pdfa = pdfa
        self._costs = minus_logs(_padded(pdfa))
        self._columns = _Columns(pdfa, self._costs)
        self._words = self._symbols = self._positions = self._impossible = 0
        self._surprisal = 0.0
        self._shown: list[ImpossibleWord] = []

    def add(self, words: Words) -> None:
        """Score a batch."""
        if not len(words):
            return
        sums = self._sums(words)
        possible = np.isfinite(sums)
        if not possible.all():
            self._note(words, np.flatnonzero(~possible))
        self._surprisal += float(sums[possible].sum())
        self._positions += int(words.lengths[possible].sum() + possible.sum())
        self._words += len(words)
        self._symbols += len(words.symbols)

    def score(self) -> Score:
        """Return what came together."""
        return Score(
            self._words,
            self._symbols,
            self._impossible,
            0.0 - self._surprisal,
            self._positions,
            tuple(self._shown),
        )

    def _sums(self, words: Words) -> Floats:
        """Return the surprise of every word; the few longest are run one after the other."""
        order = np.argsort(-words.lengths, kind="stable")
        long, others = order[:_FEW], order[_FEW:]
        sums = np.empty(len(words))
        few = words.take(long)
        values, _ = _surprisals(self._pdfa, self._costs, few)
        sums[long] = np.add.reduceat(values, few.offsets[:-1] + np.arange(len(few)))
        sums[others] = self._columns.sums(words, others)
        return sums

    def _note(self, words: Words, places: NDArray[np.intp]) -> None:
        """Keep the step at which words become impossible."""
        self._impossible += len(places)
        symbols = (self._pdfa.terminal, *self._pdfa.alphabet.symbols)
        for place in places[: _SHOWN - len(self._shown)].tolist():
            one = words.part(place, place + 1)
            values, columns = _surprisals(self._pdfa, self._costs, one)
            position = int(np.isinf(values).argmax())
            step = ImpossibleWord(self._words + place + 1, position, symbols[columns[position]])
            self._shown.append(step)


class _Columns:
    """Runs words side by side, a symbol of each at a time, and adds up as it goes.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    costs : array of float
        The surprises of its rows, and of one more for undefined words.
    """

    def __init__(self, pdfa: PDFA, costs: Floats) -> None:
        table = np.where(pdfa.table < 0, len(pdfa), pdfa.table)
        self._width = table.shape[1]
        wide = np.int64 if table.size >= 2**31 else np.int32
        # Where the rows of successors begin.
        self._successors = (table.astype(wide) * self._width).ravel()
        self._steps = np.ascontiguousarray(costs[:, 1:]).ravel()
        self._ends = costs[:, 0].copy()
        self._begin = pdfa.initial * self._width

    def sums(self, words: Words, places: NDArray[np.intp]) -> Floats:
        """Return the surprises of the words at some places, which are from the longest down."""
        begins, lengths = words.offsets[places], words.lengths[places]
        running = np.cumsum(np.bincount(lengths)[::-1])[::-1] if len(places) else np.zeros(1)
        states = np.full(len(places), self._begin, dtype=self._successors.dtype)
        sums = np.zeros(len(places))
        for position in range(len(running) - 1):
            active = slice(int(running[position + 1]))
            cells = states[active] + words.symbols[begins[active] + position]
            sums[active] += self._steps.take(cells)
            states[active] = self._successors.take(cells)
        return np.asarray(sums + self._ends[states // self._width])


def _batches(words: str | os.PathLike[str] | Iterable[Word], alphabet: Alphabet) -> Iterator[Words]:
    if isinstance(words, str | os.PathLike):
        yield from encode_lines(words, alphabet, _BATCH)
        return
    alphabet.check_batch(words)
    rest = iter(words)
    while batch := list(islice(rest, _BATCH)):
        yield alphabet.encode_words(batch)
