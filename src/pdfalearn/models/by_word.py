"""Functions of a single word that return dictionaries, as functions of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol, shortened
from pdfalearn.errors import ModelError
from pdfalearn.text import described

Word = tuple[Symbol, ...]
Row = NDArray[np.float64]


def rows_by_word(
    function: Callable[[Word], Mapping[Symbol, float] | None], alphabet: Alphabet
) -> Callable[[list[Word]], list[Row | None]]:
    """Return a function of a list of words that calls another one word by word.

    Parameters
    ----------
    function : callable
        Takes a word and returns a dictionary of probabilities, or None for an undefined word.
    alphabet : Alphabet
        The symbols and the terminal that it may name.

    Raises
    ------
    ModelError
        When it is called: if something else than a dictionary of symbols and numbers is returned;
        the message names the word and the symbol.
    """
    columns = {alphabet.terminal: 0} | {symbol: place for place, symbol in enumerate(alphabet, 1)}

    def row(word: Word) -> Row | None:
        given = function(word)
        return None if given is None else _row(given, word, columns)

    return lambda words: [row(word) for word in words]


def _row(given: Mapping[Symbol, float], word: Word, columns: dict[Symbol, int]) -> Row:
    if not isinstance(given, Mapping):
        raise ModelError(
            f"after the word {shortened(word)} the function returned {described(given)}, not a "
            "dictionary of symbols and probabilities"
        )
    row = np.zeros(len(columns))
    for symbol, probability in given.items():
        if symbol not in columns:
            raise ModelError(
                f"after the word {shortened(word)} the function names {symbol!r}, which is neither "
                f"a symbol of the alphabet nor the terminal {next(iter(columns))!r}"
            )
        row[columns[symbol]] = _number(probability, symbol, word)
    return row


def _number(probability: object, symbol: Symbol, word: Word) -> float:
    try:
        if not isinstance(probability, str | bytes):
            return float(probability)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        pass
    raise ModelError(
        f"after the word {shortened(word)} the function gives {symbol!r} the probability "
        f"{described(probability)}, which is not a number"
    )
