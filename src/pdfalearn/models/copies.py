"""Copies of a model: what one does in its own process, and how several are asked at once."""

from __future__ import annotations

import math
import os
import pickle
import signal
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pkgutil import resolve_name
from queue import SimpleQueue
from typing import Any, NamedTuple

from pdfalearn.alphabet import shorten
from pdfalearn.budgets import BudgetReached, seconds_left
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.automaton import as_model
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import check_members, close_quietly, error_text, open_model
from pdfalearn.models.protocol import (
    LanguageModel,
    PartialAnswers,
    attach_answers,
    attached_answers,
)
from pdfalearn.rows import Rows

Maker = Callable[[], Any]
# Of each part that is over: the name of the copy that answered or failed, and what it returned.
Outcomes = dict[int, tuple[str, Rows | Exception]]

REMEDY = "define it in a module that can be imported, not in the program that is run"
LOOK_SECONDS = 1.0  # how often copies are checked for being alive while answers are waited for
_MEMBERS = ("alphabet", "fingerprint", "cost", "full_support", "needs_prefixes", "is_constrained")
STOPPED_SECONDS = 30.0  # a process that somebody has stopped is given up after this time
_MOST_LOSSES = 3  # a part is given up after this many copies were lost with it
_GRACE = 0.5  # seconds for which a model may go on that is busy when its pipe is closed
_LAST_SECONDS = 2.0  # seconds that it then has to end what it has started itself


class Request(NamedTuple):
    """A part of a batch for one copy, which opens its model once for each run."""

    run: int
    live: frozenset[int]  # the runs that have not ended
    batch: Batch


@dataclass(frozen=True)
class Failure:
    """An error of a copy, in a form that every process can read."""

    pickled: bytes  # its class, arguments and members; empty if these cannot be sent
    text: str
    answers: PartialAnswers | None

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Pack an error."""
        hidden = ("__notes__", "_pdfalearn_answers")
        members = {name: value for name, value in vars(error).items() if name not in hidden}
        try:
            pickled = pickle.dumps((type(error), error.args, members))
            _load_error(pickled)
        except Exception:  # its class is local, or a member is a thread, or …
            pickled = b""
        return cls(pickled, error_text(error), attached_answers(error))

    def error(self, by: str) -> Exception:
        """Return the error as it was raised, with the name of the copy in a note."""
        error: BaseException | None = None
        with suppress(Exception):  # this process may not know its class
            error = _load_error(self.pickled)
        if not isinstance(error, Exception):  # such as SystemExit
            error = ModelError(f"the model failed in {by} with {self.text}")
        error.add_note(f"This happened in {by}.")
        if self.answers is not None:
            attach_answers(error, *self.answers)
        return error


def _load_error(pickled: bytes) -> BaseException:
    # Not by the constructor, which may take other arguments than those that the error keeps.
    kind, arguments, members = pickle.loads(pickled)  # noqa: S301 (from a process of ours)
    error: BaseException = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(members)
    return error


class Copy:
    """A model in its own process, opened anew for every run."""

    _model: LanguageModel

    def __init__(self) -> None:
        self._opened: dict[int, LanguageModel] = {}

    def reply(self, message: Request | bytes | str) -> dict[str, Any] | Rows | Failure:
        """Make the model and return what it says about itself, or answer a part of a batch.

        An error is returned, and the opened model thrown away.
        """
        try:
            if not isinstance(message, Request):
                self._model = as_model(_load_maker(message)())
                check_members(self._model)
                return {name: getattr(self._model, name) for name in _MEMBERS}
            self.close(message.live)
            if message.run not in self._opened:
                self._opened[message.run] = open_model(self._model)
            return self._opened[message.run].answer(message.batch)
        except (Exception, SystemExit) as error:
            failure = Failure.of(error)
            if isinstance(message, Request):
                self.close(message.live - {message.run})
            return failure

    def close(self, live: frozenset[int] = frozenset()) -> None:
        """Close what was opened for runs that have ended."""
        for run in self._opened.keys() - live:
            close_quietly(self._opened.pop(run))


def serve(descriptor: int) -> None:
    """Make the model and answer requests, until the pipe is closed or its other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.set_inheritable(descriptor, False)
    pipe: Connection[Any, Any] = Connection(descriptor)
    messages: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_queue_messages, args=(pipe, messages), daemon=True).start()
    copy = Copy()
    # An interrupt goes through the model, so that programs that it has started are ended, too.
    with suppress(KeyboardInterrupt, OSError):
        while (message := messages.get()) is not None:
            pipe.send_bytes(pickle.dumps(copy.reply(message), protocol=5))
    copy.close()


def _queue_messages(pipe: Connection[Any, Any], messages: SimpleQueue[Any]) -> None:
    """Pass messages on; when there are no more, see to it that the process ends."""
    try:
        while True:
            messages.put(pickle.loads(pipe.recv_bytes()))  # noqa: S301 (from our own parent)
    except (EOFError, OSError):
        messages.put(None)
    time.sleep(_GRACE)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_LAST_SECONDS)
    os._exit(1)


def pickle_maker(make_model: Maker | str, dumps: Callable[[Maker], bytes]) -> bytes | str:
    """Return what another process makes the model of; it is read where an error can be reported."""
    if isinstance(make_model, str):
        return make_model
    try:
        return dumps(make_model)
    except Exception as error:
        raise InputError(
            f"other processes cannot load {make_model!r} ({error}): {REMEDY}"
        ) from error


def _load_maker(given: bytes | str) -> Maker:
    """Return what makes the model: a pickled function, or one named as "module:function"."""
    try:
        found: Maker = resolve_name(given) if isinstance(given, str) else pickle.loads(given)  # noqa: S301
    except Exception as error:
        message = f"another process cannot load make_model ({error}): {REMEDY}"
        if isinstance(given, str):
            message = f"make_model {given!r} cannot be imported ({error}); give 'module:function'"
        raise InputError(message) from error
    return found


class LostError(Exception):
    """The copy is no more; the message says how it ended."""


class Worker:
    """A copy as the asking side sees it: it makes its model, then answers one request a time."""

    name: str
    is_made = False  # it has its model
    is_busy = False  # an answer is still to come, also one that nobody waits for any more
    is_ended = False  # it was lost or ended
    is_late = False  # it was ended because it took too long
    since = 0.0  # when it was asked the last time
    stopped_since: float | None = None  # when it was first seen to be stopped, as by SIGSTOP
    part: int | None = None  # what it was asked for; None if that batch was interrupted

    def send(self, message: object) -> None:
        """Send what makes the model, or a request; that it is lost is noticed afterwards."""
        raise NotImplementedError

    def receive(self) -> Any:
        """Return the answer; raise LostError if the copy is lost."""
        raise NotImplementedError

    def is_stopped(self) -> bool:
        """Return whether it was stopped, so that no answer will come as long as it is."""
        return False

    def end(self) -> None:
        """End the copy at once."""
        raise NotImplementedError

    def check_stopped(self) -> None:
        """Raise LostError if the copy has been stopped for long."""
        now = time.monotonic()
        if not self.is_stopped():
            self.stopped_since = None
        elif self.stopped_since is None:
            self.stopped_since = now
        elif now - self.stopped_since > STOPPED_SECONDS:
            raise LostError(f"it was stopped, and for {STOPPED_SECONDS:g} s nobody let it go on")


class Copies:
    """Copies of a model, wherever they are, and how they are asked."""

    members: dict[str, Any]  # what the copies say about their model
    end: weakref.finalize[..., Any]  # ends all copies, once

    def __init__(self, timeout: float | None) -> None:
        self._timeout = math.inf if timeout is None else timeout
        self._lock = threading.Lock()
        self._first = ""  # the name of the copy that has said what its model is
        self._deaths = 0  # how many copies were lost in a row while they made their models
        self.workers: list[Any] = []  # all of one kind of Worker

    def renew(self) -> None:
        """Put others in the place of copies that have ended."""
        raise NotImplementedError

    def wait(self, workers: list[Any], seconds: float) -> Collection[Worker]:
        """Wait for some time; return those that have an answer, or are lost."""
        raise NotImplementedError

    def begin(self) -> None:
        """Wait until all copies have made their models; end them if one fails."""
        try:
            self.renew()
            while not all(worker.is_made for worker in self.workers):
                list(self._receive())
                self.renew()
        except BaseException:
            self.end()
            raise

    def ask(self, requests: Mapping[int, Request], outcomes: Outcomes) -> None:
        """Ask each copy its part, and note the outcomes by the copies' numbers as they come.

        A part whose copy is lost, or still busy with a batch that was interrupted, goes to another
        one that is free.
        """
        failed: Exception | None = None
        waiting, losses = list(requests), Counter[int]()
        with self._lock:
            for worker in self.workers:
                worker.part = None
            while len(outcomes) < len(requests):
                try:
                    if failed is None:
                        if not self.end.alive:
                            raise InputError("these replicas are closed")
                        self.renew()
                    waiting = [part for part in waiting if not self._give(part, requests[part])]
                    for worker, answer in self._receive():
                        part, worker.part = worker.part, None
                        if part is None:
                            continue
                        if isinstance(answer, LostError):
                            losses[part] += 1
                            if losses[part] < _MOST_LOSSES:
                                waiting.append(part)
                                continue
                            answer = self._make_loss_error(requests[part].batch, worker, answer)
                        outcomes[part] = worker.name, answer
                except BudgetReached:  # what is still busy then goes on, and is not waited for
                    raise
                except Exception as error:  # a copy cannot be made anew, or they were closed
                    failed = failed or error
                if failed is not None:  # the others end what they have begun
                    outcomes.update((part, ("", failed)) for part in waiting)
                    waiting.clear()
        if failed is not None:
            raise failed

    def _give(self, part: int, request: Request) -> bool:
        """Send a part to its copy, or to another one; return whether one was there and free."""
        own = part % len(self.workers)
        for worker in self.workers[own:] + self.workers[:own]:
            if worker.is_made and not (worker.is_busy or worker.is_ended):
                worker.send(request)
                worker.part = part
                return True
        return False

    def _receive(self) -> Iterator[tuple[Worker, Rows | Exception]]:
        """Wait a moment; return what copies have answered, or how they failed or were lost."""
        busy = [worker for worker in self.workers if worker.is_busy]
        there = [worker for worker in busy if not worker.is_ended]
        ready = self.wait(there, seconds_left(min(LOOK_SECONDS, self._timeout)))
        for worker in busy:
            answer: Any = None
            try:
                if worker.is_ended:
                    raise LostError("it was ended")
                if worker in ready:
                    answer = worker.receive()
                elif worker.is_made and time.monotonic() - worker.since > self._timeout:
                    worker.is_late = True
                    raise LostError(f"it took over {self._timeout:g} s")
                else:
                    worker.check_stopped()
            except LostError as lost:
                worker.end()
                worker.is_busy = False
                answer = lost
            if answer is not None and not worker.is_made:
                self._note_making(worker, answer)
            elif answer is not None:
                yield worker, answer.error(worker.name) if isinstance(answer, Failure) else answer

    def _note_making(self, worker: Worker, answer: dict[str, Any] | Failure | LostError) -> None:
        """Note that a copy has made its model; refuse one that differs, and one that cannot."""
        if isinstance(answer, Failure):
            worker.end()
            error = answer.error(worker.name)
            if isinstance(error, InputError | ImportError | OSError):
                raise error
            raise ModelError(f"make_model failed in {worker.name} with {answer.text}")
        if isinstance(answer, LostError):
            self._deaths += 1
            if self._deaths % _MOST_LOSSES == 0:
                raise ModelError(
                    f"{_MOST_LOSSES} copies were lost while they made the model, the last time "
                    f"{worker.name} ({answer}): is there enough memory for this many copies?"
                )
            return
        if not self._first:
            self._first, self.members = worker.name, answer
        for name, member in self.members.items():
            if member != answer[name]:
                worker.end()
                raise ModelError(
                    f"the copies differ: the {name} is {member!r} in {self._first} and "
                    f"{answer[name]!r} in {worker.name}; make_model has to make the same model "
                    "each time (is a network random? set the seed, or load its weights)"
                )
        worker.is_made = True
        self._deaths = 0

    def _make_loss_error(self, batch: Batch, worker: Worker, lost: LostError) -> ModelError:
        first = shorten(self.members["alphabet"].decode(batch.word(0)))
        return ModelError(
            f"{_MOST_LOSSES} copies were lost with the same {batch.count} words, the first of them "
            f"{first}, the last time {worker.name} ({lost}): what ends the model there?"
        )
