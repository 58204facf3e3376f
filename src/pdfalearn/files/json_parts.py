"""Parts of JSON texts that several kinds of files have: format, version, keys, strings."""

from __future__ import annotations

import json
import reprlib
from typing import Any, TypeGuard

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files.json_text import parsed_object


def written(document: dict[str, Any], culprit: str, remedy: str) -> bytes:
    """Write an object as a text that can be read again, or say what cannot be in a file.

    Examples
    --------
    >>> written({"a": [1, None]}, "a", "numbers only").decode().split()
    ['{', '"a":', '[', '1,', 'null', ']', '}']
    """
    try:
        text = json.dumps(document, indent=1, allow_nan=False).encode()
        parsed_object(text, "its text")
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{culprit} cannot be in a file: {error}; {remedy}") from error
    return text


def check_kind(document: dict[str, Any], kind: str, version: int) -> None:
    """Refuse objects of another format, or of a version that there is not yet."""
    found, given = document.get("format"), document.get("version")
    if found != kind:
        noun = kind.rpartition(" ")[2]
        raise FileFormatError(f"its format is {reprlib.repr(found)}, not {kind!r}: no {noun}")
    if type(given) is not int or given < 1:
        raise wrong("version", given, f"{version}")
    if given > version:
        raise FileFormatError(
            f"version {reprlib.repr(given)} is newer than {version}, the last that this "
            "pdfalearn reads; upgrade pdfalearn"
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
