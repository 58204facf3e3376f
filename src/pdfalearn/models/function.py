"""A Python function as a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pdfalearn.alphabet import Alphabet, Symbol, shorten
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import EVERY_WORD, LanguageModel, QueryCost, attach_answers
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Floats

Word = tuple[Symbol, ...]
FunctionOfWord = Callable[[Word], Mapping[Symbol, float] | None]

Answer = ArrayLike | Rows | Sequence[ArrayLike | None]
"""What a function may return: a table, rows, or a list with None for undefined words."""


class FunctionModel(LanguageModel):
    """A function from a batch of words to an array of distributions, as a language model.

    Parameters
    ----------
    function : callable
        Takes a list of words, each a tuple of symbols, and returns one distribution a row: the
        terminal's probability first, then those of the symbols in the order of the alphabet. None
        in a list, or a row of NaN in an array, says that the word is undefined. For alphabets of
        thousands of symbols it may return sparse `Rows`.
    alphabet : iterable of hashable, or Alphabet
        The symbols.
    terminal : hashable
        The terminal symbol, unless the alphabet has one already.
    fingerprint : str, optional
        A name for all that decides the function's answers; a store needs one to keep them.
    cost : QueryCost
        What asking costs; if not given, every word costs the same, whatever its length.

    Examples
    --------
    >>> from pdfalearn import learn
    >>> model = FunctionModel(lambda words: [[0.5, 0.5] for word in words], "a")
    >>> learn(model).pdfa
    PDFA(1 state, alphabet=('a',), initial=0)
    """

    def __init__(
        self,
        function: Callable[[list[Word]], Answer],
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
        *,
        fingerprint: str | None = None,
        cost: QueryCost = EVERY_WORD,
    ) -> None:
        if not callable(function):
            raise InputError(f"{function!r} is not a function; it has to take a list of words")
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        self.alphabet = alphabet
        self.fingerprint = fingerprint
        self.cost = cost
        self._function = function

    def __repr__(self) -> str:
        name = getattr(self._function, "__name__", type(self._function).__name__)
        return f"FunctionModel({name}, {self.alphabet!r})"

    @staticmethod
    def of_words(
        function: FunctionOfWord,
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
        *,
        fingerprint: str | None = None,
        cost: QueryCost = EVERY_WORD,
    ) -> FunctionModel:
        """Make a model of a function of a single word.

        Parameters
        ----------
        function : callable
            Takes a word, a tuple of symbols, and returns a dictionary of the probabilities of the
            symbols that may follow, and of the terminal; what is left out has probability 0. None
            says that the word is undefined.
        alphabet, terminal, fingerprint, cost
            As for the class.

        Examples
        --------
        >>> from pdfalearn import learn
        >>> model = FunctionModel.of_words(lambda word: {"a": 0.75, "$": 0.25}, "ab")
        >>> learn(model).pdfa.probabilities
        array([[0.25, 0.75, 0.  ]])
        """
        if not callable(function):
            raise InputError(f"{function!r} is not a function; it has to take a word")
        return FunctionOfWords(
            function,  # type: ignore[arg-type]
            alphabet,
            terminal,
            fingerprint=fingerprint,
            cost=cost,
        )

    def answer(self, batch: Batch) -> Answer:  # type: ignore[override]
        """Call the function with all the words at once; the caller checks what it returns."""
        return self._function(self.alphabet.decode_words(batch.words))


class FunctionOfWords(FunctionModel):
    """A function from a word to a dictionary, as a language model; `FunctionModel.of_words`."""

    _function: FunctionOfWord  # type: ignore[assignment]

    @cached_property
    def _columns(self) -> dict[Symbol, int]:
        return {name: place for place, name in enumerate((self.alphabet.terminal, *self.alphabet))}

    def answer(self, batch: Batch) -> Floats:  # type: ignore[override]
        """Call the function word by word; where it fails, what it has answered is kept.

        Raises
        ------
        ModelError
            If something else than a dictionary of symbols and numbers is returned; the message
            names the word and the symbol.
        """
        rows = np.full((batch.count, len(self._columns)), np.nan)
        done = 0
        try:
            for word in self.alphabet.decode_words(batch.words):
                given = self._function(word)
                if given is not None:
                    rows[done] = _read_row(given, word, self._columns)
                done += 1
        except BaseException as error:
            undefined = np.isnan(rows[:done]).all(axis=1)
            answered = Rows.dense(rows[:done], undefined=undefined)
            attach_answers(error, batch.wanted_ids[:done], answered)
            raise
        return rows


def _read_row(given: object, word: Word, columns: dict[Symbol, int]) -> list[float]:
    if not isinstance(given, Mapping):
        raise ModelError(
            f"after the word {shorten(word)} the function returned {described(given)}, not a "
            "dictionary of symbols and probabilities"
        )
    row = [0.0] * len(columns)
    for symbol, probability in given.items():
        if symbol not in columns:
            raise ModelError(
                f"after the word {shorten(word)} the function names {symbol!r}, which is neither "
                f"a symbol of the alphabet nor the terminal {next(iter(columns))!r}"
            )
        row[columns[symbol]] = _read_number(probability, symbol, word)
    return row


def _read_number(probability: object, symbol: Symbol, word: Word) -> float:
    try:
        if not isinstance(probability, str | bytes):
            return float(probability)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        pass
    raise ModelError(
        f"after the word {shorten(word)} the function gives {symbol!r} the probability "
        f"{described(probability)}, which is not a number"
    )
