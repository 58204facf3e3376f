"""Copies of a model in processes of this machine, and how parts of batches are asked of copies."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

from pdfalearn.alphabet import shortened
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.copies import (
    REMEDY,
    Failure,
    Maker,
    Request,
    Traits,
    check_same,
    pickle_maker,
)
from pdfalearn.rows import Rows

Outcomes = dict[int, tuple[str, Rows | Exception]]
"""Of each part that is over: the name of the copy that answered or failed, and what it returned."""

LOOK_SECONDS = 1.0
"""So often it is looked at whether copies are still there, while answers are waited for."""
_LOSSES = 3
"""A part is given up after this many copies were lost with it."""
_EXIT_SECONDS = 0.5
"""A process that has closed its pipe is given this time to end, so that its exit code is known."""
_END_SECONDS = 3.0
"""A process that does not end by itself within this time is killed."""
_PROGRAM = "import sys; sys.path[:] = {!r}; from pdfalearn.models.copies import serve; serve({})"


class LostError(Exception):
    """The copy is no more; the message says how it ended."""


class Worker:
    """A copy as the asking side sees it: it makes its model, then answers one request a time."""

    name: str
    is_made = False
    """Whether it has its model."""
    is_busy = False
    """Whether an answer is still to come, also one that nobody waits for any more."""
    is_ended = False
    """Whether it was lost or ended."""
    since = 0.0
    """When it was asked the last time."""

    @property
    def is_usable(self) -> bool:
        """Whether it is there, and has its model or makes it."""
        return not self.is_ended and (self.is_made or self.is_busy)

    def send(self, message: object) -> None:
        """Send what makes the model, or a request."""
        raise NotImplementedError

    def receive(self) -> Any:
        """Return the answer; raise LostError if the copy is lost."""
        raise NotImplementedError

    def end(self) -> None:
        """End the copy at once."""
        raise NotImplementedError


AnyWorker = TypeVar("AnyWorker", bound=Worker)


@dataclass
class _Round:
    """The parts of one batch."""

    requests: Mapping[int, Request]
    outcomes: Outcomes
    given: dict[Worker, int] = field(default_factory=dict)
    """The part of every copy that has one."""
    waiting: list[int] = field(default_factory=list)
    """The parts that no copy has."""
    losses: Counter[int] = field(default_factory=Counter)
    """How many copies were lost with each part."""


class Copies(Generic[AnyWorker]):
    """Copies of a model, wherever they are, and how they are asked.

    Parameters
    ----------
    timeout : float, optional
        How many seconds a copy may take to answer.
    """

    traits: Traits
    """What the copies say about their model."""
    end: weakref.finalize[..., Any]
    """Ends all copies, once."""

    def __init__(self, timeout: float | None) -> None:
        self._timeout = math.inf if timeout is None else timeout
        self._lock = threading.Lock()
        self._deaths = 0
        """How many copies were lost in a row while they made their models."""
        self.workers: list[AnyWorker] = []

    def renew(self) -> None:
        """Put others in the place of copies that are not usable any more."""
        raise NotImplementedError

    def wait(self, workers: Sequence[AnyWorker], seconds: float) -> Collection[AnyWorker]:
        """Wait for some time; return those that have an answer, or are lost."""
        raise NotImplementedError

    def begin(self) -> None:
        """Wait until all copies have made their models; end them if one fails."""
        try:
            self.renew()
            while not all(worker.is_made for worker in self.workers):
                self._step(_Round({}, {}))
                self.renew()
        except BaseException:
            self.end()
            raise

    def ask(self, requests: Mapping[int, Request], outcomes: Outcomes) -> None:
        """Ask each copy its part, and note the outcomes by the copies' numbers as they come.

        A part whose copy is lost, or still busy with a batch that was interrupted, goes to
        whichever copy is free first.
        """
        failed: Exception | None = None
        with self._lock:
            self._check_open()
            self.renew()
            this = _Round(requests, outcomes)
            for part in requests:
                if not self._give(self.workers[part % len(self.workers)], part, this):
                    this.waiting.append(part)
            while len(outcomes) < len(requests):
                for worker in self.workers:
                    if this.waiting and self._give(worker, this.waiting[0], this):
                        del this.waiting[0]
                try:
                    self._step(this)
                    if failed is None:
                        self._check_open()
                        self.renew()
                except Exception as error:  # a copy cannot be made anew, or they were closed
                    failed = error
                if failed is not None:  # the others end what they have begun
                    outcomes.update((part, ("", failed)) for part in this.waiting)
                    this.waiting.clear()
        if failed is not None:
            raise failed

    def _check_open(self) -> None:
        if not self.end.alive:
            raise InputError("these replicas are closed")

    def _give(self, worker: Worker, part: int, this: _Round) -> bool:
        """Send a part to a copy; return whether it was there and had nothing to do."""
        if worker.is_busy or not worker.is_usable:
            return False
        try:
            worker.send(this.requests[part])
        except LostError:
            worker.end()
            return False
        this.given[worker] = part
        return True

    def _step(self, this: _Round) -> None:
        """Wait until something happens, and note it."""
        busy = [worker for worker in self.workers if worker.is_busy]
        there = [worker for worker in busy if not worker.is_ended]
        ready = self.wait(there, min(LOOK_SECONDS, self._timeout))
        for worker in busy:
            try:
                if worker.is_ended:
                    raise LostError("it was ended")
                if worker in ready:
                    self._note(worker, worker.receive(), this)
                elif worker.is_made and time.monotonic() - worker.since > self._timeout:
                    raise LostError(f"it took over {self._timeout:g} s")
            except LostError as error:
                worker.end()
                self._note_loss(worker, str(error), this)

    def _note(self, worker: Worker, answer: Any, this: _Round) -> None:
        """Note the answer of a copy; the first one says what its model is."""
        if not worker.is_made:
            if isinstance(answer, Failure):
                raise answer.making_error()
            first = getattr(self, "traits", answer)
            check_same(first, answer)
            self.traits = first
            worker.is_made = True
            self._deaths = 0
        elif worker in this.given:  # else it was asked by a batch that was interrupted
            outcome = answer.error() if isinstance(answer, Failure) else answer
            this.outcomes[this.given.pop(worker)] = worker.name, outcome

    def _note_loss(self, worker: Worker, reason: str, this: _Round) -> None:
        """Let the part of a lost copy wait for another one, unless too many were lost with it."""
        if worker in this.given:
            part = this.given.pop(worker)
            this.losses[part] += 1
            this.waiting.append(part)
            if this.losses[part] == _LOSSES:
                batch = this.requests[part].batch
                first = shortened(self.traits.members["alphabet"].decode(batch.word(0)))
                error = ModelError(
                    f"{_LOSSES} copies were lost with the same {batch.count} words, the first of "
                    f"them {first}, the last time {worker.name} ({reason}): what ends the model "
                    "there?"
                )
                this.outcomes[this.waiting.pop()] = worker.name, error
        elif not worker.is_made:
            self._deaths += 1
            if self._deaths == _LOSSES:
                self._deaths = 0
                raise ModelError(
                    f"{_LOSSES} copies were lost while they made the model, the last time "
                    f"{worker.name} ({reason}): is there enough memory for this many copies?"
                )


class Process(Worker):
    """A process with a copy of the model.

    It is not a worker of `concurrent.futures`: such a one imports the user's program again, keeps
    this program from ending while it is busy, outlives it if it is killed, and takes three times
    as long for a request.

    Parameters
    ----------
    make : bytes or str
        What makes the model.
    threads : int
        How many threads numerical libraries may use in it, unless the environment says so.
    """

    def __init__(self, make: bytes | str, threads: int) -> None:
        self.pipe, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 (this Python, and a module of ours)
                [sys.executable, "-c", _PROGRAM.format(sys.path, theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=2,  # what a model prints is not part of this program's output
                pass_fds=[theirs.fileno()],
                env={"OMP_NUM_THREADS": str(threads), **os.environ},
                process_group=0,  # Ctrl-C in a terminal is not for it
            )
        self.pid = self._process.pid
        self.name = f"process {self.pid}"
        with suppress(LostError):  # which is noticed when it is waited for
            self.send(make)

    @property
    def is_ended(self) -> bool:  # type: ignore[override]
        """Whether it was lost or ended."""
        return self.pipe.closed

    def send(self, message: object) -> None:
        """Send what makes the model, or a request."""
        pickled = pickle.dumps(message, protocol=5)
        try:
            self.is_busy, self.since = True, time.monotonic()
            self.pipe.send_bytes(pickled)
        except OSError as error:
            raise LostError from error
        except BaseException:  # half a message was sent
            self.end()
            raise

    def receive(self) -> Any:
        """Return the answer; raise LostError if the process has ended."""
        try:
            if self.pipe.poll():  # else it has ended, and a child of it holds the pipe
                answer = pickle.loads(self.pipe.recv_bytes())  # noqa: S301 (from our own process)
                self.is_busy = False
                return answer
        except (EOFError, OSError):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_EXIT_SECONDS)
        except BaseException:  # half a message was read
            self.end()
            raise
        raise LostError(_format_ending(self._process.poll()))

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def end(self, seconds: float = 0.0) -> None:
        """Close the pipe, which tells the process to end, and kill it after some seconds."""
        self.pipe.close()
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _format_ending(code: int | None) -> str:
    if code is None:
        return "it closed its pipe"
    return f"signal {-code}" if code < 0 else f"exit code {code}; see its standard error"


class ProcessCopies(Copies[Process]):
    """Copies in processes of this machine; one that is lost is started anew.

    Parameters
    ----------
    make_model : callable or str
        What makes the model.
    count : int
        How many processes.
    timeout : float, optional
        How many seconds a process may take to answer.
    """

    def __init__(self, make_model: Maker | str, count: int, timeout: float | None) -> None:
        super().__init__(timeout)
        if getattr(make_model, "__module__", None) == "__main__":
            raise InputError(f"other processes cannot load {make_model!r}: {REMEDY}")
        threads = max(1, (os.cpu_count() or 1) // count)
        self._start = partial(Process, pickle_maker(make_model, pickle.dumps), threads)
        self._count = count
        self.end = weakref.finalize(self, _end_all, self.workers, os.getpid())
        self.begin()

    def renew(self) -> None:
        """Start processes in the place of those that have ended or could not make their model."""
        for place, worker in enumerate(self.workers):
            if not worker.is_usable:
                worker.end()
                self.workers[place] = self._start()
        while len(self.workers) < self._count:
            self.workers.append(self._start())

    def wait(self, workers: Sequence[Process], seconds: float) -> Collection[Process]:
        """Wait for some time; return those that have an answer, or are lost."""
        ready = wait([worker.pipe for worker in workers], seconds)
        return [worker for worker in workers if worker.pipe in ready or worker.has_ended()]


def _end_all(processes: Sequence[Process], owner: int) -> None:
    """End processes, unless this is a fork of the process that has started them."""
    if os.getpid() != owner:
        return
    for process in processes:
        process.pipe.close()
    deadline = time.monotonic() + _END_SECONDS
    for process in processes:
        process.end(deadline - time.monotonic())
