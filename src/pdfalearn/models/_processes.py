"""Programs that run beside this process and end with it: a line to one, and a line back."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from threading import Thread
from typing import IO

from pdfalearn.text import escaped, shortened

_CHUNK = 2**16
_ONE_LINE = "a program answers each line with one line, and writes all else to its standard error"
_LAST_BYTES = 4096
"""This much is kept of the end of what a program writes to its standard error."""
_SECONDS_TO_END = 0.5
"""The seconds that a program has to end by itself, and again after it was told to terminate."""
_SECONDS_TO_REAP = 5.0
"""The most seconds to wait for the end of a killed program: only a system that hangs needs them."""


class Process:
    """A running program with pipes to its standard input, output and error.

    It has a session and a process group of its own. So a Ctrl-C in the terminal does not reach it,
    and what it starts itself ends with it. All that it writes to its standard error is read.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._popen = subprocess.Popen(  # noqa: S603 (it is the user who names it)
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._owner = os.getpid()
        _RUNNING.add(self)
        self.input = _of_pipe(self._popen.stdin)
        """Where the program's standard input is written to; writing never waits."""
        self.output = _of_pipe(self._popen.stdout)
        """Where its standard output is read from; reading never waits."""
        for pipe in (self.input, self.output):
            os.set_blocking(pipe.fileno(), False)
        self._errors = _LastErrors(_of_pipe(self._popen.stderr))
        self._errors.start()

    @property
    def pid(self) -> int:
        """The number of the process, and of its group."""
        return self._popen.pid

    @property
    def is_ours(self) -> bool:
        """Whether this process has started it, and not one that this is a fork of."""
        return self._owner == os.getpid()

    def exit_text(self) -> str | None:
        """Word how the program has ended; None if it still runs after a moment."""
        if not self._has_exited(_SECONDS_TO_END):
            return None
        self.end()
        code = self._popen.returncode
        if code >= 0:
            return f"it ended with exit status {code}"
        try:
            return f"it was ended by {signal.Signals(-code).name}"
        except ValueError:  # a signal without a name
            return f"it was ended by signal {-code}"

    def last_errors(self) -> str:
        """Return the end of what it wrote to its standard error; complete once it has ended."""
        self._errors.join(_SECONDS_TO_END)
        return self._errors.last.decode("utf-8", "replace").strip()

    def end(self, *, politely: bool = True) -> None:
        """End the program and all of its group; that is done in every case, and only once.

        Its standard input is closed; where it does not end by itself, it is terminated, and at
        last killed. Impolitely it is terminated at once.
        """
        if self not in _RUNNING:
            return
        if not self.is_ours:
            self._forget()
            return
        try:
            self.input.close()
            if politely and self._has_exited(_SECONDS_TO_END):
                return
            self._signal(signal.SIGTERM)
            self._has_exited(_SECONDS_TO_END)
        finally:
            # Before it is waited for: until then nobody else can have its number.
            self._signal(signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(_SECONDS_TO_REAP)
            self.output.close()
            _RUNNING.discard(self)

    def _forget(self) -> None:
        """Close what a fork has of another process's program."""
        for pipe in (self.input, self.output):
            pipe.close()
        self._popen.returncode = 0  # or it would be waited for
        _RUNNING.discard(self)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _has_exited(self, seconds: float) -> bool:
        """Return whether the program exits within some seconds; its number stays its own."""
        deadline = time.monotonic() + seconds
        pause = 0.0005
        while self._popen.returncode is None:
            if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        return True


def started(command: Sequence[str]) -> Process:
    """Start a program; an `OSError` says why that cannot be.

    It is started in another thread, as Ctrl-C comes to this one and might come in the middle: then
    what was started is ended.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(Process, command)
        try:
            return future.result()
        except BaseException:
            if future.exception() is None:
                future.result().end(politely=False)
            raise


def end_all() -> None:
    """End all programs that run."""
    for process in list(_RUNNING):
        process.end(politely=False)


class _LastErrors(Thread):
    """Reads a program's standard error, so that it never waits, and keeps the end of it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(name="standard error of a program", daemon=True)
        self.last = b""
        self._pipe = pipe

    def run(self) -> None:
        with self._pipe:
            while chunk := self._pipe.read(2**16):
                self.last = (self.last + chunk)[-_LAST_BYTES:]


def _of_pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise TypeError("the process was started without this pipe")
    return pipe


class FaultError(Exception):
    """A program did not answer as it should; it may if it is started again."""


def excerpt(text: bytes | bytearray) -> str:
    r"""Write the beginning and the end of what a program wrote.

    Examples
    --------
    >>> excerpt(b"Loading the model\n10 %")
    "'Loading the model\\n10 %'"
    """
    ends = text if len(text) <= 400 else text[:200] + b"..." + text[-200:]
    shown = shortened(escaped(ends.decode("utf-8", "replace").strip()), 120)
    return f"'{shown}'"


class Exchange:
    """One line to a program, and the line that answers it.

    Writing and reading go on at once, so that neither side waits for the other for ever.

    Parameters
    ----------
    process : Process
        The program.
    line : bytes
        What to write, with the end of the line.
    most : int
        The most bytes that the answer may have.
    """

    def __init__(self, process: Process, line: bytes, most: int) -> None:
        self._process = process
        self._unwritten = memoryview(line)
        self._came = bytearray()
        self._most = most

    def run(self, seconds: float) -> bytes:
        """Return the answer without the end of its line, or raise a `FaultError`."""
        deadline = time.monotonic() + seconds
        self._refuse_what_is_there()
        with DefaultSelector() as selector:
            selector.register(self._process.output, EVENT_READ)
            selector.register(self._process.input, EVENT_WRITE)
            while True:
                left = deadline - time.monotonic()
                ready = selector.select(left) if left > 0 else []
                if not ready:
                    raise FaultError(self._silence(seconds))
                for key, _ in ready:
                    if key.fileobj is self._process.output:
                        if self._read():
                            return bytes(self._came)
                    elif not self._write():
                        selector.unregister(self._process.input)

    def _refuse_what_is_there(self) -> None:
        """Refuse lines that were written before anything was asked: answers would be shifted."""
        try:
            chunk = os.read(self._process.output.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            raise FaultError(self._ended())
        raise FaultError(f"it wrote {excerpt(chunk)} without being asked; {_ONE_LINE}")

    def _write(self) -> bool:
        """Write as much as the pipe takes; return whether there is more to write."""
        try:
            count = os.write(self._process.input.fileno(), self._unwritten[:_CHUNK])
        except BlockingIOError:
            return True
        except BrokenPipeError:  # how it ended is told when its output ends
            return False
        self._unwritten = self._unwritten[count:]
        return len(self._unwritten) > 0

    def _read(self) -> bool:
        """Read what is there; return whether the line is complete."""
        try:
            chunk = os.read(self._process.output.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            raise FaultError(self._ended())
        line, end, more = chunk.partition(b"\n")
        self._came += line
        if len(self._came) > self._most:
            raise FaultError(
                f"it wrote a line of more than {self._most:,} bytes, {excerpt(self._came)}, which "
                "cannot be the answer"
            )
        if end and (more or self._unwritten):
            when = "more than one line" if more else "a line before it was asked all"
            raise FaultError(f"it wrote {when}, {excerpt(self._came + end + more)}; {_ONE_LINE}")
        return bool(end)

    def _ended(self) -> str:
        how = self._process.exit_text() or "it closed its standard output"
        return f"{how}, in the middle of the line {excerpt(self._came)}" if self._came else how

    def _silence(self, seconds: float) -> str:
        so_far = f"; so far it wrote {excerpt(self._came)}" if self._came else ""
        return (
            f"it did not answer within {seconds:g} s{so_far}. If it has answered, it has to flush "
            "its standard output after each line; if it needs longer, give a larger timeout, or a "
            "smaller batch"
        )


_RUNNING: set[Process] = set()
atexit.register(end_all)
