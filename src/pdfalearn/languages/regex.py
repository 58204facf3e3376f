"""From a regular expression to a DFA over the symbols of an alphabet."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.checks import check_tables_fit
from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.languages._construction import (
    Network,
    Subsets,
    Tables,
    TooLargeError,
    UnknownPartError,
)
from pdfalearn.languages.dfa import DFA
from pdfalearn.text import shortened

_PARTS = re.compile(
    r"""\\.                                                 # an escape
    | (?P<comment> \(\?\#[^)]*\) )
    | (?P<braces> \{\} )                                    # stand for themselves
    | (?P<possessive> (?:[*+?]|\{\d*,?\d*\})\+ )
    | (?P<atomic> \(\?> )
    | \[\^? (?P<bracket> \])? (?:\\.|[^\]\\])* \]          # a class, perhaps of a bracket""",
    re.DOTALL | re.VERBOSE,
)
"""What has to be told apart where interegular reads something else than Python does."""


def regex_dfa(pattern: str, alphabet: Alphabet) -> DFA:
    r"""Return a DFA of the words whose symbols, written one after the other, match as a whole.

    Parameters
    ----------
    pattern : str
        A regular expression as Python's module ``re`` reads it, without ``^``, ``$``, references
        and lookaround; ``\d``, ``\w`` and ``\s`` mean ASCII.
    alphabet : Alphabet
        Strings of any length.
    """
    texts = [_checked_text(symbol) for symbol in alphabet]
    tables = _tables(pattern, {character for text in texts for character in text})
    states = len(tables.accepting)
    check_tables_fit(
        np.dtype(np.int32).itemsize * states * len(alphabet),
        f"the {states:,} states of {shortened(repr(pattern), 200)} and {len(alphabet):,} symbols",
        "use a simpler regular expression or fewer symbols",
    )
    return DFA(
        alphabet=alphabet, transitions=_transitions(tables, texts), accepting=tables.accepting
    )


def _checked_text(symbol: Symbol) -> str:
    if isinstance(symbol, str):
        return symbol
    raise InputError(
        f"symbol {symbol!r} is not text, and a regular expression is about symbols that are "
        "strings; give a DFA instead"
    )


def _transitions(tables: Tables, texts: list[str]) -> NDArray[np.int32]:
    """Run every text from every state at once."""
    transitions = np.empty((len(tables.accepting), len(texts)), dtype=np.int32)
    for column, text in enumerate(texts):
        reached = np.arange(len(transitions), dtype=np.int32)
        for character in text:
            reached = tables.successors[tables.kind_of[character]][reached]
        transitions[:, column] = reached
    return transitions


def _tables(pattern: str, characters: set[str]) -> Tables:
    """Make the tables of a DFA over characters; refuse an expression that is too large for it."""
    try:
        return Subsets(Network(_parse(pattern), characters)).tables()
    except UnknownPartError as error:
        raise _unknown(pattern, error) from error
    except RecursionError as error:
        raise InputError(_complaint(pattern, "nested too deeply", None)) from error
    except TooLargeError as error:
        raise InputError(
            f"the regular expression {shortened(repr(pattern), 200)} is too large: "
            f"{error}; use smaller repetitions, or a DFA of your own"
        ) from error


def _parse(pattern: str) -> Any:
    """Parse a regular expression, first by Python, whose errors say best where it is wrong."""
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
            "a regular expression needs interegular: pip install interegular"
        ) from error
    try:
        return parse_pattern(_PARTS.sub(_plainer, pattern))
    except Unsupported as error:
        raise _unknown(pattern, error) from error
    except (InvalidSyntax, RecursionError) as error:
        place = getattr(error.__context__, "index", None)
        raise InputError(_complaint(pattern, str(error) or "unknown syntax", place)) from error


def _unknown(pattern: str, error: Exception) -> InputError:
    return InputError(
        f"the regular expression {pattern!r} uses what is not supported: {error}; "
        "it has to match whole words, without ^ and $, references or looking around"
    )


def _plainer(part: re.Match[str]) -> str:
    """Write a part so that interegular reads it as Python does."""
    if part["comment"]:
        return ""
    if part["braces"]:
        return r"\{\}"
    if part["possessive"]:
        raise InputError(f"possessive repetition is not supported: {part[0]} in {part.string!r}")
    if part["atomic"]:
        raise InputError(f"atomic groups are not supported: {part[0]} in {part.string!r}")
    if part[0][0] == "[" and len({"D", "S", "W"} & set(re.findall(r"\\(.)", part[0]))) > 1:
        raise InputError(
            f"classes with two complements are not supported: {part[0]} in {part.string!r}; "
            r"write alternatives, such as (\D|\W)"
        )
    return part[0].replace("]", r"\]", 1) if part["bracket"] else part[0]


def _complaint(pattern: str, reason: str, position: int | None) -> str:
    where = "" if position is None else f" at position {position}"
    return f"the regular expression {pattern!r} does not parse: {reason}{where}"
