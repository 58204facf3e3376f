"""Copies of a model in processes of this machine."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any

from pdfalearn.alphabet import shortened
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.replicas._pools import Answer, check_same, checked_traits
from pdfalearn.models.replicas._process import CopyProcess, LostError
from pdfalearn.models.replicas._requests import Request, Traits

_LOSSES = 3
"""A part is given up after this many processes died of it."""
_LOOK_SECONDS = 1.0
"""A process that ended without closing its pipe, as its children hold it, is noticed so late."""
_END_SECONDS = 3.0
"""A process that does not end by itself within this time is killed."""


class Processes:
    """Processes with a copy of the model each; one that is lost is started anew.

    Parameters
    ----------
    make : bytes or str
        What makes the model.
    count : int
        How many processes.
    """

    def __init__(self, make: bytes | str, count: int) -> None:
        self._make = make
        self._threads = max(1, (os.cpu_count() or 1) // count)
        self._lock = threading.Lock()
        self._processes: list[CopyProcess] = []
        self._losses = [0] * count
        self._said: dict[int, Traits] = {}
        self._end = weakref.finalize(self, _end, self._processes, os.getpid())
        try:
            for _ in range(count):
                self._processes.append(CopyProcess(make, self._threads))
            while len(self._said) < count:
                self._step({}, {}, deque())
        except BaseException:
            self.end()
            raise
        self.traits = self._said[0]

    def seats(self) -> int:
        """Return how many processes there are."""
        return len(self._processes)

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [process.pid for process in self._processes]

    def end(self) -> None:
        """End all processes."""
        self._end()

    def ask(self, requests: Sequence[tuple[int, Request]]) -> list[Answer]:
        """Ask; a part whose process is lost goes to whoever is free first."""
        if not self._end.alive:
            raise InputError("these replicas are closed")
        with self._lock:
            return _Round(self, [request for _, request in requests]).run(
                [seat for seat, _ in requests]
            )

    def _step(self, busy: dict[int, int], answers: dict[int, Answer], lost: deque[int]) -> None:
        """Wait until something happens, and note it."""
        for seat, process in enumerate(self._processes):
            if not (process.is_made or process.is_waited_for):  # it failed, or was interrupted
                self._start_anew(seat)
        waited_for = [process.reader for process in self._processes if process.is_waited_for]
        ready = set(wait(waited_for, _LOOK_SECONDS))
        for seat, process in enumerate(self._processes):
            if not process.is_waited_for:
                continue
            try:
                if process.reader in ready:
                    self._note(seat, process.receive(), busy, answers)
                elif process.is_lost():
                    raise LostError
            except LostError:
                self.replace(seat)
                if seat in busy:
                    lost.append(busy.pop(seat))

    def _note(
        self, seat: int, answer: Any, busy: dict[int, int], answers: dict[int, Answer]
    ) -> None:
        process = self._processes[seat]
        if isinstance(answer, Traits) or (answer is not None and not process.is_made):
            self._said[seat] = checked_traits(answer)
            check_same(self._said.values())
            process.is_made = True
            self._losses[seat] = 0
        elif answer is not None and seat in busy:  # nobody waits any more after an interrupt
            answers[busy.pop(seat)] = answer

    def replace(self, seat: int) -> None:
        """Start another process in the place of one that is lost."""
        was_made = self._processes[seat].is_made
        code = self._start_anew(seat)
        if not was_made:
            self._losses[seat] += 1
            if self._losses[seat] >= _LOSSES:
                self.end()
                raise ModelError(
                    f"make_model ended its process {_LOSSES} times, the last time with "
                    f"{_ending(code)}"
                )

    def _start_anew(self, seat: int) -> int:
        """End a process, and start another in its place; return how it ended."""
        process = self._processes[seat]
        process.close()
        code = process.wait(0.0)
        self._processes[seat] = CopyProcess(self._make, self._threads)
        return code

    def is_free(self, seat: int) -> bool:
        """Return whether a process has its model and nothing to do."""
        process = self._processes[seat]
        return process.is_made and not process.is_waited_for

    def give(self, seat: int, request: Request) -> bool:
        """Send a request; return whether the process was there to take it."""
        try:
            self._processes[seat].send(request)
        except LostError:
            self.replace(seat)
            return False
        return True


class _Round:
    """Requests that are under way together."""

    def __init__(self, pool: Processes, requests: list[Request]) -> None:
        self._pool = pool
        self._requests = requests
        self._tries = [0] * len(requests)
        self._answers: dict[int, Answer] = {}
        self._busy: dict[int, int] = {}
        """The request of every seat that has one."""
        self._waiting: deque[int] = deque()

    def run(self, seats: list[int]) -> list[Answer]:
        """Send every request to its seat first; return the answers in order."""
        for number, seat in enumerate(seats):
            self._give(seat, number)
        while len(self._answers) < len(self._requests):
            for seat in range(self._pool.seats()):
                if self._waiting and self._pool.is_free(seat):
                    self._give(seat, self._waiting.popleft())
            lost: deque[int] = deque()
            self._pool._step(self._busy, self._answers, lost)
            for number in lost:
                self._note_loss(number)
        return [self._answers[number] for number in range(len(self._requests))]

    def _give(self, seat: int, number: int) -> None:
        if self._pool.is_free(seat) and self._pool.give(seat, self._requests[number]):
            self._busy[seat] = number
        else:
            self._waiting.append(number)

    def _note_loss(self, number: int) -> None:
        self._tries[number] += 1
        if self._tries[number] >= _LOSSES:
            words = self._requests[number].words
            (first,) = words.part(0, 1)
            alphabet = self._pool.traits.members.alphabet
            raise ModelError(
                f"{_LOSSES} processes ended while they answered the same {len(words)} words, the "
                f"first of them {shortened(alphabet.decode(first))}: what ends the model there?"
            )
        self._waiting.append(number)


def _ending(code: int) -> str:
    """Write how a process ended, and what to look at."""
    if code < 0:
        return f"signal {-code}: is there enough memory for this many copies?"
    return f"exit code {code}: see what it has printed to the standard error"


def _end(processes: list[CopyProcess], owner: int) -> None:
    """End processes, unless this is a fork of the process that has started them."""
    if os.getpid() != owner:
        return
    for process in processes:
        process.close()
    deadline = time.monotonic() + _END_SECONDS
    for process in processes:
        process.wait(deadline - time.monotonic())
