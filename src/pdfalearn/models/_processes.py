"""Programs that run beside this process and end with it: a line to one, and a line back."""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from threading import Lock
from typing import IO, TypeVar, cast

from pdfalearn.budgets import seconds_left
from pdfalearn.errors import InputError, ModelError
from pdfalearn.row_checks import BadRowError
from pdfalearn.text import escaped, shorten

Answer = TypeVar("Answer")

_CHUNK = 2**16
_ONE_LINE = "a program answers each line with one line, and writes all else to its standard error"
_LAST_BYTES = 4096  # this much is kept of the end of what a program writes to its standard error
_SECONDS_TO_END = 0.5  # for a program to end by itself, and again after it was told to terminate
_SECONDS_TO_REAP = 5.0  # for a killed program to end: only a system that hangs needs them


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
    return f"'{shorten(escaped(ends.decode('utf-8', 'replace').strip()), 120)}'"


class Process:
    """A running program with pipes to its standard input, output and error.

    It has a session and a process group of its own. So a Ctrl-C in the terminal does not reach it,
    and what it starts itself ends with it. Reading and writing its pipes never waits.
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
        _RUNNING.add(self)
        self._owner = os.getpid()
        self.pid = self._popen.pid  # also the number of its group
        pipes = self._popen.stdin, self._popen.stdout, self._popen.stderr
        self._pipes = cast(tuple[IO[bytes], ...], pipes)
        self.input, self.output, self._errors = self._pipes
        self._last_errors = b""
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)

    @property
    def is_ours(self) -> bool:
        """Whether this process has started it, and not one that this is a fork of."""
        return self._owner == os.getpid()

    def exchange(self, line: bytes, most: int, seconds: float) -> bytes:
        """Write a line, and return the one that answers it, of at most ``most`` bytes.

        Writing and reading go on at once, so that neither side waits for the other for ever. Where
        there is no such answer within some seconds, a `FaultError` says what there was.
        """
        deadline = time.monotonic() + seconds
        unwritten, came = memoryview(line), bytearray()
        # A line that was written before anything was asked would shift all answers.
        if early := self.output.read(_CHUNK):
            raise FaultError(f"it wrote {excerpt(early)} without being asked; {_ONE_LINE}")
        with DefaultSelector() as selector:
            selector.register(self.input, EVENT_WRITE)
            selector.register(self.output, EVENT_READ)
            selector.register(self._errors, EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                ready = {key.fileobj for key, _ in selector.select(left)}
                if self._errors in ready and self._drain_errors() == b"":
                    selector.unregister(self._errors)
                if self.output in ready and self._receive(came, most, len(unwritten) == 0):
                    return bytes(came)
                if self.input in ready:
                    try:
                        unwritten = unwritten[self.input.write(unwritten[:_CHUNK]) or 0 :]
                    except BrokenPipeError:  # how it ended is told when its output ends
                        unwritten = unwritten[:0]
                    if not unwritten:
                        selector.unregister(self.input)
        so_far = f"; so far it wrote {excerpt(came)}" if came else ""
        raise FaultError(
            f"it did not answer within {seconds:g} s{so_far}. If it has answered, it has to flush "
            "its standard output after each line; if it needs longer, give a larger timeout, or a "
            "smaller batch"
        )

    def _receive(self, came: bytearray, most: int, is_asked: bool) -> bool:
        """Read what is there of an answer; return whether its line is complete."""
        chunk = self.output.read(_CHUNK)
        if chunk == b"":
            how = self._describe_exit()
            raise FaultError(f"{how}, in the middle of the line {excerpt(came)}" if came else how)
        text, end, more = (chunk or b"").partition(b"\n")
        came += text
        if len(came) > most:
            raise FaultError(
                f"it wrote a line of more than {most:,} bytes, {excerpt(came)}, which cannot be "
                "the answer"
            )
        if end and (more or not is_asked):
            when = "more than one line" if more else "a line before it was asked all"
            raise FaultError(f"it wrote {when}, {excerpt(came + end + more)}; {_ONE_LINE}")
        return bool(end)

    def _drain_errors(self) -> bytes | None:
        """Read what is there of the standard error; nothing, if that is closed."""
        chunk = self._errors.read(_CHUNK)
        self._last_errors = (self._last_errors + (chunk or b""))[-_LAST_BYTES:]
        return chunk

    def describe_errors(self) -> str:
        """Write the end of what it wrote to its standard error; complete once it has ended."""
        text = self._last_errors.decode("utf-8", "replace").strip()[-500:]
        if not text:
            return "it wrote nothing to its standard error"
        lines = " | ".join(line.strip() for line in text.splitlines() if line.strip())
        return f"its standard error ends with '{escaped(lines)}'"

    def _describe_exit(self) -> str:
        if not self._has_exited(_SECONDS_TO_END):
            return "it closed its standard output"
        self.end()
        code = self._popen.returncode
        if code >= 0:
            return f"it ended with exit status {code}"
        try:
            return f"it was ended by {signal.Signals(-code).name}"
        except ValueError:  # a signal without a name
            return f"it was ended by signal {-code}"

    def end(self, *, politely: bool = True) -> None:
        """End the program and all of its group; that is done in every case, and only once.

        Its standard input is closed; where it does not end by itself, it is terminated, and at
        last killed. Impolitely it is terminated at once.
        """
        if self not in _RUNNING:
            return
        try:
            self.input.close()
            if self.is_ours and not (politely and self._has_exited(_SECONDS_TO_END)):
                self._signal(signal.SIGTERM)
                self._has_exited(_SECONDS_TO_END)
        finally:
            if self.is_ours:
                # Before it is waited for: until then nobody else can have its number.
                self._signal(signal.SIGKILL)
                with suppress(subprocess.TimeoutExpired):
                    self._popen.wait(_SECONDS_TO_REAP)
                self._drain_errors()
            else:
                self._popen.returncode = 0  # or it would be waited for
            for pipe in self._pipes:
                pipe.close()
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
            self._drain_errors()  # or it might wait for that
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        return True


class Program:
    """A program that is started when it is first asked, and kept running.

    Threads may ask at once: one waits for the other. After some ``tries`` of a line the program
    is given up on.
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
        return shorten(escaped(shlex.join(self.command)), 200)

    def ask(self, line: bytes, most: int, read: Callable[[bytes], Answer]) -> Answer:
        """Write a line, and return what ``read`` makes of the line that answers it.

        Where that is a fault, the program is started again and asked the same. An answer to
        another question cannot come, as each process has pipes of its own.
        """
        with self._lock:
            fault = ""
            for _ in range(self._tries):
                process = self._start()
                try:
                    left = seconds_left(self._timeout)
                    return read(process.exchange(line, most, left))
                except BadRowError:
                    raise
                except BaseException as error:
                    # Also on Ctrl-C: what it answers later must not be taken for another answer.
                    self._end(politely=False)
                    if not isinstance(error, FaultError):
                        raise
                    seconds_left()  # what a budget ends is not the program's fault
                    fault = f"{error}; {process.describe_errors()}"
            times = "" if self._tries == 1 else f" {self._tries} times in a row, at last"
            raise ModelError(
                f"the program {self} failed{times}: {fault}. Try it by hand: "
                f"""echo '{{"words": [[]]}}' | {self}"""
            )

    def close(self) -> None:
        """End the program; it is started again if it is asked again."""
        with self._lock:
            self._end(politely=True)

    def _start(self) -> Process:
        """Return the process of the program; start it if there is none, or just a fork's.

        It is started in another thread, as Ctrl-C comes to this one and might come in the middle:
        then what was started is ended.
        """
        if self._process is not None and not self._process.is_ours:
            self._end(politely=False)
        if self._process is None:
            with ThreadPoolExecutor(1) as pool:
                future = pool.submit(Process, self.command)
                try:
                    process = future.result()
                except (OSError, ValueError) as error:
                    raise InputError(
                        f"the program {self} cannot be started "
                        f"({getattr(error, 'strerror', error)}); a script has to begin with a line "
                        "that names its interpreter, such as #!/usr/bin/env python3"
                    ) from error
                except BaseException:
                    if future.exception() is None:
                        future.result().end(politely=False)
                    raise
            self._process = process
            self._finalizer = weakref.finalize(self, process.end)
        return self._process

    def _end(self, *, politely: bool) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end(politely=politely)
            self._finalizer.detach()


def end_all() -> None:
    """End all programs that run."""
    for process in list(_RUNNING):
        process.end(politely=False)


_RUNNING: set[Process] = set()
atexit.register(end_all)
