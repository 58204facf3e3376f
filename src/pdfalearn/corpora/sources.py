"""Files of words as streams: names and patterns, compression, blocks of whole lines."""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from io import BufferedIOBase
from itertools import pairwise
from pathlib import Path
from typing import Any

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.extras import import_extra
from pdfalearn.files import check_name, show_name

STANDARD_INPUT = "-"
# Lines are read in blocks of at least this many bytes, as long as there are more.
_BLOCK = 2**18
# At most this many compressed bytes are read at once.
_COMPRESSED = 2**14
_ENDINGS = (".gz", ".zst", ".zstd")
_DAMAGES = (EOFError, gzip.BadGzipFile, zlib.error)


@dataclass(frozen=True)
class Source:
    """A file, or what was read from the standard input or a pipe."""

    name: str
    data: bytes | None = field(default=None, repr=False)
    # Of a plain text, only the lines that begin from here on, and before the end.
    begin: int = 0
    end: int | None = None

    @property
    def title(self) -> str:
        """What errors call it."""
        return "the standard input" if self.name == STANDARD_INPUT else show_name(self.name)

    @property
    def plain_name(self) -> str:
        """Its name in small letters, without the ending of its compression."""
        name = self.name.lower()
        return next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), name)

    @property
    def size(self) -> int:
        """How many bytes it has, compressed or not."""
        return Path(self.name).stat().st_size if self.data is None else len(self.data)

    @property
    def is_plain(self) -> bool:
        """Whether its bytes are the text itself."""
        return self.data is None and self.plain_name == self.name.lower()

    def split(self, count: int) -> list[Source]:
        """Split a plain text into parts of about the same size."""
        if count < 2:
            return [self]
        edges = [self.size * part // count for part in range(count + 1)]
        return [replace(self, begin=begin, end=end) for begin, end in pairwise(edges)]

    @contextmanager
    def open(self) -> Iterator[BufferedIOBase]:
        """Open it; what is compressed is decompressed, and what is damaged is named."""
        with Path(self.name).open("rb") if self.data is None else io.BytesIO(self.data) as raw:
            try:
                with _decompress(raw, self.name.lower()) as stream:
                    yield stream
            except _DAMAGES as error:
                raise FileFormatError(
                    f"{self.title}: damaged or cut off ({error}); get the file again"
                ) from error

    def blocks(self, bad: BadInput) -> Iterator[tuple[int, str]]:
        """Read the text in blocks of whole lines, each with the number of its first line."""
        number, rest = 1, list[bytes]()
        try:
            with self.open() as stream:
                if self.begin:
                    number = _skip_lines(stream, self.begin)
                while data := _read_until(stream, self.end):
                    head, line_end, tail = data.rpartition(b"\n")
                    if not line_end:  # one line that is longer than a block
                        rest.append(tail)
                        continue
                    block = _unify_ends(b"".join((*rest, head, line_end)), number)
                    rest = [tail] if tail else []
                    yield from _decode(block, number, bad)
                    number += block.count(b"\n")
        except FileFormatError as error:
            if number == 1 or not bad.is_skipped:
                raise
            bad.cut(error, f"line {number - 1:,}")
            return
        if rest:
            yield from _decode(_unify_ends(b"".join((*rest, b"\n")), number), number, bad)


@dataclass
class BadInput:
    """What is wrong in a file: an error at once, or counted and left out."""

    source: Source
    is_skipped: bool
    count: int = 0

    def report(self, number: int, message: str, unit: str = "line") -> None:
        """Report a part of the file that cannot be read."""
        if not self.is_skipped:
            raise FileFormatError(
                f"{self.source.title}, {unit} {number}: {message}; correct it, or leave out what "
                "cannot be read by skip_bad=True (--skip-bad)"
            )
        self.count += 1

    def cut(self, error: FileFormatError, place: str = "what could be read") -> None:
        """Leave out the rest of a file that is damaged, of which nobody knows how much it is."""
        self.count += 1
        text = f"{error}; all behind {place} is left out, and counts as one"
        warnings.warn(text, stacklevel=2)

    def refuse(self, message: str) -> FileFormatError:
        """Return the error of a file of which nothing can be read."""
        return FileFormatError(f"{self.source.title}: {message}")


def _skip_lines(stream: BufferedIOBase, begin: int) -> int:
    """Go to the first line that begins at a byte or after it; return its number."""
    number = 1
    left = begin - 1
    while left > 0:
        data = stream.read(min(_BLOCK, left))
        number += data.count(b"\n")
        left -= len(data)
    return number + stream.readline().endswith(b"\n")


def _read_until(stream: BufferedIOBase, end: int | None) -> bytes:
    """Read a block, but no line that begins at the end or after it."""
    if end is None:
        # In one call, `read` would lose what comes before a damage.
        parts = [stream.read1(_BLOCK)]
        with suppress(*_DAMAGES):  # which the next call raises again
            while parts[-1] and sum(map(len, parts)) < _BLOCK:
                parts.append(stream.read1(_BLOCK))
        return b"".join(parts)
    left = end - stream.tell()
    if left <= 0:
        return b""
    data = stream.read(min(_BLOCK, left))
    return data + stream.readline() if len(data) == left and data[-1:] != b"\n" else data


def _unify_ends(data: bytes, number: int) -> bytes:
    """Make every end of a line a line feed, and remove the mark of the byte order."""
    if number == 1:
        data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def _decode(data: bytes, number: int, bad: BadInput) -> Iterator[tuple[int, str]]:
    """Decode lines; those that are not UTF-8 are left out."""
    while data:
        try:
            yield number, data.decode()
            return
        except UnicodeDecodeError as error:
            begin = data.rfind(b"\n", 0, error.start) + 1
            end = data.index(b"\n", error.start) + 1
            line = number + data.count(b"\n", 0, begin)
            reason = f"byte {error.start - begin + 1} of the line is not a text in UTF-8"
            bad.report(line, reason)
            if begin:
                yield number, data[:begin].decode()
            number, data = line + 1, data[end:]


def _decompress(raw: BufferedIOBase, name: str) -> BufferedIOBase:
    """Return the stream of what a file holds, by the ending of its name."""
    if name.endswith(".gz"):
        return gzip.open(raw)
    if name.endswith((".zst", ".zstd")):
        return io.BufferedReader(_ZstandardStream(raw))
    return raw


class _ZstandardStream(io.RawIOBase):
    """Decompresses Zstandard; the stream of the package does not notice a missing end."""

    def __init__(self, raw: BufferedIOBase) -> None:
        self._raw = raw
        if find_spec("compression") is not None:  # Python's own, from 3.14 on
            self._package = import_extra("compression.zstd", "files of Zstandard")
            self._begin = self._package.ZstdDecompressor
        else:
            self._package = import_extra("zstandard", "files of Zstandard")
            self._begin = self._package.ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._compressed = self._plain = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._plain:
            data = self._compressed or self._raw.read(_COMPRESSED)
            is_between = self._frame is None or self._frame.eof
            if not data:
                if not is_between:
                    raise EOFError("the end is missing")
                return 0
            if is_between:
                self._frame = self._begin()
            try:
                self._plain = self._frame.decompress(data)
            except self._package.ZstdError as error:
                raise EOFError(str(error)) from error
            self._compressed = self._frame.unused_data
        count = min(len(buffer), len(self._plain))
        buffer[:count], self._plain = self._plain[:count], self._plain[count:]
        return count


def list_names(given: str | os.PathLike[str]) -> list[str]:
    """Return the names that a path or a pattern means, in sorted order."""
    name = check_name(given)
    if not glob.has_magic(name) or Path(name).exists():
        return [name]
    if not (found := sorted(glob.glob(name, recursive=True))):  # noqa: PTH207
        raise InputError(f"{show_name(name)}: no file has a name of this form")
    return [one for one in found if not Path(one).is_dir()]


def list_sources(given: str | os.PathLike[str]) -> list[Source]:
    """Return the files that a path or a pattern means, in sorted order."""
    return [_open_source(name) for name in list_names(given)]


def _open_source(name: str) -> Source:
    if name == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("there is no standard input to read; name a file instead of -")
        return Source(name, sys.stdin.buffer.read())
    if Path(name).is_dir():
        raise InputError(f"{show_name(name)} is a folder; name its files, as {name.rstrip('/')}/*")
    with Path(name).open("rb") as stream:  # what cannot be opened is said at once
        # A pipe can be read only once.
        return Source(name) if Path(name).is_file() else Source(name, stream.read())
