"""Where runs are done: in this process, in several on this machine, or on a Dask cluster."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError, MissingExtraError

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")

IN_PROCESS = "in process"
_ONE_PROCESS = "1 process"
UNDISTURBED = (IN_PROCESS, _ONE_PROCESS)
"""The executors whose timings are not disturbed by runs beside them."""
_LEAST_IN_FLIGHT = 64
_CONNECTION_SECONDS = 10


@dataclass(frozen=True)
class Workers:
    """How to start an executor, and how many runs to hand to it at a time."""

    name: str
    start: Callable[[], Executor]
    in_flight: int
    losses: tuple[type[BaseException], ...] = ()
    """The errors which say that a worker is gone, and nothing about the run."""

    def stop(self, executor: Executor) -> None:
        """Stop an executor; what has not begun is given up."""
        if isinstance(executor, ProcessPoolExecutor):
            executor.shutdown(cancel_futures=True)
        else:
            executor.shutdown(wait=False)  # which cancels, on a cluster


@contextmanager
def workers(jobs: int | None = None, scheduler: str | None = None) -> Iterator[Workers]:
    """Choose where runs are done: in this process if nothing is given."""
    if jobs is not None and scheduler is not None:
        raise InputError("give jobs or a scheduler, not both")
    if scheduler is not None:
        with _cluster(scheduler) as cluster:
            yield cluster
    elif jobs is not None:
        yield _processes(checked_integer(jobs, "jobs", 1))
    else:
        yield Workers(IN_PROCESS, _InProcess, in_flight=1)


class _InProcess(Executor):
    """Runs each call when it is submitted."""

    def submit(
        self,
        fn: Callable[Parameters, Value],
        /,
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Future[Value]:
        future: Future[Value] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _processes(jobs: int) -> Workers:
    from concurrent.futures.process import BrokenProcessPool

    def start() -> Executor:
        # Spawned, as everywhere but on Linux: a fork would take the locks of other threads along.
        return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_die_of_interrupts)

    name = _ONE_PROCESS if jobs == 1 else f"{jobs} processes"
    return Workers(name, start, in_flight=2 * jobs, losses=(BrokenProcessPool,))


def _die_of_interrupts() -> None:
    """End at Ctrl-C without a word; the process that started this one tells what happened."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    try:
        from distributed import Client, KilledWorker
        from distributed.comm.addressing import get_address_host_port
    except ImportError as error:
        raise MissingExtraError("a scheduler needs Dask: pip install 'pdfalearn[dask]'") from error
    try:
        get_address_host_port(address)  # a client of no address would not end well
        client = Client(address, timeout=_CONNECTION_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address!r}: {error}") from error
    with client:
        threads = sum(client.nthreads().values())
        yield Workers(
            f"Dask, {threads} threads",
            lambda: client.get_executor(pure=False),
            in_flight=max(_LEAST_IN_FLIGHT, 2 * threads),
            losses=(KilledWorker,),
        )
