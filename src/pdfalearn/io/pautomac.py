"""Model files of the PAutomaC competition: read of every kind, written for any PDFA."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import SUM_TOLERANCE, check_fits, check_tables_fit, sums_to_one
from pdfalearn.errors import FileFormatError
from pdfalearn.files import (
    at_line,
    number_in,
    read_lines,
    show_field,
)
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats

if TYPE_CHECKING:
    from pdfalearn.models import PFA

_KEYS = {"I": "(state)", "F": "(state)", "S": "(state,symbol)", "T": "(state,symbol,state)"}
_TITLE = re.compile(rb"([IFST]):.*")
_ENTRY = re.compile(rb"\(\s*(\d{1,9}(?:\s*,\s*\d{1,9}){0,2})\s*\)\s*(\S+)")


# The probability of each entry, and its line.
_Section = dict[tuple[int, ...], tuple[float, int]]


def read_pautomac(stream: BinaryIO) -> PDFA | PFA:
    """Read a PDFA, or a PFA where the model is not deterministic; symbols are numbers as strings.

    A model is not deterministic if words begin in several states, or a state and a symbol have
    several successors.
    """
    starts, finals, shares, moves = _sections(read_lines(stream))
    lines = {key[0]: line for section in (shares, finals) for key, (_, line) in section.items()}
    numbers = {state: number for number, state in enumerate(sorted(lines))}
    symbols = sorted({key[1] for key in (*shares, *moves)})
    codes = {symbol: code for code, symbol in enumerate(symbols)}
    for key, (_, line) in (*starts.items(), *moves.items()):
        for state in key[::2]:
            if state not in numbers:
                raise at_line(line, f"state {state} is unknown: it is not in F: nor S:")
    check_fits(len(numbers), len(symbols))
    initial, sums = np.zeros(len(numbers)), np.zeros((len(numbers), len(symbols)))
    total = sum(weight for weight, _ in starts.values())
    for (state,), (weight, line) in starts.items():
        initial[numbers[state]] = weight
        if weight and not sums_to_one(total):
            raise at_line(line, "the probabilities that words begin in states do not sum to 1")
    if not initial.any():
        raise FileFormatError("words begin in no state; one must have the initial weight 1")
    edges = [
        (numbers[state], codes[symbol], numbers[successor], weight)
        for (state, symbol, successor), (weight, _) in moves.items()
        if weight  # 0 is as good as no entry
    ]
    for place, symbol, _, weight in edges:
        sums[place, symbol] += weight
    for (state, symbol, _), (weight, line) in moves.items():
        total = sums[numbers[state], codes[symbol]]
        if weight and not sums_to_one(total):
            raise at_line(line, f"state {state}, symbol {symbol}: T: has {total:.9g}, not 1")
    rows = _fill_rows(finals, shares, sums, numbers, codes)
    for state, total in zip(numbers, rows.sum(axis=1).tolist(), strict=True):
        if not sums_to_one(total):
            raise at_line(lines[state], f"state {state}: its weights sum to {total:.9g}, not to 1")
    alphabet = Alphabet(map(str, symbols))
    if np.count_nonzero(initial) == 1 and np.count_nonzero(sums) == len(edges):
        table = np.full(sums.shape, -1, dtype=np.int32)
        for place, symbol, successor, _ in edges:
            table[place, symbol] = successor
        first = int(initial.argmax())
        return PDFA(alphabet=alphabet, transitions=table, probabilities=rows, initial=first)
    return _make_pfa(alphabet, initial, rows, edges)


def _fill_rows(
    finals: _Section,
    shares: _Section,
    sums: Floats,
    numbers: dict[int, int],
    codes: dict[int, int],
) -> Floats:
    """Return the distributions; a share is that of a symbol among the words that do not stop."""
    rows = np.zeros((len(sums), sums.shape[1] + 1))
    for (state,), (weight, _) in finals.items():
        rows[numbers[state], 0] = weight
    for (state, symbol), (share, line) in shares.items():
        place, code = numbers[state], codes[symbol]
        rows[place, code + 1] = (1 - rows[place, 0]) * share
        if rows[place, code + 1] and not sums[place, code]:
            what = f"state {state}, symbol {symbol} has a probability, but no successor in T:"
            raise at_line(line, what)
    return rows


def _make_pfa(
    alphabet: Alphabet, initial: Floats, rows: Floats, edges: list[tuple[int, int, int, float]]
) -> PFA:
    from pdfalearn.models import PFA

    count = len(rows)
    check_tables_fit(
        8 * count**2 * len(alphabet),
        f"{count:,} states and {len(alphabet):,} symbols",
        "take a machine with more memory",
    )
    matrices = np.zeros((len(alphabet), count, count))
    for state, symbol, successor, weight in edges:
        matrices[symbol, state, successor] = weight * rows[state, symbol + 1]
    return PFA(alphabet, initial=initial, matrices=matrices, ends=rows[:, 0])


def _sections(lines: list[bytes]) -> list[_Section]:
    """Return the sections I, F, S and T."""
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
    return [sections[title] for title in _KEYS]


def _add_entry(section: _Section, title: str, line: bytes, number: int) -> None:
    match = _ENTRY.fullmatch(line)
    key = tuple(map(int, match[1].split(b","))) if match else ()
    if match is None or len(key) != _KEYS[title].count(",") + 1:
        raise at_line(number, f"{show_field(line)} is not an entry {_KEYS[title]} PROBABILITY")
    if key in section:
        raise at_line(number, f"this entry is already on line {section[key][1]}; keep one")
    value = number_in(match[2], number)
    if not 0 <= value <= 1 + SUM_TOLERANCE:
        raise at_line(number, f"{value} is not a probability, a number from 0 to 1")
    section[key] = (value, number)


def write_pautomac(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA; symbols become numbers.

    Probabilities of symbols are written as shares of what does not stop, so that they come back but
    for the rounding of a division and a multiplication.
    """
    stream.write("".join(_model_lines(pdfa)).encode())


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


def _model_lines(pdfa: PDFA) -> Iterator[str]:
    numbers = symbol_numbers(pdfa.alphabet)
    yield f"I: (state)\n\t({pdfa.initial}) 1.0\nF: (state)\n"
    for state, probability in enumerate(pdfa.probabilities[:, 0].tolist()):
        if probability:
            yield f"\t({state}) {min(probability, 1.0)!r}\n"
    yield "S: (state,symbol)\n"
    for number, highest in zip(numbers, pdfa.transitions.max(axis=0).tolist(), strict=True):
        if highest < 0:  # the symbol has no successor, and nobody would know of it
            yield f"\t({pdfa.initial},{number}) 0.0\n"
    rows = pdfa.probabilities[:, 1:]
    sums = rows.sum(axis=1, keepdims=True)
    for state, row in enumerate((rows / (sums + (sums == 0))).tolist()):
        for number, share in zip(numbers, row, strict=True):
            if share:
                yield f"\t({state},{number}) {share!r}\n"
    yield "T: (state,symbol,state)\n"
    for state, successors in enumerate(pdfa.transitions.tolist()):
        for number, successor in zip(numbers, successors, strict=True):
            if successor >= 0:
                yield f"\t({state},{number},{successor}) 1.0\n"
