"""Symbols that files can hold."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable

from pdfalearn.alphabet import Symbol
from pdfalearn.errors import InputError


def check_symbols(symbols: Iterable[Symbol]) -> None:
    """Name the symbol that files cannot hold."""
    for symbol in symbols:
        if not can_be_in_file(symbol):
            raise InputError(
                f"symbol {symbol_shown(symbol)} cannot be in a file: only strings of Unicode and "
                "integers of 64 bits can; make the PDFA with such symbols first"
            )


def can_be_in_file(symbol: Symbol) -> bool:
    """Return whether a file gives the symbol back as it is."""
    if isinstance(symbol, str):
        # JSON cannot tell a character from the two surrogates that UTF-16 writes it with.
        return symbol.isascii() or json.loads(json.dumps(symbol)) == symbol
    return isinstance(symbol, int) and not isinstance(symbol, bool) and -(2**63) <= symbol < 2**63


def symbol_shown(symbol: Symbol) -> str:
    """Return a symbol as an error shows it, however large it is."""
    if isinstance(symbol, int) and symbol.bit_length() > 64:
        return f"(an integer of {symbol.bit_length()} bits)"
    return reprlib.repr(symbol)
