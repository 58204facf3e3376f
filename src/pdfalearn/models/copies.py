"""A copy of a model in a process of its own: what it is asked, and what it returns."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, NamedTuple

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
from pdfalearn.text import described

Maker = Callable[[], Any]
"""Makes the model."""

REMEDY = "define it in a module that can be imported, not in the program that is run"
_MEMBERS = ("alphabet", "fingerprint", "cost", "full_support", "needs_prefixes", "is_constrained")
_GRACE = 0.5
"""A model that is busy when its pipe is closed may go on for this many seconds."""
_LAST_SECONDS = 2.0
"""Then it is interrupted, and has this long to end what it has started itself."""
_ENDING = threading.Event()


class Traits(NamedTuple):
    """What a copy says about its model."""

    by: str
    """The name of the copy: a process, or a worker of a cluster."""
    members: dict[str, Any]
    """What has to be the same in all copies."""


class Request(NamedTuple):
    """A part of a batch for one copy."""

    run: int
    """The number of the run, for which the copy opens its model."""
    live: frozenset[int]
    """The runs that have not ended."""
    batch: Batch


@dataclass(frozen=True)
class Failure:
    """An error of a copy, in a form that every process can read."""

    by: str
    """The name of the copy."""
    pickled: bytes | None
    """The class of the error, its arguments and its members; None if these cannot be sent."""
    text: str
    """The error in one line."""
    answers: PartialAnswers | None = None
    """The answers that were attached to the error."""

    @classmethod
    def of(cls, error: BaseException, by: str) -> Failure:
        """Pack an error."""
        hidden = ("__notes__", "_pdfalearn_answers")
        members = {name: value for name, value in vars(error).items() if name not in hidden}
        try:
            pickled = pickle.dumps((type(error), error.args, members))
            _load_error(pickled)
        except Exception:  # its class is local, or a member is a thread, or …
            pickled = None
        return cls(by, pickled, error_text(error), attached_answers(error))

    def error(self) -> Exception:
        """Return the error as it was raised, with the name of the copy in a note."""
        try:
            error = None if self.pickled is None else _load_error(self.pickled)
        except Exception:  # this process does not know its class
            error = None
        if not isinstance(error, Exception):  # such as SystemExit
            error = ModelError(f"the model failed in {self.by} with {self.text}")
        error.add_note(f"This happened in {self.by}.")
        if self.answers is not None:
            attach_answers(error, *self.answers)
        return error

    def making_error(self) -> Exception:
        """Return the error of a copy whose model could not be made."""
        error = self.error()
        if isinstance(error, InputError | ImportError | OSError):
            return error
        return ModelError(f"make_model failed in {self.by} with {self.text}")


def _load_error(pickled: bytes) -> BaseException:
    kind, arguments, members = pickle.loads(pickled)  # noqa: S301 (from a process of ours)
    error: BaseException = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(members)
    return error


def check_same(first: Traits, other: Traits) -> None:
    """Refuse a copy that says different things about itself than another."""
    for name, one in first.members.items():
        two = other.members[name]
        if one != two:
            raise ModelError(
                f"the copies differ: the {name} is {one!r} in {first.by} and {two!r} in "
                f"{other.by}; make_model has to make the same model each time (is a network "
                "random? set the seed, or load its weights)"
            )


class Copy:
    """A model, opened anew for every run.

    Parameters
    ----------
    make : bytes or str
        What makes the model.
    by : str
        The name of this copy.
    """

    def __init__(self, make: bytes | str, by: str) -> None:
        self._model = as_model(_load_maker(make)())
        check_members(self._model)
        self.traits = Traits(by, {name: getattr(self._model, name) for name in _MEMBERS})
        self._opened: dict[int, LanguageModel] = {}
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Rows | Failure:
        """Answer a part of a batch; an error is returned, and the opened model thrown away."""
        with self._lock:
            self.close(request.live)
            try:
                if request.run not in self._opened:
                    self._opened[request.run] = open_model(self._model)
                return self._opened[request.run].answer(request.batch)
            except BaseException as error:
                failure = Failure.of(error, self.traits.by)
                self.close(request.live - {request.run})
                return failure

    def close(self, live: frozenset[int] = frozenset()) -> None:
        """Close what was opened for runs that have ended."""
        for run in self._opened.keys() - live:
            close_quietly(self._opened.pop(run))


def serve(descriptor: int) -> None:
    """Make the model and answer requests, until the pipe is closed or its other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    signal.signal(signal.SIGTERM, _interrupt)
    os.set_inheritable(descriptor, False)
    pipe: Connection[Any, Any] = Connection(descriptor)
    requests: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_read, args=(pipe, requests), daemon=True).start()
    by = f"process {os.getpid()}"
    copy: Copy | None = None
    while (given := requests.get()) is not None:
        outcome: Traits | Rows | Failure
        if copy is not None:
            outcome = copy.answer(given)
        else:
            try:
                copy = Copy(given, by)
                outcome = copy.traits
            except BaseException as error:
                outcome = Failure.of(error, by)
        if _ENDING.is_set():
            break
        try:
            pipe.send_bytes(pickle.dumps(outcome, protocol=5))
        except OSError:
            break
    if copy is not None:
        copy.close()


def _read(pipe: Connection[Any, Any], requests: SimpleQueue[Any]) -> None:
    """Pass requests on; when there are no more, see to it that the process ends."""
    try:
        while True:
            requests.put(pickle.loads(pipe.recv_bytes()))  # noqa: S301 (from our own parent)
    except (EOFError, OSError):
        requests.put(None)
    time.sleep(_GRACE)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_LAST_SECONDS)
    os._exit(1)


def _interrupt(*_: object) -> None:
    """End what the model does, so that programs that it has started are ended, too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _ENDING.set()
    sys.exit(1)


def pickle_maker(make_model: Maker | str, dumps: Callable[[Maker], bytes]) -> bytes | str:
    """Return what another process makes the model of; it is read where an error can be told."""
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
    if isinstance(given, bytes):
        try:
            return pickle.loads(given)  # type: ignore[no-any-return]  # noqa: S301 (our parent's)
        except Exception as error:
            message = f"another process cannot load make_model ({error}): {REMEDY}"
            raise InputError(message) from error
    module, colon, name = given.partition(":")
    if not (colon and module and name.isidentifier()):
        raise InputError(f"make_model is {given!r}; give a function, or 'module:function'")
    try:
        found: Maker = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"make_model {given!r} cannot be imported: {error}") from error
    if not callable(found):
        raise InputError(f"make_model {given!r} is {described(found)}, not a function")
    return found
