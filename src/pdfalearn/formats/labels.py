"""Symbols, words and lists as the labels of drawings show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pdfalearn.alphabet import Symbol
from pdfalearn.text import escaped

MOST_ITEMS = 8
"""Lists of symbols or numbers are cut after this many."""

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
