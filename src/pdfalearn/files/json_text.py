"""JSON texts, read within bounds: no key twice, finite numbers, and not too many parts."""

from __future__ import annotations

import json
import math
import reprlib
from typing import Any

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files.reading import mebibytes

TEXT_LIMIT = 16 * 2**20
"""The most bytes of a text."""

PARTS_LIMIT = 1_000_000
"""The most lists, objects and strings: Python needs many times the memory that their text takes."""


def parsed_object(data: bytes, name: str) -> dict[str, Any]:
    """Read a JSON object, or say what is wrong with its text.

    Parameters
    ----------
    data : bytes
        The text.
    name : str
        Where it comes from, for errors.

    Examples
    --------
    >>> parsed_object(b'{"a": [1, 2.5, null]}', "x.json")
    {'a': [1, 2.5, None]}
    >>> parsed_object(b'{"a": NaN}', "x.json")
    Traceback (most recent call last):
    pdfalearn.errors.FileFormatError: x.json holds NaN, which is not a number
    """
    if len(data) > TEXT_LIMIT:
        raise FileFormatError(f"{name} has more than {mebibytes(TEXT_LIMIT)} of JSON text")
    if sum(map(data.count, (b"[", b"{", b'"'))) > PARTS_LIMIT:
        raise FileFormatError(f"{name} has more than {PARTS_LIMIT:,} lists, objects and strings")
    try:
        document = json.loads(
            data.decode(),
            object_pairs_hook=_without_duplicates,
            parse_constant=_refused,
            parse_float=_finite,
        )
    except InputError as error:
        raise FileFormatError(f"{name} {error}") from error
    except RecursionError as error:
        raise FileFormatError(f"{name} is nested too deeply") from error
    except ValueError as error:  # no UTF-8, no JSON, or a number of thousands of digits
        raise FileFormatError(f"{name} is not JSON, or cut off: {error}") from error
    if not isinstance(document, dict):
        raise FileFormatError(f"{name} holds {reprlib.repr(document)}, not a JSON object")
    return document


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made: dict[str, object] = {}
    for key, value in pairs:
        if key in made:
            raise InputError(f"has the key {reprlib.repr(key)} twice")
        made[key] = value
    return made


def _refused(constant: str) -> object:
    raise InputError(f"holds {constant}, which is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError(f"holds {reprlib.repr(text)}, which is too large for a number")
    return number
