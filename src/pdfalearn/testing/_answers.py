"""Single answers of a model: are they distributions, and are two of them the same?"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.checks import SUM_TOLERANCE
from pdfalearn.rows import Rows

Codes = tuple[int, ...]
"""A word, as places in the alphabet."""
Answer: TypeAlias = "Rows | None"
"""One row, or None if the word is undefined."""

_ROUNDING = 1e-12
"""A probability may be this far below 0, as rounding leaves it."""


def word_name(alphabet: Alphabet, word: Codes) -> str:
    """Write a word for a message."""
    return f"the word {shortened(alphabet.decode(word))}" if word else "the empty word"


def column_name(alphabet: Alphabet, column: int) -> str:
    """Write what a column of a row stands for."""
    if not column:
        return f"the terminal {alphabet.terminal!r}"
    return f"the symbol {alphabet.symbols[column - 1]!r}"


def answers_of(rows: Rows) -> list[Answer]:
    """Return rows one by one."""
    undefined = np.zeros(len(rows), dtype=bool) if rows.undefined is None else rows.undefined
    return [
        None if undefined[place] else rows.take(np.array([place])) for place in range(len(rows))
    ]


def wrong_with(row: Rows) -> str | None:
    """Return what is wrong with a row and the remedy; None if it is a distribution."""
    wrong = None if row.columns is None else _wrong_columns(row.columns, row.width)
    return wrong or _wrong_values(row) or _wrong_beside(row)


def _wrong_columns(columns: NDArray[np.integer], width: int) -> str | None:
    given = shortened(columns.tolist())
    if not len(columns) or columns[0] != 0:
        return f"lists the columns {given}: list the terminal, column 0, first in every row"
    if columns.min() < 0 or columns.max() >= width:
        return f"lists the columns {given}: there are the columns 0 to {width - 1}"
    if (np.diff(columns) <= 0).any():
        return f"lists the columns {given}: list each once, in ascending order"
    return None


def _wrong_values(row: Rows) -> str | None:
    values = np.asarray(row.values, dtype=np.float64).ravel()
    given = shortened(values.tolist())
    if not (values >= -_ROUNDING).all():
        return f"is {given}, with NaN or negative values: if there is none, say that in undefined"
    total = float(values.sum() + row.rests[0])
    if abs(total - 1) <= SUM_TOLERANCE:
        return None
    if row.is_sparse:
        return f"is {given}, which sums to {total:.9g} with its rest: give all that is left as rest"
    return f"is {given}, which sums to {total:.9g}: divide it by its sum, if that is what you mean"


def _wrong_beside(row: Rows) -> str | None:
    """Return what is wrong with the mass of unlisted symbols, or outside of the alphabet."""
    rest = float(row.rests[0])
    if not rest >= 0:
        return f"has the rest {rest}: the mass of what is not listed is not negative"
    unlisted = row.width - row.values.size
    if not unlisted and rest > SUM_TOLERANCE:
        return f"has the rest {rest}, but lists every symbol: there is nothing that may have it"
    if row.ceiling is not None:
        ceiling = float(row.ceiling[0])
        if not 0 <= ceiling <= rest + SUM_TOLERANCE:
            return f"has the ceiling {ceiling} and the rest {rest}: a ceiling is from 0 to the rest"
        if ceiling * unlisted < rest - SUM_TOLERANCE:
            return (
                f"has the ceiling {ceiling}, too low for {unlisted} symbols with {rest} together: "
                "give the most that one of them can have"
            )
    if row.outside is not None and (row.outside[0] < 0 or row.outside[0] > 1 + SUM_TOLERANCE):
        return f"has {row.outside[0]} outside of the alphabet: that is a number from 0 to 1"
    return None


def probability(row: Rows, symbol: int) -> float | None:
    """Return a symbol's probability; None if the row does not list the symbol."""
    if row.columns is None:
        return float(row.values[0, symbol + 1])
    (here,) = (row.columns == symbol + 1).nonzero()
    return float(row.values[here[0]]) if len(here) else None


def likely_symbols(row: Rows) -> NDArray[np.bool_]:
    """Return which symbols have a probability above 0 in a row."""
    likely = np.zeros(row.width, dtype=bool)
    likely[slice(None) if row.columns is None else row.columns] = row.values.ravel() > 0
    return likely[1:]


def excludes(row: Rows, symbol: int) -> bool:
    """Return whether a row says by itself that no word goes on with a symbol."""
    return probability(row, symbol) is None and row.rests[0] == 0


def difference(one: Answer, other: Answer, alphabet: Alphabet, tolerance: float) -> str | None:
    """Return how two answers differ, as in "gives …, but …"; None if they are the same."""
    if one is None or other is None:
        if one is other:
            return None
        return 'is "undefined", but a row' if one is None else 'is a row, but "undefined"'
    before, after = one.to_dense()[0], other.to_dense()[0]
    apart = np.abs(before - after)
    column = int(apart.argmax())
    if apart[column] <= tolerance:
        return None
    name = column_name(alphabet, column)
    return f"gives {name} probability {before[column]:.9g}, but {after[column]:.9g}"
