"""Model files of the PAutomaC competition: read if they are deterministic, written for any PDFA."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import sums_to_one
from pdfalearn.errors import FileFormatError
from pdfalearn.io._lines import (
    Transition,
    at_line,
    build_pdfa,
    initial_state,
    probability_in,
    read_lines,
    show_field,
)
from pdfalearn.pdfa import PDFA

_KEYS = {"I": "(state)", "F": "(state)", "S": "(state,symbol)", "T": "(state,symbol,state)"}
_TITLE = re.compile(rb"([IFST]):.*")
_ENTRY = re.compile(rb"\(\s*(\d{1,9}(?:\s*,\s*\d{1,9}){0,2})\s*\)\s*(\S+)")


class _Entry(NamedTuple):
    probability: float
    line: int


_Section = dict[tuple[int, ...], _Entry]


def read_pautomac(stream: BinaryIO) -> PDFA:
    """Read a PDFA from a model file; its symbols are the file's numbers as strings."""
    sections = _sections(read_lines(stream))
    states = sorted({key[0] for key in (*sections["F"], *sections["S"])})
    symbols = sorted({key[1] for key in (*sections["S"], *sections["T"])})
    _check_known(sections, set(states))
    _check_sums(sections)
    numbers = {state: number for number, state in enumerate(states)}
    codes = {symbol: code for code, symbol in enumerate(symbols)}
    transitions = [
        Transition(numbers[state], codes[symbol], numbers[successor], probability)
        for state, symbol, successor, probability in _transitions(sections)
    ]
    stops = [_probability(sections["F"], state) for state in states]
    initial = initial_state({key[0]: entry for key, entry in sections["I"].items()})
    return build_pdfa(Alphabet(map(str, symbols)), stops, transitions, numbers[initial])


def _sections(lines: list[bytes]) -> dict[str, _Section]:
    sections: dict[str, _Section] = {}
    title = None
    for number, line in enumerate(map(bytes.strip, lines), start=1):
        if match := _TITLE.fullmatch(line):
            title = match[1].decode()
            if title in sections:
                raise at_line(number, f"section {title}: is already there")
            sections[title] = {}
        elif line and title is None:
            raise at_line(number, f"{show_field(line)} where a section such as I: belongs")
        elif line and title is not None:
            _add_entry(sections[title], title, line, number)
    for title in _KEYS:
        if title not in sections:
            raise FileFormatError(f"section {title}: is missing; cut off, or not PAutomaC's?")
    return sections


def _add_entry(section: _Section, title: str, line: bytes, number: int) -> None:
    match = _ENTRY.fullmatch(line)
    key = tuple(map(int, match[1].split(b","))) if match else ()
    if match is None or len(key) != _KEYS[title].count(",") + 1:
        raise at_line(number, f"{show_field(line)} is not an entry {_KEYS[title]} PROBABILITY")
    if key in section:
        raise at_line(number, f"this entry is already on line {section[key].line}; keep one")
    section[key] = _Entry(probability_in(match[2], number), number)


def _check_known(sections: dict[str, _Section], states: set[int]) -> None:
    for title in ("I", "T"):
        for key, entry in sections[title].items():
            for state in key[::2]:
                if state not in states:
                    raise at_line(entry.line, f"state {state} is unknown: it is not in F: nor S:")


def _check_sums(sections: dict[str, _Section]) -> None:
    """Refuse a state that can go on, but whose symbols' probabilities do not sum to 1."""
    sums = {key[0]: (0.0, entry.line) for key, entry in sections["F"].items()}
    for (state, _), entry in sections["S"].items():
        total, line = sums.get(state, (0.0, entry.line))
        sums[state] = (total + entry.probability, line)
    for state, (total, line) in sums.items():
        stops = _probability(sections["F"], state)
        if not sums_to_one(stops + (1 - stops) * total):
            raise at_line(line, f"S: of state {state} sums to {total:.9g}, not to 1")


def _transitions(sections: dict[str, _Section]) -> list[tuple[int, int, int, float]]:
    """Return states, symbols, successors and probabilities."""
    successors = _successors(sections["T"])
    chances = {
        key: (1 - _probability(sections["F"], key[0])) * entry.probability
        for key, entry in sections["S"].items()
    }
    for state, symbol in chances.keys() - successors.keys():
        if chances[state, symbol]:
            raise at_line(
                sections["S"][state, symbol].line,
                f"state {state}, symbol {symbol} has a probability, but no successor in T:",
            )
    return [(*key, successor, chances.get(key, 0.0)) for key, successor in successors.items()]


def _successors(moves: _Section) -> dict[tuple[int, int], int]:
    """Return the successor of each state and symbol, the only one."""
    found: dict[tuple[int, int], tuple[int, _Entry]] = {}
    for (state, symbol, successor), entry in moves.items():
        if not entry.probability:
            continue
        other, first = found.setdefault((state, symbol), (successor, entry))
        if other != successor:
            raise at_line(
                entry.line,
                f"not deterministic: state {state}, symbol {symbol} leads to state {successor} "
                f"and, on line {first.line}, to {other}",
            )
    for (state, symbol), (_, entry) in found.items():
        if not sums_to_one(entry.probability):
            raise at_line(
                entry.line,
                f"state {state}, symbol {symbol}: T: has {entry.probability}, not 1",
            )
    return {key: successor for key, (successor, _) in found.items()}


def _probability(section: _Section, state: int) -> float:
    return section[(state,)].probability if (state,) in section else 0.0


def write_pautomac(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA; symbols become numbers.

    Probabilities of symbols are written as shares of what does not stop, so that they come back but
    for the rounding of a division and a multiplication.
    """
    numbers = symbol_numbers(pdfa.alphabet)
    parts = (_stop_lines(pdfa), _symbol_lines(pdfa, numbers), _successor_lines(pdfa, numbers))
    stream.write("".join(line for part in parts for line in part).encode())


def symbol_numbers(alphabet: Alphabet) -> list[int]:
    """Return the number of every symbol: its own if all are numbers in order, else its place.

    Examples
    --------
    >>> symbol_numbers(Alphabet(["0", "3"])), symbol_numbers(Alphabet(["3", "0"]))
    ([0, 3], [0, 1])
    """
    texts = [str(symbol) for symbol in alphabet]
    if all(text.isascii() and text.isdigit() and len(text) < 10 for text in texts):
        numbers = [int(text) for text in texts]
        if numbers == sorted(set(numbers)) and [str(number) for number in numbers] == texts:
            return numbers
    return list(range(len(alphabet)))


def _stop_lines(pdfa: PDFA) -> Iterator[str]:
    yield f"I: (state)\n\t({pdfa.initial}) 1.0\nF: (state)\n"
    for state, probability in enumerate(pdfa.probabilities[:, 0].tolist()):
        if probability:
            yield f"\t({state}) {min(probability, 1.0)!r}\n"


def _symbol_lines(pdfa: PDFA, numbers: list[int]) -> Iterator[str]:
    yield "S: (state,symbol)\n"
    rows = pdfa.probabilities[:, 1:]
    sums = rows.sum(axis=1, keepdims=True)
    shares = (rows / (sums + (sums == 0))).tolist()
    unused = set(numbers) - {numbers[code] for code in _codes_used(pdfa)}
    for number in sorted(unused):  # or nobody would know of them
        yield f"\t({pdfa.initial},{number}) 0.0\n"
    for state, row in enumerate(shares):
        for number, share in zip(numbers, row, strict=True):
            if share:
                yield f"\t({state},{number}) {share!r}\n"


def _codes_used(pdfa: PDFA) -> list[int]:
    """Return the symbols that have a successor anywhere."""
    return np.flatnonzero((pdfa.transitions >= 0).any(axis=0)).tolist()


def _successor_lines(pdfa: PDFA, numbers: list[int]) -> Iterator[str]:
    yield "T: (state,symbol,state)\n"
    for state, row in enumerate(pdfa.transitions.tolist()):
        for number, successor in zip(numbers, row, strict=True):
            if successor >= 0:
                yield f"\t({state},{number},{successor}) 1.0\n"
