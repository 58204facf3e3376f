"""Symbols as texts for programs that take only some characters."""

from __future__ import annotations

import re
from collections.abc import Callable

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import InputError
from pdfalearn.formats.file_symbols import symbol_shown

_RESERVED = frozenset('%"\\{}[]<>@ ')
_EMPTY = "%"
_NOT_IN_NAMES = re.compile(r"[^0-9A-Za-z]")


def percent_encoded(text: str) -> str:
    r"""Encode a text for files of fields between blanks, as in addresses of the web.

    What is not printable, blanks and a few characters that programs take as their own become the
    bytes of UTF-8, ``%20`` for a blank. ``urllib.parse.unquote`` turns them back. The empty text
    becomes ``%``.

    Examples
    --------
    >>> percent_encoded("a b"), percent_encoded("<eps>"), percent_encoded("é"), percent_encoded("")
    ('a%20b', '%3Ceps%3E', 'é', '%')
    """
    encoded = "".join(c if c.isprintable() and c not in _RESERVED else _bytes_of(c) for c in text)
    # AALpy takes every line with this name for the arrow into the initial state.
    return encoded.replace("__start0", "%5F_start0") or _EMPTY


def identifier(text: str) -> str:
    """Encode a text so that it can be a part of a name in a program.

    Examples
    --------
    >>> identifier("a"), identifier("a_b"), identifier("é")
    ('a', 'a_5f_b', '_e9_')
    """
    return _NOT_IN_NAMES.sub(lambda found: f"_{ord(found[0]):x}_", text)


def symbol_texts(alphabet: Alphabet, encode: Callable[[str], str]) -> tuple[list[str], str]:
    """Return the text of every symbol, and that of the terminal; no two are the same.

    Raises
    ------
    InputError
        If two symbols are written alike, as the integer 7 and the string "7" are.
    """
    owners: dict[str, object] = {}
    for symbol in (*alphabet, alphabet.terminal):
        other = owners.setdefault(str(symbol), symbol)
        if other is not symbol:
            raise InputError(
                f"symbols {symbol_shown(other)} and {symbol_shown(symbol)} are both written "
                f"{str(symbol)!r} in this kind of file; give one of them another name"
            )
    *symbols, terminal = map(encode, owners)
    return symbols, terminal


def _bytes_of(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
