"""Checks of numbers, distributions, the arrays that a PDFA is made of, and memory for them."""

from __future__ import annotations

import operator
import re
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.errors import InputError
from pdfalearn.text import described
from pdfalearn.typing import Codes, Flags, Floats

# How far from 1 the probabilities of a distribution may sum.
SUM_TOLERANCE = 1e-6

# A model's probability may be this far below 0, as rounding leaves it; it then counts as 0.
ROUNDING = 1e-12


# The bytes that count as available where the system does not say how many are.
ASSUMED_MEMORY = 4 * 2**30

# While tables are made and checked, memory holds about this many copies of them.
_COPIES = 3


def wrong_rows(
    rows: Floats, *, rounding: float = ROUNDING, tolerance: float = SUM_TOLERANCE
) -> Flags:
    """Mark the rows that are not distributions: with NaN, a negative value, or a sum other than 1.

    Parameters
    ----------
    rows : array of float, shape (count, symbols + 1)
        What should be distributions.
    rounding : float
        How far below 0 a value may be.
    tolerance : float
        How far from 1 a sum may be.

    Examples
    --------
    >>> wrong_rows(np.array([[0.5, 0.5], [0.5, 0.4], [1.5, -0.5], [0.5, np.nan]]))
    array([False,  True,  True,  True])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = rows.dot(np.ones(rows.shape[1]))  # faster than a sum of few columns
        wrong: Flags = ~(np.abs(sums - 1) <= tolerance)
        if not rows.min(initial=0.0) >= -rounding:
            wrong |= ~(rows.min(axis=1) >= -rounding)
    return wrong


def row_fault(row: Floats, *, rounding: float = ROUNDING) -> str:
    """Return what is wrong with a row that `wrong_rows` has marked, in words.

    Examples
    --------
    >>> row_fault(np.array([0.5, 0.25])), row_fault(np.array([1.5, -0.5]))
    ('[0.5, 0.25] sums to 0.75, not to 1', '[1.5, -0.5] has NaN or negative values')
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = row.sum()
    wrong = f"sums to {total:.9g}, not to 1"
    if not row.min() >= -rounding:
        wrong = "has NaN or negative values"
    return f"{shorten(row.tolist())} {wrong}"


def sums_to_one(total: float) -> bool:
    """Return whether a sum of probabilities is 1 but for rounding."""
    return abs(total - 1) <= SUM_TOLERANCE


def check_integer(value: object, name: str, low: int, high: int = 2**31 - 1) -> int:
    """Return an integer as Python's own type; refuse what is not an integer or out of range."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, SupportsIndex):
        raise InputError(f"{name} {described(value)} is not an integer")
    try:
        number = operator.index(value)
    except TypeError as error:  # an array, say, which has the method and is not an integer
        raise InputError(f"{name} {described(value)} is not an integer") from error
    if not low <= number <= high:
        raise InputError(f"{name} {described(number)} is not an integer from {low} to {high}")
    return number


def check_number(
    value: object, name: str, low: float, high: float, *, is_open: bool = False
) -> float:
    """Return a number as Python's own type; refuse what is not a number or out of range.

    If the range is open, its ends do not belong to it.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise InputError(f"{name} {described(value)} is not a number")
    given = f"{name} {described(value)}"
    if is_open and not low < value < high:
        raise InputError(f"{given} is not a number above {low:g} and below {high:g}")
    if not low <= value <= high:
        raise InputError(f"{given} is not a number from {low:g} to {high:g}")
    return float(value)


def check_share(value: object, name: str) -> float:
    """Return a number between 0 and 1, both excluded, as Python's own type."""
    return check_number(value, name, 0, 1, is_open=True)


def make_generator(seed: object) -> Generator:
    """Make a random generator of a seed, which has to be given."""
    return np.random.default_rng(check_integer(seed, "seed", 0, 2**128 - 1))


def check_probabilities(given: ArrayLike, alphabet: Alphabet) -> Floats:
    """Copy the probabilities into a read-only array, or name the value that is wrong."""
    columns, what = len(alphabet) + 1, "the terminal and every symbol"
    table = _check_table(given, "probabilities", "iuf", columns, what)
    rows: Floats = np.add(table, 0.0, dtype=np.float64, order="C")  # no -0.0
    wrong = wrong_rows(rows, rounding=0.0)
    if wrong.any():
        raise _bad_state(rows, int(wrong.argmax()), alphabet)
    rows.setflags(write=False)
    return rows


def _bad_state(rows: Floats, state: int, alphabet: Alphabet) -> InputError:
    """Make the error for a state whose row is not a distribution."""
    for column, value in enumerate(rows[state].tolist()):
        if not value >= 0:
            symbol = alphabet.terminal if column == 0 else alphabet.symbols[column - 1]
            return InputError(
                f"state {state}, symbol {symbol!r}: probability {value} is not a number "
                "from 0 to 1; set it to 0 if rounding made it negative"
            )
    return InputError(
        f"state {state}: its probabilities sum to {rows[state].sum():.9g}, not to 1 "
        f"(within {SUM_TOLERANCE:g}); divide the row by its sum if that is what you mean"
    )


def check_transitions(given: ArrayLike, probabilities: Floats, alphabet: Alphabet) -> Codes:
    """Copy the transitions into a read-only array with a last row of -1, or name what is wrong."""
    wide = _check_table(given, "transitions", "iu", len(alphabet), "every symbol")
    states = len(probabilities)
    if len(wide) != states:
        raise InputError(
            f"transitions have {len(wide)} rows and probabilities {states}; "
            "both need one for each state"
        )
    least = wide.min()
    if least < -1 or wide.max() >= states:
        state, column = np.argwhere((wide < -1) | (wide >= states))[0].tolist()
        raise InputError(
            f"state {state}, symbol {alphabet.symbols[column]!r}: successor {wide[state, column]} "
            f"is not one of the states 0 to {states - 1}, nor -1 for undefined"
        )
    bad = (wide < 0) & (probabilities[:, 1:] > 0) if least < 0 else None
    if bad is not None and bad.any():
        state, column = np.argwhere(bad)[0].tolist()
        raise InputError(
            f"state {state}, symbol {alphabet.symbols[column]!r}: the transition is undefined but "
            f"the symbol has probability {probabilities[state, column + 1]}; "
            "give it a successor or probability 0"
        )
    table = np.full((states + 1, len(alphabet)), -1, dtype=np.int32)
    table[:-1] = wide
    table.setflags(write=False)
    return table


def _check_table(given: ArrayLike, name: str, kinds: str, columns: int, what: str) -> NDArray[Any]:
    """Return a table of numbers of these kinds, with a column for each of what it is about."""
    wanted = "numbers" if "f" in kinds else "integers"
    try:
        table = np.asarray(given)
    except ValueError as error:
        raise InputError(f"{name} are not a table of {wanted}: {error}") from error
    if not table.size:
        raise InputError(f"{name} are empty; a PDFA has at least one state")
    if table.dtype.kind not in kinds:
        raise InputError(f"{name} are not a table of {wanted}, but of {table.dtype}")
    if table.ndim != 2 or table.shape[1] != columns:
        raise InputError(
            f"{name} have shape {table.shape}, not (states, {columns}): a column for {what}"
        )
    return table


def check_fits(states: int, symbols: int) -> None:
    """Refuse a PDFA of this many states and symbols if its tables do not fit into memory."""
    check_tables_fit(
        states * (8 * (symbols + 1) + 4 * symbols),
        f"{states:,} states and {symbols:,} symbols",
        "prune the model, or take a machine with more memory",
    )


def check_tables_fit(size: int, what: str, remedy: str) -> None:
    """Refuse tables of this many bytes if they do not fit into memory."""
    available = available_memory()
    if _COPIES * size > available:
        raise InputError(
            f"{what} need {_gibibytes(size)} of tables, and {_COPIES} times that to make them, but "
            f"{_gibibytes(available)} of memory are available; {remedy}"
        )


def available_memory() -> int:
    """Return the bytes of memory that Linux says are available, and a guess elsewhere."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return ASSUMED_MEMORY
    match = re.search(r"^MemAvailable: *(\d+) kB$", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else ASSUMED_MEMORY


def _gibibytes(count: int) -> str:
    return f"{count / 2**30:,.3g} GiB"
