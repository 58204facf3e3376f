"""A file of lines that grows, followed through rotation and truncation; or the standard input."""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from pdfalearn.errors import InputError
from pdfalearn.files import show_name

STANDARD_INPUT = "-"
_BLOCK = 2**18
# A line that is longer is cut, so that memory is bounded.
_LONGEST_LINE = 2**20
# The first bytes of a file tell whether it is still the same.
_HEAD = 256
# What rotated files are called: app.log.1, app.log-20261118.
_ROTATED = re.compile(r"[.-]\d[\d.\-_]*")


@dataclass
class Follower:
    """Reads the lines of a file as they come.

    When the file is rotated, the old one is read to its end, then those that were rotated since,
    then the new one; when it is truncated, it is read from the beginning.
    """

    path: str
    seconds: float = 0.2
    """How long to wait for more."""
    is_endless: bool = True
    """Whether to wait at the end of the file."""
    is_resumed: bool = False
    """Whether half a line at the end is left for the next time."""
    note: Callable[[str], object] = print
    """Takes what is worth a line to the operator."""
    undecodable: int = 0
    """How many lines were not UTF-8; what is wrong in them is replaced."""

    def __post_init__(self) -> None:
        self._descriptor, self._rest, self._offset, self._head = -1, b"", 0, b""
        if self.path == STANDARD_INPUT:
            self._descriptor = os.dup(0)
        else:
            self._open(Path(self.path))

    @property
    def position(self) -> dict[str, Any]:
        """Where the lines end that were read, to go on from there."""
        inode = os.fstat(self._descriptor).st_ino
        return {"inode": inode, "offset": self._offset, "head": self._head.hex()}

    def resume(self, position: dict[str, Any]) -> None:
        """Go on from a position, in the file that it is of, whatever that is called now."""
        if self.path == STANDARD_INPUT:
            return
        offset, head = int(position["offset"]), bytes.fromhex(position["head"])
        for path in self._files():
            if path.stat().st_ino == position["inode"]:
                self._open(path)
                if self._size() >= offset and os.pread(self._descriptor, len(head), 0) == head:
                    os.lseek(self._descriptor, offset, os.SEEK_SET)
                    self._offset, self._head = offset, head
                    return
        self.note(
            f"{show_name(self.path)} is another file than before: what was written to the old one "
            "since then is not read"
        )
        self._open(Path(self.path))

    def blocks(self) -> Iterator[list[str]]:
        """Yield lines, many at once where there are many; none whenever there is nothing new."""
        is_second_look = False
        while True:
            if self._is_replaced():
                self.note(f"{show_name(self.path)} was truncated: it is read from its beginning")
                os.lseek(self._descriptor, 0, os.SEEK_SET)
                self._rest, self._offset, self._head = b"", 0, b""
            data = self._read()
            if data:
                is_second_look = False
                if lines := self._take(data):
                    yield lines
                continue
            following = None if data is None else self._next_file()
            # Whoever writes may not know yet of a new file: the old one gets a second look.
            is_done = data is None or (following is None and not self._is_awaited)
            if is_done or (following is not None and is_second_look):
                if self._rest and not (self.is_resumed and following is None):
                    yield self._take_rest()
                if following is None:
                    return
                self._open(following)
                is_second_look = False
                continue
            is_second_look = following is not None
            yield []
            if self.path != STANDARD_INPUT:
                time.sleep(self.seconds)

    @property
    def _is_awaited(self) -> bool:
        """Whether more may come where there is nothing now."""
        return self.is_endless or self.path == STANDARD_INPUT

    def _take(self, data: bytes) -> list[str]:
        """Return the lines that are whole now."""
        whole, line_end, rest = (self._rest + data).rpartition(b"\n")
        if len(rest) > _LONGEST_LINE:
            whole, line_end, rest = whole + line_end + rest, b"", b""
        self._rest = rest
        if not whole and not line_end:
            return []
        self._offset += len(whole) + len(line_end)
        if len(self._head) < _HEAD:
            self._head = (self._head + whole + line_end)[:_HEAD]
        return self._decode(whole)

    def _take_rest(self) -> list[str]:
        """Return the last line, which has no end."""
        last, self._rest = self._rest, b""
        self._offset += len(last)
        return self._decode(last)

    def _decode(self, data: bytes) -> list[str]:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode(errors="replace")
            self.undecodable += sum(not _is_text(line) for line in data.split(b"\n"))
        return [line.removesuffix("\r") for line in text.split("\n")]

    def _read(self) -> bytes | None:
        """Return what is there; nothing if there is nothing yet, None if nothing will come."""
        if self.path == STANDARD_INPUT:
            if not select.select([self._descriptor], [], [], self.seconds)[0]:
                return b""
            return os.read(self._descriptor, _BLOCK) or None
        return os.read(self._descriptor, _BLOCK)

    def _size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def _is_replaced(self) -> bool:
        """Return whether the file is shorter than what was read of it, or begins in another way."""
        if self.path == STANDARD_INPUT:
            return False
        read = self._offset + len(self._rest)
        return self._size() < read or os.pread(self._descriptor, len(self._head), 0) != self._head

    def _open(self, path: Path) -> None:
        if path.is_dir():
            raise InputError(f"{show_name(str(path))} is a folder; name a file of it")
        descriptor = os.open(path, os.O_RDONLY)
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._rest, self._offset, self._head = descriptor, b"", 0, b""

    def _files(self) -> list[Path]:
        """Return the file, and before it those that it was rotated to, the oldest first."""
        path = Path(self.path)
        begun = path.parent.glob(f"{escape(path.name)}*")
        rotated = (one for one in begun if _ROTATED.fullmatch(one.name.removeprefix(path.name)))
        found = sorted((one.stat().st_mtime_ns, one) for one in rotated if one.is_file())
        return [one for _, one in found] + ([path] if path.exists() else [])

    def _next_file(self) -> Path | None:
        """Return the file that came after the open one; None if that is still the newest."""
        if self.path == STANDARD_INPUT:
            return None
        inode = os.fstat(self._descriptor).st_ino
        try:
            if Path(self.path).stat().st_ino == inode:
                return None
            files = self._files()
            inodes = [one.stat().st_ino for one in files]
        except FileNotFoundError:  # it is being rotated just now
            return None
        later = files[inodes.index(inode) + 1 :] if inode in inodes else files[-1:]
        return later[0] if later else None


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
