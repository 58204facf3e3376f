"""Symbols, words and lists as the labels of drawings show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pdfalearn.alphabet import Symbol
from pdfalearn.text import escaped, shortened

MOST_ITEMS = 8
"""Lists of symbols or numbers are cut after this many."""

MOST_CHARACTERS = 32
"""Pictures leave out the middle of longer symbols."""

_Item = TypeVar("_Item")

_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "&": "&amp;"})


def escaped_label(text: str) -> str:
    """Write a line of any text in the DOT language, so that it is seen as it is."""
    return escaped(text).translate(_ESCAPES)


def symbol_label(symbol: Symbol) -> str:
    """Show a symbol, quoted where it could be mistaken, in the DOT language."""
    text = str(symbol)
    plain = text.isprintable() and text.strip() == text and text and not set(text) & set(",/")
    return (text if plain else repr(text)).translate(_ESCAPES)


def short_symbol_label(symbol: Symbol) -> str:
    """Show a symbol in a picture; of a long one the middle is left out.

    Examples
    --------
    >>> short_symbol_label("a" * 1000)
    'aaaaaaaaaaaaaaa...aaaaaaaaaaaaaaa'
    """
    return symbol_label(shortened(str(symbol), MOST_CHARACTERS))


def list_label(
    items: Sequence[_Item],
    separator: str,
    *,
    show: Callable[[_Item], str] = str,
    most: int = MOST_ITEMS,
) -> str:
    """Show a list; of a long one the end is left out, and the label says how much that is."""
    if len(items) <= most:
        return separator.join(map(show, items))
    left_out = len(items) - most + 1
    return separator.join([*map(show, items[: most - 1]), f"…{left_out} more"])
