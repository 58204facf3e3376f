"""One process at a time in a folder of results."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pdfalearn.errors import InputError

_LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Have a folder alone, where the system can see to that; it is made if it is not there.

    The lock ends with the process, however that ends. Its file stays: another process may be
    about to lock it.

    Raises
    ------
    InputError
        If another process has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("wb") as stream:
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"{folder} is in use by other experiments; wait for their end, or choose "
                    "another folder"
                ) from error
        yield
