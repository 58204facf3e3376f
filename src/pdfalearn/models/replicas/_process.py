"""A process with a copy of the model, as the process sees it that has started it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; from pdfalearn.models.replicas._worker import main; main()"
)


class LostError(Exception):
    """The process is no more."""


class CopyProcess:
    """A process that answers numbered requests, one after the other.

    Parameters
    ----------
    make : bytes or str
        What makes the model.
    threads : int
        How many threads numerical libraries may use in it, unless the environment says so.
    """

    def __init__(self, make: bytes | str, threads: int) -> None:
        environment = {"OMP_NUM_THREADS": str(threads), **os.environ}
        self._process = subprocess.Popen(  # noqa: S603 (this Python, and a module of ours)
            [sys.executable, "-c", _PROGRAM.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            process_group=0,  # Ctrl-C in a terminal is not for it
        )
        self._writer, self.reader = self._connections()
        self._number = 0
        self.name = f"process {self._process.pid}"
        """What it is called."""
        self.is_made = False
        """Whether it has its model."""
        self.is_waited_for = False
        """Whether the answer to the last request is still to come."""
        with suppress(LostError):  # which is noticed when it is waited for
            self.send(make)
        self.is_waited_for = True

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def _connections(self) -> tuple[Connection[Any, Any], Connection[Any, Any]]:
        streams = self._process.stdin, self._process.stdout
        ends = [os.dup(stream.fileno()) for stream in streams if stream is not None]
        for stream in streams:
            if stream is not None:
                stream.close()
        return Connection(ends[0], readable=False), Connection(ends[1], writable=False)

    def send(self, request: object) -> None:
        """Send a request; if that is interrupted, the process is of no use any more."""
        self._number += 1
        message = pickle.dumps((self._number, request), protocol=5)
        try:
            self._writer.send_bytes(message)
        except OSError as error:
            raise LostError(self.name) from error
        except BaseException:
            self.kill()
            raise
        self.is_waited_for = True

    def receive(self) -> Any | None:
        """Read what is there; return the answer to the last request, or None if it is another."""
        try:
            number, answer = pickle.loads(self.reader.recv_bytes())  # noqa: S301 (our own process)
        except (EOFError, OSError) as error:
            raise LostError(self.name) from error
        except BaseException:
            self.kill()
            raise
        if number != self._number:
            return None
        self.is_waited_for = False
        return answer

    def is_lost(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self.close()
        self._process.wait()
        self.is_waited_for = False

    def close(self) -> None:
        """Close the pipes, which tells the process to end."""
        for pipe in (self._writer, self.reader):
            if not pipe.closed:
                pipe.close()

    def wait(self, seconds: float) -> int:
        """Wait for the end of the process, and end it after so long; return how it ended."""
        try:
            return self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
