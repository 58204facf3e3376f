"""The lines of logs: files and pipes, plain or compressed, read once or followed as they grow."""

from __future__ import annotations

import codecs
import os
import re
import select
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from glob import escape
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from pdfalearn.corpora import STANDARD_INPUT, Source
from pdfalearn.errors import InputError
from pdfalearn.files import show_name

_BLOCK = 2**18
# A line that is longer is read as several, so that memory is bounded.
_LONGEST_LINE = 2**20
# The first bytes of a file tell whether it is still the same.
_HEAD = 256
# What rotated files are called: app.log.1, app.log-20261118, app.log.2.gz.
_ROTATED = re.compile(r"[.-]\d[\d.\-_]*(\.gz|\.zst)?")


@dataclass
class Follower:
    """Reads the lines of a log, in the same way for all commands.

    What is not UTF-8 in a line is replaced. When a file is rotated, the old one is read to its end,
    then those that were rotated since, then the new one; when it is truncated, it is read from
    the beginning, unless there is a copy of what it was.
    """

    path: str
    is_endless: bool = False
    """Whether to wait at the end of the file."""
    is_resumed: bool = False
    """Whether half a line at the end is left for the next time."""
    seconds: float = 0.2
    """How long to wait for more."""
    note: Callable[[str], object] = print
    """Takes what is worth a line to the operator."""
    undecodable: int = 0
    """How many lines were not UTF-8."""

    def __post_init__(self) -> None:
        self.files, self._rest = ExitStack(), b""
        if self.is_endless and not Source(self.path).is_plain:
            raise InputError(f"{show_name(self.path)} is compressed, and cannot be followed")
        self._open(Path(self.path))

    @property
    def position(self) -> dict[str, Any]:
        """Where the lines end that were read, to go on from there."""
        return {"inode": self._inode, "offset": self._offset, "head": self._head.hex()}

    def resume(self, position: dict[str, Any]) -> None:
        """Go on from a position, in the file that it is of, whatever that is called now."""
        if self._is_pipe:
            return
        offset, head, files = position["offset"], bytes.fromhex(position["head"]), self._files()
        same = [path for path in files if path.stat().st_ino == position["inode"]]
        # A copy, perhaps compressed, begins with the same bytes, if these are enough to tell.
        for path in [*same, *(files[::-1] if len(head) == _HEAD else ())]:
            self._open(path)
            if self._stream.read(len(head)) == head and self._skip(offset - len(head)):
                self._offset, self._head = offset, head
                return
        self.note(
            f"{show_name(self.path)} was truncated, or is another file than before: it is read "
            "from its beginning; what was written to the old one since the last look is lost"
        )
        self._open(Path(self.path))

    def blocks(self) -> Iterator[list[str]]:
        """Yield lines, many at once where there are many; none whenever there is nothing new."""
        is_second_look = False
        with self.files:  # in which the error of a damaged file gets its name
            while True:
                if self._is_replaced():
                    self.resume(self.position)
                data = self._read()
                if data:
                    is_second_look = False
                    if lines := self._take(data):
                        yield lines
                    continue
                following = None if data is None else self._next_file()
                # Whoever writes may not know yet of a new file: the old one gets a second look.
                is_awaited = data is not None and (self.is_endless or self._is_pipe)
                if (following is None and not is_awaited) or (following and is_second_look):
                    if self._rest and not (self.is_resumed and following is None):
                        yield self._decode(self._rest)
                    if following is None:
                        return
                    self._open(following)
                    is_second_look = False
                    continue
                is_second_look = following is not None
                yield []
                if not self._is_pipe:
                    time.sleep(self.seconds)

    def _take(self, data: bytes) -> list[str]:
        """Return the lines that are whole now."""
        data = self._rest + data
        end = data.rfind(b"\n") + 1
        # What has no end is cut where it is too long, whatever parts it came in.
        end += max(0, len(data) - end - 1) // _LONGEST_LINE * _LONGEST_LINE
        self._rest = data[end:]
        return self._decode(data[:end]) if end else []

    def _decode(self, data: bytes) -> list[str]:
        """Return the lines of what is not empty, and note that it was read."""
        if not self._offset and data[:2] in (b"\xff\xfe", b"\xfe\xff") and b"\0" in data:
            raise InputError(
                f"{show_name(self.path)} is a text in UTF-16; make it one in UTF-8, as by "
                "'iconv -f UTF-16 -t UTF-8'"
            )
        plain = data.removesuffix(b"\n")
        plain = plain if self._offset else plain.removeprefix(codecs.BOM_UTF8)
        self._offset += len(data)
        if len(self._head) < _HEAD:
            self._head = (self._head + data)[:_HEAD]
        if len(plain) > _LONGEST_LINE:
            plain = b"\n".join(part for line in plain.split(b"\n") for part in _cut(line))
        if b"\r" in plain:
            plain = plain.replace(b"\r\n", b"\n").removesuffix(b"\r")
        try:
            return plain.decode().split("\n")
        except UnicodeDecodeError:
            lines = plain.decode(errors="replace").split("\n")
            self.undecodable += sum("\ufffd" in line for line in lines)
            return lines

    def _read(self) -> bytes | None:
        """Return what is there; nothing if there is nothing yet, None if nothing will come."""
        if not self._is_pipe:
            return self._stream.read(_BLOCK)
        if not select.select([self._stream], [], [], self.seconds)[0]:
            return b""
        return os.read(self._stream.fileno(), _BLOCK) or None

    def _is_replaced(self) -> bool:
        """Return whether the file is shorter than what was read of it, or begins in another way."""
        if self._is_pipe or not self._is_plain:
            return False
        descriptor, read = self._stream.fileno(), self._offset + len(self._rest)
        is_shorter = os.fstat(descriptor).st_size < read
        return is_shorter or os.pread(descriptor, len(self._head), 0) != self._head

    def _open(self, path: Path) -> None:
        source = Source(str(path))
        if path.is_dir():
            raise InputError(f"{show_name(str(path))} is a folder; name a file of it")
        self.files.close()
        if self.path == STANDARD_INPUT:
            self._stream: BufferedIOBase = self.files.enter_context(os.fdopen(os.dup(0), "rb"))
        else:
            self._stream = self.files.enter_context(source.open())
        self._is_plain = source.is_plain
        status = os.fstat(self._stream.fileno()) if self._is_plain else path.stat()
        self._is_pipe = self._is_plain and not stat.S_ISREG(status.st_mode)
        self._is_pipe |= self.path == STANDARD_INPUT
        self._inode, self._rest, self._offset, self._head = status.st_ino, b"", 0, b""

    def _skip(self, count: int) -> bool:
        """Go on by some bytes; return whether there are as many."""
        if self._is_plain:
            end = self._stream.seek(count, os.SEEK_CUR)
            return end <= os.fstat(self._stream.fileno()).st_size
        while count > 0 and (data := self._stream.read(min(count, _BLOCK))):
            count -= len(data)
        return count == 0

    def _files(self) -> list[Path]:
        """Return the file, and before it those that it was rotated to, the oldest first."""
        path = Path(self.path)
        begun = path.parent.glob(f"{escape(path.name)}*")
        rotated = (one for one in begun if _ROTATED.fullmatch(one.name.removeprefix(path.name)))
        found = sorted((one.stat().st_mtime_ns, one) for one in rotated if one.is_file())
        return [one for _, one in found] + ([path] if path.exists() else [])

    def _next_file(self) -> Path | None:
        """Return the file that came after the open one; None if that is still the newest."""
        if self._is_pipe:
            return None
        try:
            if Path(self.path).stat().st_ino == self._inode:
                return None
            files = self._files()
            inodes = [one.stat().st_ino for one in files]
        except FileNotFoundError:  # it is being rotated just now
            return None
        later = files[inodes.index(self._inode) + 1 :] if self._inode in inodes else files[-1:]
        return later[0] if later else None


def _cut(line: bytes) -> list[bytes]:
    """Cut a line that is too long."""
    begins = range(0, max(1, len(line)), _LONGEST_LINE)
    return [line[begin : begin + _LONGEST_LINE] for begin in begins]
