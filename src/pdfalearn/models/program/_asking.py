"""Ask a program, and start it again where it fails."""

from __future__ import annotations

import os
import shlex
import shutil
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TypeVar

from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.program._exchange import Exchange, FaultError
from pdfalearn.models.program.processes import Process, started
from pdfalearn.text import described, escaped, shortened

Answer = TypeVar("Answer")


class Program:
    """A program that is started when it is first asked, and kept running.

    Threads may ask at once: one waits for the other.

    Parameters
    ----------
    command : tuple of str
        The program and its arguments.
    timeout : float
        The seconds that an answer may take.
    tries : int
        How often a line is asked before the program is given up on.
    """

    def __init__(self, command: tuple[str, ...], timeout: float, tries: int) -> None:
        self.command = command
        self._timeout = timeout
        self._tries = tries
        self._process: Process | None = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the process: who gets the copy starts one."""
        return Program, (self.command, self._timeout, self._tries)

    def __str__(self) -> str:
        return shortened(escaped(shlex.join(self.command)), 200)

    def ask(self, line: bytes, most: int, read: Callable[[bytes], Answer]) -> Answer:
        """Write a line, and return what ``read`` makes of the line that answers it.

        Where that is a fault, the program is started again and asked the same. An answer to
        another question cannot come, as each process has pipes of its own.
        """
        with self._lock:
            told = ""
            for _ in range(self._tries):
                try:
                    return read(self._exchanged(line, most))
                except FaultError as fault:
                    told = self._told(fault)
            raise ModelError(
                f"the program {self} failed{self._times()}: {told}. Try it by hand: "
                f"""echo '{{"words": [[]]}}' | {self}"""
            )

    def close(self) -> None:
        """End the program; it is started again if it is asked again."""
        with self._lock:
            self._end(politely=True)

    def _exchanged(self, line: bytes, most: int) -> bytes:
        try:
            return Exchange(self._running(), line, most).run(self._timeout)
        except FaultError:
            raise
        except BaseException:  # Ctrl-C: what it answers later must not be taken for another answer
            self._end(politely=False)
            raise

    def _running(self) -> Process:
        if self._process is not None and not self._process.is_ours:
            self._end(politely=False)
        if self._process is None:
            try:
                process = started(self.command)
            except (OSError, ValueError) as error:
                raise self._not_started(error) from error
            self._process = process
            self._finalizer = weakref.finalize(self, process.end)
        return self._process

    def _end(self, *, politely: bool) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end(politely=politely)
            self._finalizer.detach()

    def _told(self, fault: FaultError) -> str:
        """End the program, and word what it did with what it wrote to its standard error."""
        process = self._process
        self._end(politely=False)
        errors = "" if process is None else process.last_errors()
        if not errors:
            return f"{fault}; it wrote nothing to its standard error"
        lines = " | ".join(line.strip() for line in errors[-500:].splitlines() if line.strip())
        return f"{fault}; its standard error ends with '{escaped(lines)}'"

    def _times(self) -> str:
        return "" if self._tries == 1 else f" {self._tries} times in a row, at last"

    def _not_started(self, error: Exception) -> InputError:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return InputError(
            f"the program {self} cannot be started ({reason}); a script has to begin with a line "
            "that names its interpreter, such as #!/usr/bin/env python3"
        )


def checked_command(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return a program and its arguments, or say that there is no such program.

    Examples
    --------
    >>> checked_command("sh -c 'echo $0'")
    ('sh', '-c', 'echo $0')
    """
    if not hasattr(os, "waitid"):
        raise InputError("programs as models need Linux, or another system with POSIX's waitid")
    command = _parts(given)
    if shutil.which(command[0]) is None:
        raise InputError(_missing(command[0]))
    return command


def _parts(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        try:
            parts = tuple(shlex.split(given))
        except ValueError as error:
            raise InputError(f"the command {described(given)} is not one ({error})") from error
    elif isinstance(given, Sequence) and all(isinstance(part, str) for part in given):
        parts = tuple(given)
    else:
        parts = ()
    if not parts or not parts[0] or "\0" in "".join(parts):
        raise InputError(
            f"the command is {described(given)}; give a program and its arguments, as in "
            "'./model --fast' or ['./model', '--fast']"
        )
    return parts


def _missing(name: str) -> str:
    path = Path(name)
    if path.is_dir():
        return f"the program {described(name)} is a folder; name the file of a program"
    if not path.is_file():
        return f"there is no program {described(name)}; give its path, such as ./model"
    if os.sep not in name:
        return f"the program {described(name)} is not installed; call the file here ./{name}"
    return (
        f"the file {described(name)} is not executable; chmod +x it, or name its interpreter, as "
        f"in 'python3 {path.name}'"
    )
