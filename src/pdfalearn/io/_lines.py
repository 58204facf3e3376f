"""Files of lines and of transitions: what is wrong with one is said with its number."""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Mapping, Sequence
from typing import BinaryIO, NamedTuple, TypeVar

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import SUM_TOLERANCE, check_fits, sums_to_one
from pdfalearn.errors import FileFormatError
from pdfalearn.files import read_all
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats

TEXT_LIMIT = 256 * 2**20
"""The most bytes of text, before compression, that are read."""


def read_bytes(stream: BinaryIO) -> bytes:
    """Read a file of text, or of something else with text inside."""
    return read_all(stream, TEXT_LIMIT, "text, which is too much to read")


def split_lines(data: bytes) -> list[bytes]:
    """Cut a text in UTF-8 into lines; the first one has number 1."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise at_line(number, f"byte {error.start} of the file is not UTF-8 text") from error
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def at_line(number: int, message: str) -> FileFormatError:
    """Make the error for a line."""
    return FileFormatError(f"line {number}: {message}")


def number_in(field: bytes, line: int) -> float:
    """Read a number, or name what stands there instead."""
    try:
        return float(field)
    except ValueError as error:
        raise at_line(line, f"{show_field(field)} is not a number") from error


def show_field(field: bytes) -> str:
    """Quote a part of a line."""
    return reprlib.repr(field.decode("utf-8", "backslashreplace"))


_State = TypeVar("_State", bound=Hashable)


class State(NamedTuple):
    """A state as a file names it, its terminal probability, and the line of that."""

    name: int | str
    terminal: float
    line: int


class Transition(NamedTuple):
    """A transition: numbers of states, the code of a symbol, its probability, and its line."""

    state: int
    symbol: int
    successor: int
    probability: float
    line: int


def build_pdfa(
    alphabet: Alphabet, states: Sequence[State], transitions: Sequence[Transition], initial: int
) -> PDFA:
    """Make the PDFA of these transitions, or name a wrong line; all others are undefined."""
    check_fits(len(states), len(alphabet))
    table = np.full((len(states), len(alphabet)), -1, dtype=np.int32)
    rows = np.zeros((len(states), len(alphabet) + 1))
    rows[:, 0] = [state.terminal for state in states]
    firsts: dict[tuple[int, int], int] = {}
    for state, symbol, successor, probability, line in transitions:
        if (first := firsts.setdefault((state, symbol), line)) != line:
            raise at_line(
                line,
                f"not deterministic: state {states[state].name!r}, symbol "
                f"{alphabet.symbols[symbol]!r} has a transition on line {first} already",
            )
        table[state, symbol], rows[state, symbol + 1] = successor, probability
    check_state_sums(states, rows.sum(axis=1))
    return PDFA(alphabet=alphabet, transitions=table, probabilities=rows, initial=initial)


def check_state_sums(states: Sequence[State], sums: Floats) -> None:
    """Refuse weights of a state that do not sum to 1."""
    for (name, _, line), total in zip(states, sums.tolist(), strict=True):
        if not sums_to_one(total):
            raise at_line(line, f"state {name!r}: its weights sum to {total:.9g}, not to 1")


def probability_in(field: bytes, line: int) -> float:
    """Read a probability, or name what stands there instead."""
    value = number_in(field, line)
    if not 0 <= value <= 1 + SUM_TOLERANCE:
        raise at_line(line, f"{value} is not a probability, a number from 0 to 1")
    return value


def initial_state(weights: Mapping[_State, tuple[float, int]]) -> _State:
    """Return the only state in which words begin: its weight is 1, and all others are 0.

    ``weights`` has the states' initial weights and the lines on which they stand.
    """
    begins = [(state, *entry) for state, entry in weights.items() if entry[0]]
    if not begins:
        raise FileFormatError("words begin in no state; one must have the initial weight 1")
    (state, weight, line), *others = begins
    for other, _, other_line in others:
        raise at_line(
            other_line,
            f"not deterministic: words begin in state {other} and, on line {line}, in {state}",
        )
    if not sums_to_one(weight):
        raise at_line(line, f"words begin in state {state} with probability {weight}, not 1")
    return state
