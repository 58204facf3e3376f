"""PDFA from files that list the transitions one by one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import SUM_TOLERANCE, check_fits, sums_to_one
from pdfalearn.errors import FileFormatError
from pdfalearn.formats._lines import at_line, number_in
from pdfalearn.pdfa import PDFA

_State = TypeVar("_State", bound=Hashable)


class Transition(NamedTuple):
    """A transition: numbers of states, the code of a symbol and its probability."""

    state: int
    symbol: int
    successor: int
    probability: float


def pdfa_of(
    alphabet: Alphabet,
    terminal_probabilities: Sequence[float],
    transitions: Sequence[Transition],
    initial: int,
) -> PDFA:
    """Make the PDFA of these transitions; all others are undefined."""
    states = len(terminal_probabilities)
    check_fits(states, len(alphabet))
    table = np.full((states, len(alphabet)), -1, dtype=np.int32)
    rows = np.zeros((states, len(alphabet) + 1))
    rows[:, 0] = terminal_probabilities
    if transitions:
        origins, symbols, successors, probabilities = zip(*transitions, strict=True)
        table[origins, symbols] = successors
        rows[origins, np.add(symbols, 1)] = probabilities
    return PDFA(alphabet=alphabet, transitions=table, probabilities=rows, initial=initial)


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
