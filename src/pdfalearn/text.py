"""Words, symbols, numbers and the names of figures as people read them."""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from typing import Any, TypeGuard

Symbols = Sequence[object]

# What figures are called, on the way and in the end.
LABELS = {
    "states": "states",
    "words": "words asked",
    "stored_words": "words taken from the store",
    "audited_words": "words asked again (audit)",
    "largest_difference": "largest difference in the audit",
    "words_drawn": "words drawn",
    "word_count": "words",
    "held_out_words": "of these held out",
    "distributions": "distributions read",
    "symbols": "symbols asked",
    "cost": "cost",
    "equivalence_queries": "equivalence queries",
    "tree_depth": "tree depth",
    "inner_nodes": "inner nodes",
    "learning_seconds": "seconds for learning",
    "equivalence_seconds": "seconds for equivalence",
    "training_divergence": "training divergence",
    "held_out_divergence": "held-out divergence",
    "training_cross_entropy": "training cross-entropy",
    "held_out_cross_entropy": "held-out cross-entropy",
}

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


def escaped(text: str) -> str:
    r"""Escape all characters that are invisible or act on terminals, such as colours.

    Examples
    --------
    >>> print(escaped("\x1b[31mred\n"), escaped("κ é"), escaped("\u202egnp.exe"))
    \x1b[31mred\n κ é \u202egnp.exe
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def symbol_text(symbol: object) -> str:
    r"""Write one symbol so that it can be seen: quoted where it has blanks, escaped where needed.

    Examples
    --------
    >>> symbol_text("a"), symbol_text(" "), symbol_text("\n"), symbol_text(7)
    ('a', "' '", '\\n', '7')
    """
    text = escaped(str(symbol))
    return repr(text) if not text or " " in text else text


def word_text(word: Symbols, *, joined: bool) -> str:
    """Write a word: its symbols side by side if each is one character, else with spaces between.

    Examples
    --------
    >>> word_text("abba", joined=True), word_text(("up", "down"), joined=False)
    ('abba', 'up down')
    """
    if joined:
        return "".join(escaped(str(symbol)) for symbol in word)
    return " ".join(map(symbol_text, word))


def short_word_text(word: Symbols, *, joined: bool, most: int = 40) -> str:
    """Write a word for a table: the middle of a long one is left out, and its length given.

    Examples
    --------
    >>> short_word_text("a" * 50 + "b" * 50, joined=True, most=6)
    'aaa ... bbb (100 symbols)'
    >>> short_word_text("", joined=True)
    '(the empty word)'
    """
    if not word:
        return "(the empty word)"
    if len(word) <= most:
        return shorten(word_text(word, joined=joined), most * 8)
    half = most // 2
    begin, end = (word_text(part, joined=joined) for part in (word[:half], word[-half:]))
    return f"{shorten(begin, most * 4)} ... {shorten(end, most * 4)} ({len(word):,} symbols)"


def shorten(text: str, most: int) -> str:
    """Leave out the middle of a long text.

    Examples
    --------
    >>> shorten("abcdefghijklmnop", 10)
    'abcd...mnop'
    """
    if len(text) <= most:
        return text
    half = max(1, (most - 2) // 2)
    return f"{text[:half]}...{text[-half:]}"


def width_apart(texts: Iterable[str], most: int) -> int:
    """Return the least width, by doubling, at which `shorten` leaves texts that differ different.

    Examples
    --------
    >>> texts = ["abcdefghijklmnop", "abcdeFghijklmnop", "abc"]
    >>> [shorten(text, width_apart(texts, 8)) for text in texts]
    ['abcdefghijklmnop', 'abcdeFghijklmnop', 'abc']
    """
    found = set(texts)
    while len({shorten(text, most) for text in found}) < len(found):
        most *= 2
    return most


def leave_out_common_ends(texts: Sequence[str], most: int = 18) -> list[str]:
    """Shorten long names by the words with which all of them begin and end, as in a log.

    Examples
    --------
    >>> leave_out_common_ends(["INFO web GET /home took <*> ms", "INFO web GET / took <*> ms", "$"])
    ['… /home …', '… / …', '$']
    >>> leave_out_common_ends(["page 1 of the album of Ann", "page 2 of the album of Bob"])
    ['… 1 of the album of Ann', '… 2 of the album of Bob']
    """
    words = [text.split(" ") for text in texts if len(text) > most]
    if len(words) < 2:
        return list(texts)
    begin, end = (_count_common(lists) for lists in (words, [one[::-1] for one in words]))
    end = min(end, min(map(len, words)) - begin - 1)  # a word of each is left
    return [_leave_out(text, begin, end) if len(text) > most else text for text in texts]


def _count_common(lists: Sequence[Sequence[str]]) -> int:
    """Count the items with which all lists begin, but for the last one of each."""
    items = zip(*(one[:-1] for one in lists), strict=False)
    return sum(1 for _ in takewhile(lambda same: len(set(same)) == 1, items))


def _leave_out(text: str, begin: int, end: int) -> str:
    words = text.split(" ")
    rest = words[begin : len(words) - end]
    return " ".join([*["…"] * (begin > 0), *rest, *["…"] * (end > 0)])


def described(thing: object) -> str:
    """Describe on one short line what was given instead of something else.

    Examples
    --------
    >>> described(None), described("a.json"), described([0] * 1000)
    ('None', "'a.json'", '[0, 0, 0, 0, 0, 0, ...]')
    """
    try:
        return shorten(escaped(" ".join(_REPR.repr(thing).split())), 90)
    except (ValueError, RecursionError):  # too many digits, or lists in lists in lists
        return f"a {type(thing).__name__} that is too large to be written"


def is_iterable(thing: object) -> TypeGuard[Iterable[Any]]:
    """Return whether one can go through it; NumPy's arrays of no dimension only say so.

    Examples
    --------
    >>> import numpy as np
    >>> is_iterable("ab"), is_iterable(np.array([1])), is_iterable(np.array(1)), is_iterable(1)
    (True, True, False, False)
    """
    return isinstance(thing, Iterable) and getattr(thing, "ndim", 1) != 0


def are_characters(symbols: Iterable[object]) -> bool:
    """Return whether every symbol is one character, so that words need no spaces."""
    return all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols)


def count_text(count: int, name: str) -> str:
    """Write how many there are of something whose name is in the plural.

    Examples
    --------
    >>> count_text(1, "states"), count_text(1234, "words asked")
    ('1 state', '1,234 words asked')
    >>> count_text(1, "equivalence queries")
    '1 equivalence query'
    """
    if count != 1:
        return f"{count:,} {name}"
    one = name.replace("queries", "query").replace("words", "word").replace("symbols", "symbol")
    for plural in ("states", "templates", "lines", "sessions"):
        one = one.replace(plural, plural[:-1])
    return f"1 {one}"


def format_table(
    rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,), gap: str = "  "
) -> str:
    """Write rows of texts in columns, aligned to the right except for some columns.

    Examples
    --------
    >>> print(format_table([("", "a"), ("states", "12")]))
             a
    states  12
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = (
        [
            text.ljust(width) if column in left else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    )
    return "\n".join(gap.join(row).rstrip() for row in aligned)
