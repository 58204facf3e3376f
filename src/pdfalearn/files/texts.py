"""Texts within bounds: plain, gzipped, and in lines; what is wrong with a line has its number."""

from __future__ import annotations

import gzip
import reprlib
import zlib
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from pdfalearn.errors import FileFormatError

_Thing = TypeVar("_Thing")

TEXT_LIMIT = 256 * 2**20
"""The most bytes of text, before compression, that are read."""

# Files are read in pieces of this many bytes: `read` makes room for as much as it may return.
_PIECE = 2**20


def read_all(stream: BinaryIO, limit: int, what: str) -> bytes:
    """Read a stream to its end, or refuse it as soon as there is more of that than the limit."""
    data = bytearray()
    while piece := stream.read(_PIECE):
        data += piece
        if len(data) > limit:
            raise FileFormatError(f"more than {limit / 2**20:g} MiB of {what}")
    return bytes(data)


def read_gzipped(read: Callable[[BinaryIO], _Thing], stream: BinaryIO) -> _Thing:
    """Read the gzipped form of what a function reads; no more is inflated than is read."""
    try:
        with gzip.GzipFile(fileobj=stream) as inflated:
            return read(inflated)  # type: ignore[arg-type]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(f"not gzip, or damaged: {error}; save or fetch it again") from error


def read_lines(stream: BinaryIO) -> list[bytes]:
    """Read the lines of a text in UTF-8; the first one has number 1."""
    data = read_all(stream, TEXT_LIMIT, "text, which is too much to read")
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
