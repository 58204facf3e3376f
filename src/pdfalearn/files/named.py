"""What all files have in common: names, endings, and being written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeVar

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files.atomic import check_replaceable, replacing
from pdfalearn.text import described

_Function = TypeVar("_Function")
_Thing = TypeVar("_Thing")

LONGEST_MESSAGE = 600
"""An error shows no more characters of what a file holds."""


def read(path: str | os.PathLike[str], readers: dict[str, Callable[[BinaryIO], _Thing]]) -> _Thing:
    """Read something from a file with the reader of its ending; errors name the file."""
    name = checked_name(path)
    reader = by_ending(readers, name, "load")
    with Path(name).open("rb") as stream:
        try:
            return reader(stream)
        except InputError as error:
            raise FileFormatError(f"{shown(name)}: {_shortened(str(error))}") from error
        except MemoryError as error:
            raise FileFormatError(f"{shown(name)}: needs more memory than there is") from error


def write(
    thing: _Thing,
    path: str | os.PathLike[str],
    writers: dict[str, Callable[[_Thing, BinaryIO], None]],
) -> None:
    """Write something to a file with the writer of its ending."""
    name = checked_name(path)
    writer = by_ending(writers, name, "save")
    with replacing(Path(name)) as stream:
        writer(thing, stream)


def check_can_write(
    path: str | os.PathLike[str], writers: dict[str, Callable[[_Thing, BinaryIO], None]]
) -> None:
    """Raise what `write` would raise whatever is to be written."""
    name = checked_name(path)
    by_ending(writers, name, "save")
    check_replaceable(Path(name))


def checked_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file; refuse what is not a path."""
    try:
        name = os.fspath(path)
        is_possible = isinstance(name, str) and b"\0" not in os.fsencode(name)
    except (TypeError, UnicodeEncodeError):
        is_possible = False
    if not is_possible:
        raise InputError(f"{described(path)} is not a path; give a string or a pathlib.Path")
    return name


def by_ending(table: dict[str, _Function], name: str, verb: str) -> _Function:
    """Choose by the ending of a file's name."""
    for ending, function in table.items():
        if name.lower().endswith(ending):
            return function
    raise InputError(
        f"{shown(name)}: cannot {verb} a file of this ending; those that work: {', '.join(table)}"
    )


def shown(name: str) -> str:
    """Return a file's name in a form that fits on one line."""
    return name if name and name.isprintable() else repr(name)


def _shortened(message: str) -> str:
    if len(message) <= LONGEST_MESSAGE:
        return message
    half = LONGEST_MESSAGE // 2
    return f"{message[:half]} … {message[-half:]}"
