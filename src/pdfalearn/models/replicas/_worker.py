"""The process of one copy: it reads requests from a pipe, and answers each.

It ends with its pipe: when the process that started it closes it, or is no more.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from importlib import import_module
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from pdfalearn.errors import InputError
from pdfalearn.models.replicas._copy import Copy
from pdfalearn.models.replicas._requests import Failure, Maker
from pdfalearn.text import described

_GRACE = 0.5
"""A model that is busy when its pipe is closed may go on for this many seconds."""
_LAST_SECONDS = 2.0
"""Then it is interrupted, and has so long to end what it has started itself."""
_TOLD_TO_END = threading.Event()


def main() -> None:
    """Make the model, and answer requests until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    signal.signal(signal.SIGTERM, _interrupt)
    reader, writer = _taken_pipes()
    requests: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    threading.Thread(target=_read, args=(reader, requests), daemon=True).start()
    by = f"process {os.getpid()}"
    copy: Copy | None = None
    while (numbered := requests.get()) is not None:
        number, given = numbered
        if copy is None:
            try:
                copy = Copy(maker_of(given), by)
                answer: object = copy.traits()
            except BaseException as error:
                answer = Failure.of(error, by)
        else:
            answer = copy.handle(given)
        if _TOLD_TO_END.is_set():
            return
        try:
            writer.send_bytes(pickle.dumps((number, answer), protocol=5))
        except OSError:
            return


def _taken_pipes() -> tuple[Connection[Any, Any], Connection[Any, Any]]:
    """Take the standard streams as pipes; what the model prints goes to the standard error."""
    reader = Connection(os.dup(0), writable=False)
    writer = Connection(os.dup(1), readable=False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return reader, writer


def _read(reader: Connection[Any, Any], requests: SimpleQueue[tuple[int, Any] | None]) -> None:
    """Pass requests on; when there are no more, see to it that the process ends."""
    try:
        while True:
            requests.put(pickle.loads(reader.recv_bytes()))  # noqa: S301 (from our own parent)
    except (EOFError, OSError):
        requests.put(None)
    time.sleep(_GRACE)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_LAST_SECONDS)
    os._exit(1)


def _interrupt(*_: object) -> None:
    """End what the model does, so that programs that it has started are ended, too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _TOLD_TO_END.set()
    sys.exit(1)


def maker_of(given: bytes | str) -> Maker:
    """Find what makes the model: a pickled function, or the text of its place."""
    if isinstance(given, str):
        return named(given)
    try:
        make: Maker = pickle.loads(given)  # noqa: S301 (from our own parent)
    except Exception as error:
        raise InputError(
            f"another process cannot load make_model ({error}): define it in a module that can be "
            "imported, not in the program that is run"
        ) from error
    return make


def named(text: str) -> Maker:
    """Import a function by its place, as in "module:function"."""
    module, colon, name = text.partition(":")
    if not (colon and module and name.isidentifier()):
        raise InputError(f"make_model is {text!r}; give a function, or 'module:function'")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"make_model {text!r} cannot be imported: {error}") from error
    if not callable(found):
        raise InputError(f"make_model {text!r} is {described(found)}, not a function")
    make: Maker = found
    return make
