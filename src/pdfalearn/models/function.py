"""A Python function as a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from numpy.typing import ArrayLike

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.errors import InputError
from pdfalearn.models.batch import Batch
from pdfalearn.models.by_word import rows_by_word
from pdfalearn.models.cost import EVERY_WORD, QueryCost
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.rows import Rows

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
    PDFA(1 states, alphabet=('a',), initial=0)
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
        >>> from pdfalearn import learn
        >>> model = FunctionModel.of_words(lambda word: {"a": 0.75, "$": 0.25}, "ab")
        >>> learn(model).pdfa.probabilities
        array([[0.25, 0.75, 0.  ]])
        """
        if not callable(function):
            raise InputError(f"{function!r} is not a function; it has to take a word")
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        rows = rows_by_word(function, alphabet)
        return cls(rows, alphabet, fingerprint=fingerprint, cost=cost)

    def answer(self, batch: Batch) -> Answer:  # type: ignore[override]
        """Call the function with all the words at once; the caller checks what it returns."""
        decode = self.alphabet.decode
        return self._function([decode(codes) for codes in batch.words])
