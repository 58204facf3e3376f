"""PDFA as pythautomata writes them: text in pairs of lines, which its pickles wrap.

The first line of a pair says what the second one holds: ``Name``, ``Terminal Symbol``, ``Alphabet``
(the symbols), ``State`` (name, initial weight, final weight) or ``Transition`` (from, to, symbol,
weight), with one blank between. A pickle is searched for this text and never unpickled: that could
run anything.
"""

from __future__ import annotations

import pickletools  # it takes pickles apart and makes nothing of them
from typing import BinaryIO

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.io._lines import (
    State,
    Transition,
    at_line,
    build_pdfa,
    initial_state,
    probability_in,
    read_bytes,
    show_field,
    split_lines,
)
from pdfalearn.pdfa import PDFA

_KINDS = ("Name", "Terminal Symbol", "Alphabet", "State", "Transition")
_PICKLE = b"\x80"


# The fields of a line, and its number.
_Value = tuple[list[bytes], int]


def read_pythautomata(stream: BinaryIO) -> PDFA:
    """Read a PDFA from the text, or from a pickle that wraps it."""
    data = read_bytes(stream)
    values = _values(split_lines(_find_text(data) if data.startswith(_PICKLE) else data))
    alphabet = _alphabet(values)
    states: list[State] = []
    starts: dict[str, tuple[float, int]] = {}
    for fields, line in values["State"]:
        if len(fields) != 3:
            raise at_line(line, f"{show_field(b' '.join(fields))} is not NAME INITIAL FINAL")
        name = fields[0].decode()
        if name in starts:
            raise at_line(line, f"state {name!r} is already on line {starts[name][1]}")
        starts[name] = probability_in(fields[1], line), line
        states.append(State(name, probability_in(fields[2], line), line))
    numbers = {name: number for number, name in enumerate(starts)}
    transitions = [_transition(value, alphabet, numbers) for value in values["Transition"]]
    initial = numbers[initial_state(starts)]
    return build_pdfa(alphabet, states, transitions, initial)


def _find_text(data: bytes) -> bytes:
    """Find the text among the strings of a pickle."""
    try:
        for _, argument, _ in pickletools.genops(data):
            if isinstance(argument, str) and argument.startswith(f"{_KINDS[0]}\n"):
                return argument.encode("utf-8", "surrogatepass")
    except ValueError as error:
        raise FileFormatError(f"a pickle, but damaged: {error}; fetch it again") from error
    raise FileFormatError("a pickle, but not one of a PDFA of pythautomata")


def _values(lines: list[bytes]) -> dict[str, list[_Value]]:
    """Sort the pairs of lines by what they hold."""
    while lines and not lines[-1].strip():
        lines.pop()
    values: dict[str, list[_Value]] = {kind: [] for kind in _KINDS}
    for place in range(0, len(lines), 2):
        kind = lines[place].strip().decode()
        if kind not in values:
            raise at_line(
                place + 1, f"{show_field(lines[place])} where one of {', '.join(_KINDS)} belongs"
            )
        if place + 1 == len(lines):
            raise at_line(place + 1, f"{kind} without the line that should follow; cut off?")
        fields = lines[place + 1].removesuffix(b"\r").split(b" ")
        values[kind].append((fields, place + 2))
    for kind in _KINDS[:3]:
        if not values[kind]:
            raise FileFormatError(f"{kind!r} is missing; cut off, or not pythautomata's?")
        for _, again in values[kind][1:]:
            raise at_line(again, f"a second {kind}; keep one")
    return values


def _alphabet(values: dict[str, list[_Value]]) -> Alphabet:
    ((symbols, line),), ((terminal, _),) = values["Alphabet"], values["Terminal Symbol"]
    try:
        return Alphabet(map(bytes.decode, symbols), b" ".join(terminal).decode())
    except InputError as error:
        raise at_line(line, str(error)) from error


def _transition(value: _Value, alphabet: Alphabet, numbers: dict[str, int]) -> Transition:
    fields, line = value
    if len(fields) != 4:
        raise at_line(line, f"{show_field(b' '.join(fields))} is not FROM TO SYMBOL WEIGHT")
    origin, successor, symbol = (field.decode() for field in fields[:3])
    for state in (origin, successor):
        if state not in numbers:
            raise at_line(line, f"state {state!r} is unknown: there is no State of this name")
    if symbol not in alphabet:
        raise at_line(line, f"symbol {symbol!r} is not in the alphabet")
    weight = probability_in(fields[3], line)
    return Transition(numbers[origin], alphabet.index(symbol), numbers[successor], weight, line)
