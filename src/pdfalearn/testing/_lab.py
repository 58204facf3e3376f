"""A model that is tried, and what it answered first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.testing._answers import (
    Answer,
    Codes,
    column_name,
    difference,
    excludes,
    probability,
    word_name,
)
from pdfalearn.testing._conversation import Conversation
from pdfalearn.testing._words import long_word, walked

_FEW = 3
_LONGER = 4
"""How many times as long as the others one word is."""


class Lab:
    """A model under trial.

    Parameters
    ----------
    model : LanguageModel
        The model.
    alphabet : Alphabet
        Its alphabet.
    words : int
        The most different words.
    max_length : int
        The length of the longest of them but for one, which is longer.
    tolerance : float
        How far apart the probabilities of equal answers may be.
    random : numpy.random.Generator
        Draws the words.
    """

    def __init__(
        self,
        model: LanguageModel,
        alphabet: Alphabet,
        words: int,
        max_length: int,
        tolerance: float,
        random: np.random.Generator,
    ) -> None:
        self._model = model
        self.alphabet = alphabet
        self.random = random
        self._tolerance = tolerance
        self.most = words
        """The most different words."""
        self.answers: dict[Codes, Answer] = {}
        """The first answer to each word."""
        self._ask_first(max_length)

    @property
    def words(self) -> list[Codes]:
        """The words, in the order in which they were asked for."""
        return list(self.answers)

    def shuffled(self) -> list[Codes]:
        """Return the words in another order."""
        words = self.words
        return [words[place] for place in self.random.permutation(len(words))]

    def drawn(self, are_wanted: NDArray[np.bool_]) -> list[int]:
        """Draw a few symbols of those that are wanted."""
        symbols = np.flatnonzero(are_wanted)
        drawn = self.random.choice(symbols, _FEW, replace=False) if len(symbols) > _FEW else symbols
        return [int(symbol) for symbol in drawn]

    def excludes(self, word: Codes, symbol: int) -> bool:
        """Return whether the answer to a word says that no word goes on with a symbol."""
        answer = self.answers[word]
        return answer is None or excludes(answer, symbol)

    def open(self) -> Conversation:
        """Begin a conversation; use it in a ``with`` block."""
        return Conversation(self._model, self.alphabet)

    def name(self, word: Codes) -> str:
        """Write a word for a message."""
        return word_name(self.alphabet, word)

    def wrong(self, what: str) -> ModelError:
        """Return an error that names the model."""
        return ModelError(f"{type(self._model).__name__}: {what}")

    def _ask_first(self, max_length: int) -> None:
        with self.open() as talk:
            answers = walked(talk, len(self.alphabet), self.most - 1, max_length, self.random)
            length = _LONGER * max_length
            if talk.room is not None and talk.room <= _LONGER * self.most:
                length = max(length, talk.room + 2)
            word = long_word(answers, answers, length)
            answers[word] = talk.ask([word])[0]
        self.answers = answers
        if talk.shared:
            self.check_shared(list(talk.ends), list(talk.ends.values()))

    def compare(
        self,
        words: Sequence[Codes],
        answers: Sequence[Answer],
        when: str,
        before: Sequence[Answer] | None = None,
    ) -> None:
        """Refuse answers that differ from those before, which are the first ones if not given.

        ``when`` says what was different this time, and what to do.
        """
        before = [self.answers[word] for word in words] if before is None else before
        for word, first, answer in zip(words, before, answers, strict=True):
            apart = difference(first, answer, self.alphabet, self._tolerance)
            if apart is not None:
                raise self.wrong(f"the answer to {self.name(word)} {apart} {when}")

    def check_shared(self, words: Sequence[Codes], handles: Sequence[int]) -> None:
        """Refuse words that share a handle, but not the answer."""
        first: dict[int, Codes] = {}
        for word, handle in zip(words, handles, strict=True):
            other = first.setdefault(handle, word)
            one, two = self.answers[other], self.answers[word]
            apart = difference(one, two, self.alphabet, self._tolerance)
            if apart is not None:
                raise self.wrong(
                    f"the answer to {self.name(other)} {apart} to {self.name(word)}, though both "
                    f"have the shared handle {handle}: words may only share a handle if they have "
                    "the same answer, and so has all that goes on from them"
                )

    def check_defined(self, words: Sequence[Codes], handles: Sequence[int]) -> None:
        """Refuse words that were defined and are not any more."""
        for word, handle in zip(words, handles, strict=True):
            if handle < 0:
                raise self.wrong(
                    f"extend says that {self.name(word)} is undefined, but it was defined before: "
                    "a word is undefined always or never"
                )

    def check_undefined(self) -> None:
        """Refuse undefined words that the words before them contradict."""
        if self.answers[()] is None:
            raise self.wrong("the empty word is undefined: every model answers at least that")
        for word, answer in self.answers.items():
            for length in range(len(word)):
                before = word[:length]
                if answer is not None and self.answers.get(before, answer) is None:
                    raise self.wrong(
                        f"{self.name(word)} is defined, but {self.name(before)} is undefined: what "
                        "goes on from an undefined word has to be undefined"
                    )
            parent = self.answers.get(word[:-1]) if word else None
            if parent is not None:
                self.check_step(word, defined=answer is not None)

    def check_step(self, word: Codes, *, defined: bool) -> None:
        """Refuse a word that is undefined or defined in spite of the answer before it."""
        parent, symbol = self.answers[word[:-1]], word[-1]
        if parent is None:
            return
        given = probability(parent, symbol)
        name, before = column_name(self.alphabet, symbol + 1), self.name(word[:-1])
        if not defined and given is not None and given > 0:
            raise self.wrong(
                f"the answer to {before} gives {name} probability {given:.9g}, but "
                f"{self.name(word)} is undefined: give the symbol 0, or let the word be defined"
            )
        if defined and excludes(parent, symbol):
            raise self.wrong(
                f"the answer to {before} does not list {name} and has no rest, but "
                f"{self.name(word)} is defined: list the symbol with 0, or say undefined"
            )
