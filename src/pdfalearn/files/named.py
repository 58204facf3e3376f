"""Files by name: endings, and being written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.text import described, shorten


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a stream whose bytes replace the file when the block ends without an error.

    They go to a temporary file in the same folder first. Symbolic links are followed, and an
    existing file keeps its mode. What is there and is not a regular file (a pipe, a device) is
    written to directly.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb") as stream:
            yield stream
        return
    target = path.resolve()
    if mode is not None:
        target.open("r+b").close()  # a file that may not be written to may not be replaced
    temporary = target.with_name(f".pdfalearn-{os.urandom(8).hex()}.tmp")
    try:
        try:
            opened = temporary.open("xb")
        except OSError as error:
            error.filename = os.fspath(path)  # the name that the caller knows
            raise
        with opened as stream:
            yield stream
            # Without this, a power failure could leave an empty file under the new name.
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class _NotYetError(Exception):
    """Ends the writing of a file before it has begun."""


_Function = TypeVar("_Function")
_Thing = TypeVar("_Thing")

LONGEST_MESSAGE = 600
"""An error shows no more characters of what a file holds."""


def read_named(
    path: str | os.PathLike[str], readers: dict[str, Callable[[BinaryIO], _Thing]]
) -> _Thing:
    """Read something from a file with the reader of its ending; errors name the file."""
    name = check_name(path)
    reader = _choose_by_ending(readers, name, "load")
    with Path(name).open("rb") as stream:
        try:
            return reader(stream)
        except InputError as error:
            raise FileFormatError(
                f"{show_name(name)}: {shorten(str(error), LONGEST_MESSAGE)}"
            ) from error
        except MemoryError as error:
            raise FileFormatError(f"{show_name(name)}: needs more memory than there is") from error


def write_named(
    thing: _Thing,
    path: str | os.PathLike[str],
    writers: dict[str, Callable[[_Thing, BinaryIO], None]],
) -> None:
    """Write something to a file with the writer of its ending."""
    name = check_name(path)
    writer = _choose_by_ending(writers, name, "save")
    with replacing(Path(name)) as stream:
        writer(thing, stream)


def check_can_write(
    path: str | os.PathLike[str], writers: dict[str, Callable[[_Thing, BinaryIO], None]]
) -> None:
    """Raise what `write` would raise whatever is to be written."""
    name = check_name(path)
    _choose_by_ending(writers, name, "save")
    file = Path(name)
    if not file.exists() or file.is_file() or file.is_dir():  # opening a pipe would be noticed
        with suppress(_NotYetError), replacing(file):
            raise _NotYetError


def check_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file; refuse what is not a path."""
    try:
        name = os.fspath(path)
        is_possible = isinstance(name, str) and b"\0" not in os.fsencode(name)
    except (TypeError, UnicodeEncodeError):
        is_possible = False
    if not is_possible:
        raise InputError(f"{described(path)} is not a path; give a string or a pathlib.Path")
    return name


def _choose_by_ending(table: dict[str, _Function], name: str, verb: str) -> _Function:
    """Choose by the ending of a file's name."""
    for ending, function in table.items():
        if name.lower().endswith(ending):
            return function
    raise InputError(
        f"{show_name(name)}: cannot {verb} a file of this ending; those that work: "
        f"{', '.join(table)}"
    )


def lock_file(path: Path, user: str) -> BinaryIO:
    """Lock a file, made if it is missing, until the returned stream is closed; refuse a locked one.

    The lock also ends with the process, however that ends. The file stays: another process may be
    about to lock it.
    """
    import fcntl  # which not every system has

    stream = path.open("wb")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        stream.close()
        raise InputError(
            f"{show_name(str(path))} is locked: {user} is at work; wait for its end, or give "
            "another name"
        ) from error
    return stream


def show_name(name: str) -> str:
    """Return a file's name in a form that fits on one line."""
    return name if name and name.isprintable() else repr(name)
