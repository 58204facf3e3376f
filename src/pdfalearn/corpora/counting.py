"""How often the words of a corpus take each step of an automaton."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from pdfalearn.alphabet import Symbol, shorten
from pdfalearn.corpora.corpus import Corpus, CorpusLike, as_corpus
from pdfalearn.corpora.dividing import Scheduler, map_parts
from pdfalearn.corpora.symbol_codes import Others, RecordedWords
from pdfalearn.errors import InputError
from pdfalearn.frozen import ArrayValue
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Floats
from pdfalearn.words import prefixes_of, visited_states

_SHOWN_EVENTS = 10


@dataclass(frozen=True, eq=False, repr=False)
class StepCounts(ArrayValue):
    """How often words take each step of an automaton.

    Parameters
    ----------
    table : array of float, one row a state
        How often words end there, then how often they go on with each symbol.
    words, symbols : int
        How many there are; symbols after an unknown event do not count.
    cut : int
        How many words have not ended: they were marked so, or were cut at an unknown event.
    unknown : int
        How many events the automaton does not have.
    unknown_events : tuple of (symbol, int)
        The commonest ten of them, with how often they occur.
    left_out : int
        How many lines, cases or events could not be read.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> count_steps(figure_1(), ["a", "aab", ""])
    StepCounts(3 words, 3 symbols, 1 cut, 1 unknown events)
    """

    table: Floats
    words: int
    symbols: int
    cut: int
    unknown: int
    unknown_events: tuple[tuple[Symbol, int], ...]
    left_out: int

    def __repr__(self) -> str:
        texts = [f"{self.words:,} words", f"{self.symbols:,} symbols", f"{self.cut:,} cut"]
        return f"StepCounts({', '.join(texts)}, {self.unknown:,} unknown events)"


def count_steps(
    pdfa: PDFA,
    words: CorpusLike,
    *,
    processes: int = 1,
    scheduler: Scheduler | None = None,
) -> StepCounts:
    """Count the steps that words take in an automaton, in bounded memory.

    A word is cut at the first event that the automaton does not have: what comes before counts,
    and neither the rest nor the end.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    words : Corpus, or what it is made of
        The words.
    processes, scheduler
        Who reads the corpus, as for `pdfalearn.score`.

    Raises
    ------
    InputError
        If a word is undefined in the automaton.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> count_steps(figure_1(), ["a", "aa"]).table.tolist()
    [[0.0, 2.0], [2.0, 1.0]]
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    first, *rest = map_parts(partial(_count_part, pdfa), as_corpus(words), processes, scheduler)
    for tally in rest:
        first.add(tally)
    return first.counts


class _Tally:
    """Counts so far."""

    def __init__(self, states: int, columns: int) -> None:
        self._table = np.zeros((states, columns))
        self.words = self.symbols = self.cut = self.left_out = 0
        self.others = Others()

    def add(self, tally: _Tally) -> None:
        """Add other counts."""
        self._table += tally._table
        for name in ("words", "symbols", "cut", "left_out"):
            setattr(self, name, getattr(self, name) + getattr(tally, name))
        self.others.join(tally.others)

    def note(self, pdfa: PDFA, part: RecordedWords) -> None:
        """Add the steps of some words."""
        words, is_cut = part
        states = visited_states(pdfa.table, pdfa.initial, words)
        undefined = states[words.ends] < 0
        if undefined.any():
            word = shorten(pdfa.alphabet.decode(words[int(undefined.argmax())]))
            raise InputError(f"the word {word} is undefined in the automaton; leave it out")
        has_step = np.ones(len(states), dtype=bool)
        has_step[words.ends[is_cut]] = False
        steps = states * np.int64(self._table.shape[1]) + words.next_columns()
        counts = np.bincount(steps[has_step], minlength=self._table.size)
        self._table += counts.reshape(self._table.shape)
        self.words += len(words)
        self.symbols += len(words.symbols)
        self.cut += int(is_cut.sum())

    @property
    def counts(self) -> StepCounts:
        """The counts as a value."""
        return StepCounts(
            self._table,
            self.words,
            self.symbols,
            self.cut,
            self.others.total,
            tuple(self.others.counts.most_common(_SHOWN_EVENTS)),
            self.left_out,
        )


def _count_part(pdfa: PDFA, corpus: Corpus) -> _Tally:
    """Count the steps of the words of a part of a corpus, each cut at its first unknown event."""
    tally = _Tally(*pdfa.probabilities.shape)
    for part in corpus.read(pdfa.alphabet, tally.others):
        tally.note(pdfa, cut_at_unknown(part, len(pdfa.alphabet)))
    tally.left_out = corpus.left_out
    return tally


def cut_at_unknown(part: RecordedWords, size: int) -> RecordedWords:
    """Cut words at the first event that has the code of unknown ones, the alphabet's size."""
    words, is_cut = part
    where = np.flatnonzero(words.symbols == size)
    if not len(where):
        return part
    owners = np.searchsorted(words.offsets, where, side="right") - 1
    first_owners, firsts = np.unique(owners, return_index=True)
    lengths = words.lengths.copy()
    lengths[first_owners] = where[firsts] - words.offsets[first_owners]
    is_cut = is_cut.copy()
    is_cut[first_owners] = True
    return RecordedWords(prefixes_of(words, np.arange(len(words)), lengths), is_cut)
