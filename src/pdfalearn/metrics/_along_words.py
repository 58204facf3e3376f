"""What models say along words, and how often each pair of their distributions comes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import IntMap
from pdfalearn.equivalence import Equivalence, Exact, Tolerance
from pdfalearn.errors import InputError
from pdfalearn.metrics.distributions import figures_of, rows_at_once
from pdfalearn.models import AutomatonModel, LanguageModel
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.samplers import model_words
from pdfalearn.text import described
from pdfalearn.typing import Codes, Floats
from pdfalearn.words import Words, draw_words, visited_states

_MOST_PREFIXES = 2**20
"""At most this many prefixes of words are asked for at once."""
_PART = 2**15
"""At most this many prefixes are counted together."""


class Run:
    """A PDFA: the number of a distribution is that of a state."""

    def __init__(self, pdfa: PDFA) -> None:
        self._pdfa = pdfa

    @property
    def rows(self) -> Floats:
        """The distributions, by their numbers."""
        return self._pdfa.probabilities

    def draw_words(self, count: int, max_length: int, random: np.random.Generator) -> Words:
        """Draw words; those that do not end are cut at the length."""
        pdfa = self._pdfa
        rows, start = pdfa.probabilities, pdfa.initial
        return draw_words(pdfa.table, rows, start, count, max_length, random)[0]

    def numbers_along(self, words: Words) -> Codes:
        """Return the number of the distribution after every prefix of every word.

        Word ``i`` of length k has k + 1 entries, the first of them at ``offsets[i] + i``; -1
        where the prefix is undefined. Numbers are places in `rows`.
        """
        return visited_states(self._pdfa.table, self._pdfa.initial, words)


class Asked:
    """A language model and all that it has said so far.

    An observation tree asks it, which checks its answers and keeps to its room.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._tree = ObservationTree(model, Exact())

    @property
    def rows(self) -> Floats:
        """The different distributions seen so far, by their numbers."""
        return self._tree.answers.rows(np.arange(self._tree.answers.size)).to_dense()

    def draw_words(self, count: int, max_length: int, random: np.random.Generator) -> Words:
        """Draw words; those that do not end are cut at the length."""
        return model_words(count, max_length, self._tree, random)

    def numbers_along(self, words: Words) -> Codes:
        """Return what `Run.numbers_along` does, after asking for what is not known yet."""
        parts = [words.part(begin, end) for begin, end in words.parts(_MOST_PREFIXES)]
        nodes = np.concatenate([self._tree.ask_path(part) for part in parts])
        is_defined = self._tree.nodes.classes[nodes] >= 0
        return np.where(is_defined, self._tree.nodes.rows[nodes], np.int32(-1))

    def close(self) -> None:
        """End the conversation with the model."""
        self._tree.close()


@contextmanager
def asking(model: PDFA | LanguageModel) -> Iterator[Run | Asked]:
    """Run a PDFA, or ask a model, with which the conversation ends here."""
    if type(model) is AutomatonModel:  # a class of its own may answer otherwise
        model = model.pdfa
    if isinstance(model, PDFA):
        yield Run(model)
        return
    asked = Asked(model)
    try:
        yield asked
    finally:
        asked.close()


def check_model(model: object) -> None:
    """Refuse what is not a language model."""
    if isinstance(model, PDFA | LanguageModel):
        return
    remedy = "a function becomes one by FunctionModel(function, alphabet)"
    if not callable(model) or isinstance(model, type):
        remedy = pdfa_remedy(model)
    raise InputError(f"{described(model)} is neither a PDFA nor a LanguageModel; {remedy}")


class Rows:
    """Distributions by their numbers, of which -1 stands for undefined.

    Parameters
    ----------
    table : array of float, shape (count, symbols + 1)
        The distributions.
    codes : array of int, optional
        For each symbol its place in the table's order, if that is another one.
    """

    def __init__(self, table: Floats, codes: NDArray[np.int32] | None = None) -> None:
        self._table = table
        self._columns: NDArray[np.int32] | None = None
        if codes is not None and (codes != np.arange(len(codes))).any():
            self._columns = np.append(np.int32(0), codes + np.int32(1))

    def __len__(self) -> int:
        return len(self._table)

    @property
    def width(self) -> int:
        """The number of symbols, and one for the terminal."""
        return int(self._table.shape[1])

    def at(self, numbers: NDArray[np.integer]) -> Floats:
        """Return the distributions of numbers; NaN where undefined."""
        rows = self._table.take(numbers, axis=0)
        if self._columns is not None:
            rows = rows.take(self._columns, axis=1)
        rows[numbers < 0] = np.nan
        return rows

    def logs_at(self, numbers: Codes, columns: NDArray[np.int32]) -> Floats:
        """Return the logarithm of one probability of each distribution; -inf where undefined."""
        if self._columns is not None:
            columns = self._columns[columns]
        values = self._table[numbers, columns]
        values[numbers < 0] = 0.0
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(values))


class Tally:
    """The different pairs of distributions, and how often each has come.

    Parameters
    ----------
    rows, other_rows : Rows
        The distributions of the two models.
    """

    def __init__(self, rows: Rows, other_rows: Rows) -> None:
        self._rows, self._other_rows = rows, other_rows
        self._numbers = IntMap()
        self._pairs: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.over_prefixes: Floats = np.empty(0)
        """How often each pair came after a prefix."""
        self.over_words: Floats = np.empty(0)
        """How often each pair came after a whole word."""

    def add_all(self, words: Words, numbers: Codes, others: Codes) -> tuple[Floats, Floats]:
        """Count the pairs after all prefixes of words.

        Parameters
        ----------
        words : Words
            The words.
        numbers, others : array of int
            The number of the distribution after every prefix; each word's begin at
            ``offsets[i] + i``.

        Returns
        -------
        logs, other_logs : array of float, shape (len(words),)
            The logarithms of the probabilities of whole words.
        """
        logs, other_logs = np.empty(len(words)), np.empty(len(words))
        for begin, end in words.parts(_PART):
            part = words.part(begin, end)
            here = slice(int(words.offsets[begin]) + begin, int(words.offsets[end]) + end)
            self._add(part, numbers[here], others[here])
            columns = part.next_columns()
            begins = part.offsets[:-1] + np.arange(len(part))
            for rows, found, sums in (
                (self._rows, numbers[here], logs),
                (self._other_rows, others[here], other_logs),
            ):
                sums[begin:end] = np.add.reduceat(rows.logs_at(found, columns), begins)
        return logs, other_logs

    def _add(self, words: Words, numbers: Codes, others: Codes) -> None:
        codes = (numbers.astype(np.int64) + 1) * (len(self._other_rows) + 1) + others + 1
        known = len(self._numbers)
        places = self._numbers.get_or_add(codes)
        size = len(self._numbers)
        pairs = np.empty(size, dtype=np.int64)
        pairs[:known] = self._pairs
        pairs[places] = codes
        self._pairs = pairs
        self.over_prefixes = _add_counts(self.over_prefixes, places, size)
        self.over_words = _add_counts(self.over_words, places[words.ends], size)

    def figures(self, equivalence: Equivalence | Tolerance, k: int) -> Floats:
        """Measure every pair, as `figures_of` does."""
        figures = np.empty((len(self._pairs), 6))
        part = rows_at_once(self._rows.width)
        for begin in range(0, len(figures), part):
            lefts, rights = np.divmod(self._pairs[begin : begin + part], len(self._other_rows) + 1)
            rows, others = self._rows.at(lefts - 1), self._other_rows.at(rights - 1)
            figures[begin : begin + part] = figures_of(rows, others, equivalence, k)
        return figures


def _add_counts(before: Floats, places: NDArray[np.int64], size: int) -> Floats:
    """Add to counts how often each place is there."""
    counts = np.bincount(places, minlength=size).astype(np.float64)
    counts[: len(before)] += before
    return counts
