"""What every file of a PDFA says about it in JSON: format, version, symbols, initial state."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable
from typing import NamedTuple

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.formats.file_symbols import can_be_in_file, check_symbols, symbol_shown
from pdfalearn.pdfa import PDFA

FORMAT = "pdfa"
VERSION = 1
KEYS = ("format", "version", "alphabet", "terminal", "initial")

OBJECTS_LIMIT = 10_000
"""The most objects in a JSON text. A PDFA is one; what has some is told what it is instead."""


class Header(NamedTuple):
    """The part of a PDFA that is not an array."""

    alphabet: Alphabet
    initial: int


def header_text(pdfa: PDFA) -> bytes:
    """Write the header as a JSON object."""
    check_symbols((*pdfa.alphabet, pdfa.terminal))
    values = (FORMAT, VERSION, pdfa.alphabet.symbols, pdfa.terminal, pdfa.initial)
    text = json.dumps(
        dict(zip(KEYS, values, strict=True)), ensure_ascii=False, separators=(",", ":")
    )
    # Lone surrogates, which UTF-8 does not have, become \udxxx, and that is their form in JSON.
    return text.encode("utf-8", "backslashreplace")


def parsed(data: bytes) -> dict[str, object]:
    """Read a JSON object, or say what is wrong with its text."""
    if not data:
        raise FileFormatError("empty, not a PDFA; save or fetch it again")
    try:
        document = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_ObjectMaker(),
            parse_constant=_refused_constant,
        )
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"byte {error.start} is not UTF-8 text; another kind of file under this ending?"
        ) from error
    except json.JSONDecodeError as error:
        raise FileFormatError(f"not JSON, or cut off: {error}; save or fetch it again") from error
    except RecursionError as error:
        raise FileFormatError("nested too deeply to be a PDFA") from error
    except ValueError as error:
        raise FileFormatError("holds a number of thousands of digits; not a PDFA") from error
    if not isinstance(document, dict):
        raise FileFormatError(f"holds {reprlib.repr(document)}, not a JSON object with a PDFA")
    return document


def checked_header(document: dict[str, object], other_keys: Iterable[str] = ()) -> Header:
    """Check the header of a document that has ``other_keys`` beside it, and no more."""
    _check_kind(document)
    expected = {*KEYS, *other_keys}
    for key in sorted(expected - document.keys()):
        raise FileFormatError(f"key {key!r} is missing; a PDFA needs {sorted(expected)}")
    for key in document.keys() - expected:
        raise FileFormatError(f"unknown key {reprlib.repr(key)}; a PDFA has {sorted(expected)}")
    symbols, terminal, initial = (document[key] for key in KEYS[2:])
    if not isinstance(symbols, list):
        raise FileFormatError(f"alphabet {reprlib.repr(symbols)} is not a list of symbols")
    for symbol in (*symbols, terminal):
        if not can_be_in_file(symbol):
            raise FileFormatError(
                f"symbol {symbol_shown(symbol)} is neither a string nor an integer of 64 bits"
            )
    if type(initial) is not int:
        raise FileFormatError(f"initial state {reprlib.repr(initial)} is not an integer")
    return Header(Alphabet(symbols, terminal), initial)


def _check_kind(document: dict[str, object]) -> None:
    kind, version = document.get("format"), document.get("version")
    if kind != FORMAT:
        raise FileFormatError(f"its format is {reprlib.repr(kind)}, not {FORMAT!r}: no PDFA")
    if type(version) is not int or version < 1:
        raise FileFormatError(f"version {reprlib.repr(version)} does not exist; write {VERSION}")
    if version > VERSION:
        raise FileFormatError(
            f"version {reprlib.repr(version)} is newer than {VERSION}, the last that this "
            "pdfalearn reads; upgrade pdfalearn"
        )


class _ObjectMaker:
    """Makes the objects of one text from pairs: no key twice, and not too many of them."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        self._count += 1
        if self._count > OBJECTS_LIMIT:
            raise FileFormatError(
                f"more than {OBJECTS_LIMIT:,} JSON objects, and a PDFA is a single one; another "
                "kind of file under this ending?"
            )
        result: dict[str, object] = {}
        for key, value in pairs:
            if key in result:
                raise FileFormatError(f"key {reprlib.repr(key)} occurs twice; keep one")
            result[key] = value
        return result


def _refused_constant(name: str) -> object:
    raise FileFormatError(f"holds {name}, which is not a probability")
