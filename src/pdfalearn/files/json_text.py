"""JSON texts within bounds: no key twice, finite numbers, not too many parts."""

from __future__ import annotations

import json
import math
import reprlib
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeGuard

from pdfalearn.errors import FileFormatError, InputError

TEXT_LIMIT = 16 * 2**20
"""The most bytes of a text."""

PARTS_LIMIT = 1_000_000
"""The most lists, objects and strings: Python needs many times the memory that their text takes."""


def parse_object(data: bytes, name: str) -> dict[str, Any]:
    """Read a JSON object, or say what is wrong with the text of this name."""
    # Counted in the text, before anything is made of it.
    if len(data) > TEXT_LIMIT:
        raise FileFormatError(f"{name} has more than {TEXT_LIMIT / 2**20:g} MiB of JSON text")
    if sum(map(data.count, (b"[", b"{", b'"'))) > PARTS_LIMIT:
        raise FileFormatError(f"{name} has more than {PARTS_LIMIT:,} lists, objects and strings")
    return parse_json(data, name, parse_float=_finite)


def parse_json(
    data: bytes, name: str, *, parse_float: Callable[[str], float] | None = None
) -> dict[str, Any]:
    """Read a JSON object without duplicate keys or NaN, or say what is wrong with its text.

    ``parse_float`` makes numbers of texts, in place of `float`.
    """
    try:
        document = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_make_object,
            parse_constant=_refused,
            parse_float=parse_float,
        )
    except InputError as error:
        raise FileFormatError(f"{name} {error}") from error
    except RecursionError as error:
        raise FileFormatError(f"{name} is nested too deeply") from error
    except ValueError as error:  # no UTF-8, no JSON, or a number of thousands of digits
        raise FileFormatError(
            f"{name} is not JSON, or cut off: {error}; save or fetch it again"
        ) from error
    if not isinstance(document, dict):
        raise FileFormatError(f"{name} holds {reprlib.repr(document)}, not a JSON object")
    return document


def _make_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise InputError(f"has the key {reprlib.repr(key)} twice")
    return made


def _refused(constant: str) -> object:
    raise InputError(f"holds {constant}, which is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError(f"holds {reprlib.repr(text)}, which is too large for a number")
    return number


def write_json_text(document: dict[str, Any], culprit: str, remedy: str) -> bytes:
    """Write an object as a text that can be read again, or say what cannot be in a file."""
    try:
        text = json.dumps(document, indent=1, allow_nan=False).encode()
        parse_object(text, "its text")
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{culprit} cannot be in a file: {error}; {remedy}") from error
    return text


def check_kind(document: dict[str, Any], kind: str) -> None:
    """Refuse objects of another format, or of a version that there is not yet."""
    found, given = document.get("format"), document.get("version")
    if found != kind:
        noun = kind.rpartition(" ")[2]
        raise FileFormatError(f"its format is {reprlib.repr(found)}, not {kind!r}: no {noun}")
    if type(given) is not int or given < 1:
        raise wrong("version", given, "1")
    if given > 1:
        raise FileFormatError(
            f"version {reprlib.repr(given)} is newer than 1, the last that this pdfalearn reads; "
            "upgrade pdfalearn"
        )


def check_keys(document: object, keys: set[str], name: str) -> dict[str, Any]:
    """Return an object that has these keys and no others."""
    if not isinstance(document, dict) or document.keys() != keys:
        raise wrong(name, document, f"an object with the keys {sorted(keys)}")
    return document


def strings(value: object, name: str) -> tuple[str, ...]:
    """Return the strings of a list."""
    if not (isinstance(value, list) and all(isinstance(text, str) for text in value)):
        raise wrong(name, value, "a list of strings")
    return tuple(value)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number of JSON; true and false are not."""
    return type(value) in (int, float)


def wrong(name: str, value: object, expected: str) -> FileFormatError:
    """Make the error that says what a value is, and what it should be.

    Examples
    --------
    >>> wrong("tree", 1, "null")
    FileFormatError('tree is 1, not null')
    """
    return FileFormatError(f"{name} is {reprlib.repr(value)}, not {expected}")
