"""Writing that leaves the old file or the new one, never half of one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a stream whose bytes replace the file when the block ends without an error.

    They go to a temporary file in the same folder first. Symbolic links are followed, and an
    existing file keeps its mode. What is there and is not a regular file (a pipe, a device) is
    written to directly.
    """
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb") as stream:
            yield stream
        return
    target, temporary = _names(path, mode)
    try:
        with _created(temporary, path) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_replaceable(path: Path) -> None:
    """Raise what would keep `replacing` from beginning, and leave everything as it is."""
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        path.open("wb")  # raises; opening a pipe or a device instead would be noticed
    if mode is None or stat.S_ISREG(mode):
        _, temporary = _names(path, mode)
        try:
            _created(temporary, path).close()
        finally:
            temporary.unlink(missing_ok=True)


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _names(path: Path, mode: int | None) -> tuple[Path, Path]:
    """Return the file to replace and a temporary file beside it."""
    target = path.resolve()
    if mode is not None:
        target.open("r+b").close()  # a file that may not be written to may not be replaced
    return target, target.with_name(f".pdfalearn-{os.urandom(8).hex()}.tmp")


def _created(temporary: Path, path: Path) -> BinaryIO:
    try:
        return temporary.open("xb")
    except OSError as error:
        error.filename = os.fspath(path)  # the name that the caller knows
        raise
