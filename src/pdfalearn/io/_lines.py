"""Files of lines: what is wrong with one is said with its number."""

from __future__ import annotations

import reprlib
from typing import BinaryIO

from pdfalearn.errors import FileFormatError
from pdfalearn.files import read_all

TEXT_LIMIT = 256 * 2**20
"""The most bytes of text, before compression, that are read."""


def read_bytes(stream: BinaryIO) -> bytes:
    """Read a file of text, or of something else with text inside."""
    return read_all(stream, TEXT_LIMIT, "text, which is too much to read")


def split_lines(data: bytes) -> list[bytes]:
    """Cut a text in UTF-8 into lines; the first one has number 1."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise at_line(number, f"byte {error.start} of the file is not UTF-8 text") from error
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def at_line(number: int, message: str) -> FileFormatError:
    """Make the error for a line."""
    return FileFormatError(f"line {number}: {message}")


def number_in(field: bytes, line: int) -> float:
    """Read a number, or name what stands there instead."""
    try:
        return float(field)
    except ValueError as error:
        raise at_line(line, f"{show_field(field)} is not a number") from error


def show_field(field: bytes) -> str:
    """Quote a part of a line."""
    return reprlib.repr(field.decode("utf-8", "backslashreplace"))
