"""Try a model against all that the protocol asks of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from pdfalearn.checks import check_integer, check_number, make_generator
from pdfalearn.errors import ModelError
from pdfalearn.models import LanguageModel, as_model, check_members
from pdfalearn.pdfa import PDFA
from pdfalearn.testing._runs import Answer, Run, Word, column_name, word_name

# On average over all words and trials, a word is asked at most this many times.
_TIMES = 7
_BATCH = 7
_FEW = 3
# How many times as long as the others one word is.
_LONGER = 4
# The share of symbols that are drawn from the model; the others are any symbols.
_LIKELY = 0.7
_TRIES = 8

_CHANCE = "an answer must not depend on chance (is there dropout in it?)"
_SAME = (
    "an answer must not depend on the other words of a batch, on what was asked before, or on "
    "chance; if it is only rounding, give a larger tolerance"
)
_FRESH = (
    "what a model keeps is a cache only, so compute again what it does not know (batch.reaching "
    "adds the words that are missing)"
)
_WANTED = (
    "ids are numbers of this run only, and rows belong to the wanted words (batch.words, "
    "batch.wanted_ids), not to those on the way"
)
_APART = (
    "what changes belongs to what open returns, not to the model, as the ids of one run mean "
    "something else in another"
)


def check_model(
    model: LanguageModel | PDFA,
    *,
    words: int = 200,
    max_length: int = 8,
    seed: int = 0,
    tolerance: float = 1e-6,
) -> None:
    """Try a model against the protocol, and name the first thing that is wrong with it.

    Words are drawn along what the model says may follow, and a little beside that. Every batch is
    asked of a freshly opened model again; then words are asked for one by one and in other batches,
    under other ids, with other words on the way, and of two opened models by turns. The answers
    have to be distributions, and the same each time. A model that passes may still be wrong in
    what was not tried.

    Parameters
    ----------
    model : LanguageModel
        The model to try.
    words : int
        The most distributions that it is asked for, in all: this bounds what trying a model costs.
        About a seventh as many different words are tried.
    max_length : int
        The length of the words; one is four times as long.
    seed : int
        Seed of the words.
    tolerance : float
        By how much a probability may differ from one time to the next.

    Raises
    ------
    ModelError
        If anything is wrong. The message names the word, and what to do.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> def function(words):
    ...     return [[0.5, 0.5] if len(word) < 3 else [0.5, 0.4] for word in words]
    >>> check_model(FunctionModel(function, "a"))  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    pdfalearn.errors.ModelError: FunctionModel: the model's answer to the word ('a', 'a', 'a'):
    [0.5, 0.4] sums to 0.9, not to 1; return a distribution for each wanted word...
    """
    words = check_integer(words, "words", 2 * _TIMES)
    max_length = check_integer(max_length, "max_length", 1)
    tolerance = check_number(tolerance, "tolerance", 0, 1)
    random = make_generator(seed)
    if not isinstance(model, LanguageModel):
        model = as_model(model)
    before = _check_members(model, _check_members(model))
    trials = _Trials(model, words // _TIMES, max_length, tolerance, random)
    trials.ask_first()
    trials.ask_again()
    trials.ask_in_other_batches()
    trials.ask_under_other_ids()
    trials.ask_by_turns()
    trials.ask_what_follows()
    _check_members(model, before)


def _check_members(model: LanguageModel, before: tuple[object, ...] = ()) -> tuple[object, ...]:
    """Return what a model says about itself; refuse something else than before."""
    members = check_members(model)
    for name, then, now in zip(members._fields, before, members, strict=False):
        if now != then:
            raise ModelError(
                f"{type(model).__name__}.{name} was {then!r} and is {now!r} now: it has to stay as "
                "it is as long as the model is there"
            )
    return members


class _Trials:
    """A model under trial, and what it answered first."""

    def __init__(
        self, model: LanguageModel, most: int, max_length: int, tolerance: float, random: Generator
    ) -> None:
        self._model = model
        self._alphabet = model.alphabet
        self._most = most
        self._max_length = max_length
        self._tolerance = tolerance
        self._random = random
        # Whether the model must not be asked beyond what is impossible.
        self._cautious = bool(model.needs_prefixes)
        # The words, as they were asked for first.
        self._batches: list[list[Word]] = []
        # The words in the order of their ids at that time.
        self._order: list[Word] = []
        # The first answer to each word.
        self._answers: dict[Word, Answer] = {}

    def ask_first(self) -> None:
        """Ask for words that get longer by a symbol a batch, for a long one, and for some twice."""
        last: list[Word] = [()]
        with Run(self._model) as run:
            for length in range(self._max_length + 1):
                self._answers |= run.ask(last)
                self._batches.append(last)
                left = max(0, self._most - 1 - len(self._answers))
                last = self._draw_longer(last, -(-left // max(1, self._max_length - length)))
                if not last:
                    break
            if not self._cautious:
                # Repeat the longest word that is defined until it has a length.
                defined = [word for word, answer in self._answers.items() if answer.row is not None]
                word, length = max(defined, key=len, default=()) or (0,), _LONGER * self._max_length
                self._batches.append([(word * -(-length // len(word)))[:length]])
                self._answers |= run.ask(self._batches[-1])
            self._check(self._answers)
            twice = min(self._batches[1:] or self._batches, key=len)
            self._compare(run.ask(twice), f"when asked twice: {_CHANCE}")
            self._order = list(run.ids)

    def _draw_longer(self, words: list[Word], most: int) -> list[Word]:
        """Draw new words that are longer by a symbol, most of them as the model says."""
        defined = [word for word in words if self._answers[word].row is not None]
        words = defined if self._cautious else words
        new: dict[Word, None] = {}
        for _ in range(_TRIES * most if words else 0):
            if len(new) >= most:
                break
            some = defined if defined and self._random.random() < _LIKELY else words
            word = some[self._random.integers(len(some))]
            row, _, impossible = self._answers[word]
            symbol = int(self._random.integers(len(impossible)))
            if row is not None and row[1:].any() and self._random.random() < _LIKELY:
                symbol = int(self._random.choice(len(impossible), p=row[1:] / row[1:].sum()))
            if not (self._cautious and impossible[symbol]):
                new[(*word, symbol)] = None
        return list(new)

    def _check(self, answers: Mapping[Word, Answer]) -> None:
        """Refuse answers that contradict others about what is undefined or impossible."""
        for word, answer in answers.items():
            if answer.row is None and not word:
                raise self._wrong("the empty word is undefined: every model answers at least that")
            for length in range(len(word) if answer.row is not None else 0):
                above = self._answers.get(word[:length])
                if above is not None and above.row is None:
                    raise self._wrong(
                        f"{self._name(word)} is defined, but {self._name(word[:length])} is "
                        "undefined: what goes on from an undefined word has to be undefined"
                    )
            self._check_step(word, answer)
            if self._model.full_support:
                self._check_support(word, answer)

    def _check_step(self, word: Word, answer: Answer) -> None:
        """Refuse a word that is undefined or defined in spite of the answer before it."""
        parent = self._answers.get(word[:-1]) if word else None
        if parent is None or parent.row is None:
            return
        symbol = word[-1]
        name, before = column_name(self._alphabet, symbol + 1), self._name(word[:-1])
        if answer.row is None and parent.likely[symbol]:
            given = f"{parent.row[symbol + 1]:.9g}"
            raise self._wrong(
                f"the answer to {before} gives {name} probability {given}, but {self._name(word)} "
                "is undefined: give the symbol 0, or let the word be defined"
            )
        if answer.row is not None and parent.impossible[symbol]:
            raise self._wrong(
                f"the answer to {before} says that {name} is impossible, but {self._name(word)} is "
                "defined: list the symbol with 0, or let the word be undefined"
            )

    def _check_support(self, word: Word, answer: Answer) -> None:
        """Refuse an answer that does not leave everything possible."""
        what = "is undefined"
        if answer.row is not None:
            is_lost = (answer.row <= 0) | np.append(False, answer.impossible)
            if not is_lost.any():
                return
            what = f"is never followed by {column_name(self._alphabet, int(is_lost.argmax()))}"
        raise self._wrong(
            f"{self._name(word)} {what}, but full_support says that everything is possible after "
            "every word: set it to False"
        )

    def ask_again(self) -> None:
        """Ask a freshly opened model for each batch: it may go on from words not seen before."""
        for batch in self._batches:
            with Run(self._model, self._order) as run:
                self._compare(run.ask(batch), f"of a freshly opened model: {_FRESH}")

    def ask_in_other_batches(self) -> None:
        """Ask for half of the words one by one, and for the others a few at a time."""
        words = self._shuffle()
        half = len(words) // 2
        with Run(self._model, self._order) as run:
            for word in words[:half]:
                self._compare(run.ask([word]), f"when asked for alone: {_SAME}")
            for begin in range(half, len(words), _BATCH):
                batch = words[begin : begin + _BATCH]
                self._compare(run.ask(batch), f"in a batch of {len(batch)}: {_SAME}")

    def ask_under_other_ids(self) -> None:
        """Ask for one half of the words with the other half on the way, under other ids."""
        words = self._shuffle()
        half = len(words) // 2
        with Run(self._model, words) as run:
            for wanted, others in ((words[:half], words[half:]), (words[half:], words[:half])):
                passed = {word[:length] for word in words for length in range(1, len(word))}
                answers = run.ask(wanted, passed.union(others))
                self._compare(answers, f"under another id, with others on the way: {_WANTED}")

    def ask_by_turns(self) -> None:
        """Ask two opened models by turns, under different ids, and one when the other is closed."""
        when = f"while another opened model is asked, or was closed: {_APART}"
        words = self._shuffle()
        half = len(words) // 2
        with Run(self._model, words[::-1]) as second:
            with Run(self._model, words) as first, Run(self._model):
                for one, other in zip(words[:half], words[half:], strict=False):
                    self._compare(first.ask([one]), when)
                    self._compare(second.ask([other]), when)
            self._compare(second.ask(words[: self._most // 4]), when)

    def ask_what_follows(self) -> None:
        """Go on from words with symbols that are likely, impossible or neither, and once more."""
        new: dict[Word, None] = {}
        for word in self._shuffle():
            row, likely, impossible = self._answers[word]
            kinds = [likely, ~likely & ~impossible]
            for kind in kinds if self._cautious else [*kinds, impossible]:
                symbols = self._random.permutation(np.flatnonzero(kind & (row is not None)))
                new |= dict.fromkeys((*word, symbol) for symbol in symbols[:_FEW].tolist())
        words = [word for word in new if word not in self._answers][: self._most // 2]
        with Run(self._model, self._order) as run:
            answers = run.ask(words)
            self._check(answers)
            self._answers |= answers
            undefined = [word for word in words if answers[word].row is None and not self._cautious]
            self._check(run.ask([(*word, word[-1]) for word in undefined[: self._most // 4]]))

    def _shuffle(self) -> list[Word]:
        words = list(self._answers)
        return [words[place] for place in self._random.permutation(len(words))]

    def _compare(self, answers: Mapping[Word, Answer], when: str) -> None:
        """Refuse answers that differ from the first; ``when`` says what was different, and why."""
        for word, answer in answers.items():
            apart = self._answers[word].difference(answer, self._alphabet, self._tolerance)
            if apart is not None:
                raise self._wrong(f"the answer to {self._name(word)} {apart} {when}")

    def _name(self, word: Word) -> str:
        return word_name(self._alphabet, word)

    def _wrong(self, what: str) -> ModelError:
        return ModelError(f"{type(self._model).__name__}: {what}")
