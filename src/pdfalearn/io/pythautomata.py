"""PDFA as pythautomata writes them: text in pairs of lines, which its pickles wrap.

The first line of a pair says what the second one holds: ``Name``, ``Terminal Symbol``, ``Alphabet``
(the symbols), ``State`` (name, initial weight, final weight) or ``Transition`` (from, to, symbol,
weight), with one blank between. A pickle is searched for this text and never unpickled: that could
run anything.
"""

from __future__ import annotations

import pickletools  # it takes pickles apart and makes nothing of them
from typing import BinaryIO, NamedTuple

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import sums_to_one
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.io._lines import (
    Transition,
    at_line,
    build_pdfa,
    initial_state,
    lines_of,
    probability_in,
    read_bytes,
    show_field,
)
from pdfalearn.pdfa import PDFA

_KINDS = ("Name", "Terminal Symbol", "Alphabet", "State", "Transition")
_PICKLE = b"\x80"


class _Value(NamedTuple):
    fields: list[bytes]
    line: int


class _State(NamedTuple):
    number: int
    initial: float
    final: float
    line: int


def read(stream: BinaryIO) -> PDFA:
    """Read a PDFA from the text, or from a pickle that wraps it."""
    data = read_bytes(stream)
    values = _values(lines_of(_wrapped(data) if data.startswith(_PICKLE) else data))
    alphabet = _alphabet(values)
    states = _states(values["State"])
    transitions = _transitions(values["Transition"], alphabet, states)
    _check_sums(states, transitions)
    initial = initial_state({name: (state.initial, state.line) for name, state in states.items()})
    finals = [state.final for state in states.values()]
    return build_pdfa(alphabet, finals, transitions, states[initial].number)


def _wrapped(data: bytes) -> bytes:
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
        values[kind].append(_Value(fields, place + 2))
    for kind in _KINDS[:3]:
        if not values[kind]:
            raise FileFormatError(f"{kind!r} is missing; cut off, or not pythautomata's?")
        for again in values[kind][1:]:
            raise at_line(again.line, f"a second {kind}; keep one")
    return values


def _alphabet(values: dict[str, list[_Value]]) -> Alphabet:
    (symbols,), (terminal,) = values["Alphabet"], values["Terminal Symbol"]
    try:
        return Alphabet(
            [field.decode() for field in symbols.fields], b" ".join(terminal.fields).decode()
        )
    except InputError as error:
        raise at_line(symbols.line, str(error)) from error


def _states(values: list[_Value]) -> dict[str, _State]:
    states: dict[str, _State] = {}
    for fields, line in values:
        if len(fields) != 3:
            raise at_line(line, f"{show_field(b' '.join(fields))} is not NAME INITIAL FINAL")
        name = fields[0].decode()
        if name in states:
            raise at_line(line, f"state {name!r} is already on line {states[name].line}")
        initial, final = (probability_in(field, line) for field in fields[1:])
        states[name] = _State(len(states), initial, final, line)
    return states


def _transitions(
    values: list[_Value], alphabet: Alphabet, states: dict[str, _State]
) -> list[Transition]:
    transitions = []
    lines: dict[tuple[int, int], int] = {}
    for fields, line in values:
        if len(fields) != 4:
            raise at_line(line, f"{show_field(b' '.join(fields))} is not FROM TO SYMBOL WEIGHT")
        origin, successor, symbol = (field.decode() for field in fields[:3])
        for state in (origin, successor):
            if state not in states:
                raise at_line(line, f"state {state!r} is unknown: there is no State of this name")
        if symbol not in alphabet:
            raise at_line(line, f"symbol {symbol!r} is not in the alphabet")
        key = (states[origin].number, alphabet.index(symbol))
        if lines.setdefault(key, line) != line:
            raise at_line(
                line,
                f"not deterministic: state {origin!r}, symbol {symbol!r} has a transition on line "
                f"{lines[key]} already",
            )
        weight = probability_in(fields[3], line)
        transitions.append(Transition(*key, states[successor].number, weight))
    return transitions


def _check_sums(states: dict[str, _State], transitions: list[Transition]) -> None:
    sums = [state.final for state in states.values()]
    for transition in transitions:
        sums[transition.state] += transition.probability
    for (name, state), total in zip(states.items(), sums, strict=True):
        if not sums_to_one(total):
            raise at_line(state.line, f"state {name!r}: its weights sum to {total:.9g}, not to 1")
