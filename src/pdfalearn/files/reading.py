"""The bytes of text files: plain or gzipped, and never more of them than a limit."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from typing import BinaryIO

from pdfalearn.errors import FileFormatError, InputError

PIECE = 2**20
"""Files are read and written in pieces of this many bytes."""


def read_all(stream: BinaryIO | gzip.GzipFile, limit: int, too_large: InputError) -> bytes:
    """Read a stream to its end, or refuse it."""
    return joined(iter(lambda: stream.read(PIECE), b""), limit, too_large)


def inflate_all(stream: BinaryIO, limit: int, too_large: InputError) -> bytes:
    """Read a gzipped stream to its end; what inflates beyond the limit is not inflated further."""
    try:
        with gzip.GzipFile(fileobj=stream) as inflated:
            return read_all(inflated, limit, too_large)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(f"not gzip, or damaged: {error}; save or fetch it again") from error


def joined(pieces: Iterable[bytes], limit: int, too_large: InputError) -> bytes:
    """Join pieces of a text, or refuse them as soon as they are longer than the limit."""
    kept = []
    length = 0
    for piece in pieces:
        kept.append(piece)
        length += len(piece)
        if length > limit:
            raise too_large
    return b"".join(kept)


def mebibytes(limit: int) -> str:
    """Write a limit as people read it."""
    return f"{limit / 2**20:g} MiB"
