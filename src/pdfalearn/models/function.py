"""A Python function as a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from numpy.typing import ArrayLike

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.errors import InputError
from pdfalearn.models.by_word import rows_by_word
from pdfalearn.models.cost import EVERY_WORD, QueryCost
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.row_checks import given_rows
from pdfalearn.rows import Rows
from pdfalearn.words import Words

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
    >>> import numpy as np
    >>> model = FunctionModel(lambda words: [[0.5, 0.5] for word in words], "a")
    >>> model.answer(Words.of([[], [0, 0]])).to_dense()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(
        self,
        function: Callable[[list[tuple[Symbol, ...]]], Answer],
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

    @classmethod
    def of_words(
        cls,
        function: Callable[[tuple[Symbol, ...]], Mapping[Symbol, float] | None],
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
        >>> model = FunctionModel.of_words(lambda word: {"a": 0.75, "$": 0.25}, "ab")
        >>> model.answer(Words.of([[0, 0]])).to_dense()
        array([[0.25, 0.75, 0.  ]])
        """
        if not callable(function):
            raise InputError(f"{function!r} is not a function; it has to take a word")
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        rows = rows_by_word(function, alphabet)
        return cls(rows, alphabet, fingerprint=fingerprint, cost=cost)

    def answer(self, words: Words) -> Rows:
        """Call the function with all the words at once."""
        answer = self._function([self.alphabet.decode(codes) for codes in words])
        return given_rows(answer, len(words), len(self.alphabet) + 1)
