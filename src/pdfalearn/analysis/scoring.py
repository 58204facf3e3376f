"""How likely an automaton finds words: scores of corpora, surprisals, and their entropy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from math import exp, nan

import numpy as np
from scipy.special import entr

from pdfalearn.alphabet import Symbol, Word
from pdfalearn.analysis.expectations import scope_of
from pdfalearn.chains import Reached, Side, minus_logs, normalise_rows, visits_and_weights
from pdfalearn.checks import check_number
from pdfalearn.corpora import (
    Corpus,
    CorpusLike,
    Others,
    RecordedWords,
    Scheduler,
    as_corpus,
    map_parts,
)
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import Frontier, TableValue
from pdfalearn.text import count_text
from pdfalearn.typing import Codes, Floats
from pdfalearn.words import Words, visited_states

# At most this many words of an iterator are kept at once.
_BATCH = 2**12
# The impossible step is kept for at most this many words, and the unknown event for as many.
_SHOWN = 100
_SHOWN_EVENTS = 10
# The probability of an unknown event if nobody gives another.
OTHER = 1e-6


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
    >>> print(found)
    2 words, 3 symbols: perplexity 1.51572, log-probability -2.07944; 0 words impossible
    """

    words: int
    symbols: int
    """Of all words, terminals not counted."""
    impossible: int
    """How many words have probability 0; all that follows is about the others."""
    log_probability: float
    """The sum over the possible words."""
    positions: int
    """The symbols of the possible words, terminals counted; a word that was cut has none."""
    first_impossible: tuple[ImpossibleWord, ...]
    """The first hundred of the impossible words."""
    unknown: int = 0
    """How many events the automaton does not have, each with the probability ``other``."""
    unknown_events: tuple[tuple[Symbol, int], ...] = ()
    """The commonest ten of them, with how often they occur."""
    other: float = OTHER
    """The probability of an unknown event."""
    cut: int = 0
    """How many words were marked as cut, so that their end does not count."""
    left_out: int = 0
    """How many lines, cases or events could not be read."""

    def __str__(self) -> str:
        return (
            f"{count_text(self.words, 'words')}, {count_text(self.symbols, 'symbols')}: perplexity "
            f"{self.perplexity:.6g}, log-probability {self.log_probability:.6g}; "
            f"{count_text(self.impossible, 'words')} impossible"
        )

    @property
    def perplexity(self) -> float:
        """The exponential of a symbol's mean surprise, terminals counted; NaN if there is none."""
        return exp(-self.log_probability / self.positions) if self.positions else nan

    @property
    def surprisal(self) -> float:
        """The mean of -ln P of a word; NaN without possible words."""
        possible = self.words - self.impossible
        return -self.log_probability / possible if possible else nan


def score(
    pdfa: PDFA | Frontier,
    words: CorpusLike,
    *,
    other: float = OTHER,
    processes: int = 1,
    scheduler: Scheduler | None = None,
) -> Score:
    """Score a corpus of any size; words are read and forgotten, a batch at a time.

    Parameters
    ----------
    pdfa : PDFA or Frontier
        The automaton, of a frontier the best. Its rows are divided by their sums.
    words : Corpus, or what it is made of
        A corpus, the name of a file, or the words themselves, which may come from a generator.
    other : float
        The probability of an event that the automaton does not have. The automaton stays where it
        is, and the probabilities of other events stay what they are; with 0, the word is
        impossible.
    processes : int
        How many processes read the corpus, by its files and by parts of plain files.
    scheduler : str or distributed.Client, optional
        Read the corpus in the workers of a Dask cluster instead.

    Raises
    ------
    FileFormatError
        If a file cannot be read, with the line.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = score(figure_1(), ["a", "aa", ""])
    >>> result.words, result.impossible, result.first_impossible[0].symbol
    (3, 1, '$')
    >>> round(result.log_probability, 6), round(result.perplexity, 6)
    (-2.079442, 1.515717)
    >>> score(figure_1(), ["ab", "a"], other=0.01).unknown_events
    (('b', 1),)
    """
    pdfa = check_pdfa(pdfa.best if isinstance(pdfa, Frontier) else pdfa, "pdfa")
    other = check_number(other, "other", 0, 1)
    scoring = _Scoring(pdfa, other)
    if isinstance(words, Iterator):
        tally = _Tally()
        while batch := list(islice(words, _BATCH)):
            tally.add(scoring(Corpus(batch)))
    else:
        tally, *rest = map_parts(scoring, as_corpus(words), processes, scheduler)
        for part in rest:
            tally.add(part)
    return tally.make_score(other)


_COUNTS = ("words", "symbols", "impossible", "positions", "cut", "left_out")


@dataclass
class _Tally:
    """What was found in words so far."""

    words: int = 0
    symbols: int = 0
    impossible: int = 0
    surprisal: float = 0.0
    positions: int = 0
    cut: int = 0
    left_out: int = 0
    shown: tuple[ImpossibleWord, ...] = ()
    others: Others = field(default_factory=Others)

    def add(self, part: _Tally) -> None:
        """Add what was found in the words that follow."""
        later = [replace(one, number=one.number + self.words) for one in part.shown]
        self.shown = (*self.shown, *later)[:_SHOWN]
        for name in ("surprisal", *_COUNTS):
            setattr(self, name, getattr(self, name) + getattr(part, name))
        self.others.join(part.others)

    def make_score(self, other: float) -> Score:
        """Return what was found."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        return Score(
            **counts,
            log_probability=0.0 - self.surprisal,
            first_impossible=self.shown,
            unknown=self.others.total,
            unknown_events=tuple(self.others.counts.most_common(_SHOWN_EVENTS)),
            other=other,
        )


class _Scoring:
    """Scores the words of a part of a corpus."""

    def __init__(self, pdfa: PDFA, other: float) -> None:
        self.pdfa, self.other = pdfa, other

    def __call__(self, corpus: Corpus) -> _Tally:
        """Return what is found in all words of the part."""
        pdfa, tally = self.pdfa, _Tally()
        steps = Steps(pdfa, self.other)
        for part in corpus.read(pdfa.alphabet, tally.others):
            if len(part.words):
                steps.note(part, tally)
        tally.left_out = corpus.left_out
        return tally


class Steps:
    """The surprise of every step of an automaton, and of unknown events."""

    def __init__(self, pdfa: PDFA, other: float) -> None:
        self._initial = pdfa.initial
        self.names = (pdfa.terminal, *pdfa.alphabet.symbols, "(unknown)")
        # A last column stands for unknown events, after which the state is the same.
        stay = np.append(np.arange(len(pdfa), dtype=np.int32), np.int32(-1))
        self._table = np.column_stack((pdfa.table, stay))
        costs = minus_logs(Side(pdfa).rows)
        self._costs = np.column_stack((costs, np.full(len(costs), minus_logs(np.array(other)))))

    def surprisals(self, words: Words) -> tuple[Floats, Codes]:
        """Return the surprise of every symbol and end of words, and the columns they are in."""
        columns = words.next_columns()
        states = visited_states(self._table, self._initial, words)
        places = states * np.int64(self._costs.shape[1]) + columns
        return self._costs.reshape(-1)[places], columns

    def note(self, part: RecordedWords, tally: _Tally) -> None:
        """Add what is found in some words."""
        words, is_cut = part
        values, columns = self.surprisals(words)
        values[words.ends[is_cut]] = 0.0
        # Every word has a value more than symbols: that of its end.
        begins = words.offsets[:-1] + np.arange(len(words))
        sums = np.add.reduceat(values, begins)
        possible = np.isfinite(sums)
        found = []
        for place in np.flatnonzero(~possible)[:_SHOWN].tolist():
            begin, length = int(begins[place]), int(words.lengths[place])
            position = int(np.isinf(values[begin : begin + length + 1]).argmax())
            found.append(ImpossibleWord(place + 1, position, self.names[columns[begin + position]]))
        tally.add(
            _Tally(
                words=len(words),
                symbols=len(words.symbols),
                impossible=int((~possible).sum()),
                surprisal=float(sums[possible].sum()),
                positions=int(words.lengths[possible].sum() + (possible & ~is_cut).sum()),
                cut=int(is_cut.sum()),
                shown=tuple(found),
            )
        )


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
    words = pdfa.alphabet.encode_words([word])
    values, _ = Steps(pdfa, OTHER).surprisals(words)
    impossible = np.cumsum(np.isinf(values)) > 0
    return np.where(impossible, np.inf, values)


def surprisals_of(
    pdfa: PDFA, corpus: Corpus, place: int, *, other: float = OTHER
) -> tuple[list[Symbol], list[float]] | None:
    """Return the symbols of a word of a corpus, with its end, and their surprises.

    None if there is no such word; a word that was cut has no end.
    """
    steps = Steps(pdfa, other)
    for words, is_cut in corpus.read(pdfa.alphabet, Others()):
        if place < len(words):
            values, columns = steps.surprisals(words.part(place, place + 1))
            impossible = np.cumsum(np.isinf(values)) > 0
            count = len(values) - int(is_cut[place])
            symbols = [steps.names[column] for column in columns[:count].tolist()]
            return symbols, np.where(impossible, np.inf, values)[:count].tolist()
        place -= len(words)
    return None


@dataclass(frozen=True, eq=False)
class Entropy(TableValue):
    """The entropy of words drawn from an automaton, in nats.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = entropy(figure_1())
    >>> round(found.per_word, 6), found.by_state.round(6).tolist(), found.endless_states
    (1.386294, [0.0, 0.693147], ())
    """

    per_word: float
    """E -ln P(w); infinite if words may go on being uncertain without end."""
    per_symbol: float
    """``per_word`` divided by the expected length + 1, or the long-run rate of endless words."""
    by_state: Floats
    """The entropy of every state's own row."""
    endless_states: tuple[int, ...]
    """The states from which no word ends."""
    about: str
    """Of what the figures are exact; of a frontier's automaton how near that is, too."""

    @property
    def statement(self) -> str:
        """Of what the figures are exact."""
        return self.about

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return the entropy per word and per symbol."""
        figures = {"per word": f"{self.per_word:.6g}", "per symbol": f"{self.per_symbol:.6g}"}
        return [[("entropy in nats", ""), *figures.items()]]


def entropy(pdfa: PDFA | Frontier) -> Entropy:
    """Compute the entropy of an automaton's words, per word and per symbol.

    Parameters
    ----------
    pdfa : PDFA or Frontier
        The automaton, or a frontier for its best one. Rows are divided by their sums.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = entropy(figure_1())
    >>> round(result.per_word, 6), round(result.per_symbol, 6)
    (1.386294, 0.462098)
    """
    pdfa, scope = scope_of(pdfa)
    by_state = np.asarray(entr(normalise_rows(pdfa.probabilities)).sum(axis=1))
    by_state.setflags(write=False)
    reached = Reached.of(pdfa)
    flow, entropies = reached.flow, by_state[reached.states]
    per_word = float(flow.values(entropies * flow.sums)[0])
    if flow.endless.any():
        per_symbol = float(visits_and_weights(flow)[1] @ entropies)
    else:
        per_symbol = per_word / float(flow.values(flow.sums)[0])
    return Entropy(per_word, per_symbol, by_state, reached.endless_states, scope)
