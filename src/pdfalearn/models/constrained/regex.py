"""From a regular expression to a DFA over the symbols of an alphabet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.dfa import DFA
from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.memory import check_tables_fit

if TYPE_CHECKING:
    from interegular import FSM

Table = NDArray[np.int32]

_PARTS = re.compile(
    r"""\\.                                                 # an escape
    | (?P<comment> \(\?\#[^)]*\) )
    | (?P<braces> \{\} )                                    # stand for themselves
    | (?P<possessive> (?:[*+?]|\{\d*,?\d*\})\+ )
    | \[\^? (?P<bracket> \])? (?:\\.|[^\]\\])* \]          # a class, perhaps of a bracket""",
    re.DOTALL | re.VERBOSE,
)
"""What has to be told apart where interegular reads something else than Python does."""


def regex_dfa(pattern: str, alphabet: Alphabet) -> DFA:
    r"""Return a DFA of the words whose symbols, written one after the other, match as a whole.

    Parameters
    ----------
    pattern : str
        A regular expression as Python's module ``re`` reads it, but for ``^``, ``$``, references
        and looking around; ``\d``, ``\w`` and ``\s`` mean ASCII.
    alphabet : Alphabet
        Strings of any length.
    """
    texts = [_checked_text(symbol) for symbol in alphabet]
    machine = _machine(pattern)
    states = len(machine.states)
    check_tables_fit(
        np.dtype(np.int32).itemsize * states * len(alphabet),
        f"the {states:,} states of {pattern!r} and {len(alphabet):,} symbols",
        "use a simpler regular expression or fewer symbols",
    )
    return DFA(
        alphabet=alphabet,
        transitions=_transitions(machine, texts),
        accepting=[state in machine.finals for state in range(states)],
        initial=machine.initial,
    )


def _checked_text(symbol: Symbol) -> str:
    if isinstance(symbol, str):
        return symbol
    raise InputError(
        f"symbol {symbol!r} is not text, and a regular expression guides only symbols that are "
        "strings; give a DFA as guide"
    )


def _transitions(machine: FSM, texts: list[str]) -> Table:
    """Run every text from every state at once."""
    successors = _successors(machine)
    transitions = np.empty((len(machine.states), len(texts)), dtype=np.int32)
    for column, text in enumerate(texts):
        reached = np.arange(len(transitions), dtype=np.int32)
        for character in text:
            reached = successors[machine.alphabet[character]][reached]
        transitions[:, column] = reached
    return transitions


def _successors(machine: FSM) -> dict[int | None, Table]:
    """Return the successor of every state, and of none, for each kind of character."""
    nowhere = np.full(len(machine.states) + 1, -1, dtype=np.int32)
    successors: dict[int | None, Table] = {
        kind: nowhere.copy() for kind in machine.alphabet.values()
    }
    for state, successor_of in machine.map.items():
        for kind, successor in successor_of.items():
            successors[kind][state] = successor
    return {**successors, None: nowhere}


def _machine(pattern: str) -> FSM:
    """Parse a regular expression, first as Python does, for that knows best where it is wrong."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise InputError(_complaint(pattern, error.msg, error.pos)) from error
    except (OverflowError, RecursionError) as error:
        raise InputError(_complaint(pattern, str(error), None)) from error
    try:
        from interegular import InvalidSyntax, Unsupported, parse_pattern
    except ImportError as error:
        raise MissingExtraError(
            "a regular expression as guide needs interegular: pip install 'pdfalearn[regex]'"
        ) from error
    try:
        parsed = parse_pattern(_PARTS.sub(_plainer, pattern))
        if parsed.prefix_postfix != (0, 0):
            raise Unsupported("looking beyond what is matched")
        return parsed.to_fsm()
    except Unsupported as error:
        raise InputError(
            f"the regular expression {pattern!r} uses what guides do not know: {error}; "
            "it has to match whole words, without ^ and $, references or looking around"
        ) from error
    except (InvalidSyntax, RecursionError) as error:
        place = getattr(error.__context__, "index", None)
        raise InputError(_complaint(pattern, str(error) or "unknown syntax", place)) from error


def _plainer(part: re.Match[str]) -> str:
    """Write a part so that interegular reads it as Python does."""
    if part["comment"]:
        return ""
    if part["braces"]:
        return r"\{\}"
    if part["possessive"]:
        raise InputError(f"guides do not know possessive repetition: {part[0]} in {part.string!r}")
    if part[0][0] == "[" and len({"D", "S", "W"} & set(re.findall(r"\\(.)", part[0]))) > 1:
        raise InputError(
            f"guides do not know classes with two complements: {part[0]} in {part.string!r}; "
            r"write alternatives, such as (\D|\W)"
        )
    return part[0].replace("]", r"\]", 1) if part["bracket"] else part[0]


def _complaint(pattern: str, reason: str, position: int | None) -> str:
    where = "" if position is None else f" at position {position}"
    return f"the regular expression {pattern!r} does not parse: {reason}{where}"
