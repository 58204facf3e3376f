"""Where copies of a model are: in processes of this machine, or in the workers of a cluster."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
import weakref
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import wait
from threading import Event
from typing import Any
from uuid import uuid4

from pdfalearn.errors import InputError, ModelError
from pdfalearn.extras import check_installed
from pdfalearn.models.copies import (
    LOOK_SECONDS,
    REMEDY,
    Copies,
    Copy,
    Failure,
    LostError,
    Maker,
    Request,
    Worker,
    pickle_maker,
)
from pdfalearn.text import described

_PROGRAM = "import sys; sys.path[:] = {!r}; from pdfalearn.models.copies import serve; serve({})"
_EXIT_SECONDS = 0.5  # for a process that has closed its pipe to end, so that its exit code is known
_END_SECONDS = 3.0  # for processes to end by themselves; then they are killed

_CONNECTION_SECONDS = 10
_WORKERLESS_SECONDS = 60.0  # a cluster without workers is given up after this time
# In a worker of a cluster: its copies, by their group and by its own address.
_COPIES: dict[tuple[str, str], Copy] = {}


class Process(Worker):
    """A process with a copy of the model.

    It is not a worker of `concurrent.futures`: such a one imports the user's program again, keeps
    this program from ending while it is busy, outlives it if it is killed, and takes three times
    as long for a request.
    """

    def __init__(self, make: bytes | str, threads: int) -> None:
        self.pipe, theirs = Pipe()
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 (this Python, and a module of ours)
                [sys.executable, "-c", _PROGRAM.format(sys.path, theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=2,  # what a model prints is not part of this program's output
                pass_fds=[theirs.fileno()],
                env={"OMP_NUM_THREADS": str(threads), **os.environ},  # unless that says so
                process_group=0,  # Ctrl-C in a terminal is not for it
            )
        self.pid = self.process.pid
        self.name = f"process {self.pid}"
        self.send(make)

    def send(self, message: object) -> None:
        """Send what makes the model, or a request; that it has ended is noticed afterwards."""
        pickled = pickle.dumps(message, protocol=5)
        self.is_busy, self.since = True, time.monotonic()
        try:
            with suppress(OSError):
                self.pipe.send_bytes(pickled)
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
                self.process.wait(_EXIT_SECONDS)
        except BaseException:  # half a message was read
            self.end()
            raise
        code = self.process.poll()
        if code is None:
            raise LostError("it closed its pipe")
        how = f"signal {-code}" if code < 0 else f"exit code {code}; see its standard error"
        raise LostError(how)

    def is_stopped(self) -> bool:
        """Return whether it was stopped, as by SIGSTOP."""
        with suppress(OSError):  # it has ended
            how = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.pid, how) is not None
        return False

    def hang_up(self) -> None:
        """Close the pipe, which tells the process to end."""
        self.is_ended = True
        self.pipe.close()

    def end(self, seconds: float = 0.0) -> None:
        """Close the pipe, and kill the process if it has not ended after some seconds."""
        self.hang_up()
        try:
            self.process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class ProcessCopies(Copies):
    """Copies in processes of this machine; one that is lost is started anew."""

    def __init__(self, make_model: Maker | str, count: int, timeout: float | None) -> None:
        super().__init__(timeout)
        if getattr(make_model, "__module__", None) == "__main__":
            raise InputError(f"other processes cannot load {make_model!r}: {REMEDY}")
        threads = max(1, (os.cpu_count() or 1) // count)
        self._start = partial(Process, pickle_maker(make_model, pickle.dumps), threads)
        self._count = count
        self.end = weakref.finalize(self, _end_processes, self.workers, os.getpid())
        self.begin()

    def renew(self) -> None:
        """Start processes in the place of those that have ended."""
        for place, worker in enumerate(self.workers):
            if worker.is_ended:
                self.workers[place] = self._start()
        while len(self.workers) < self._count:
            self.workers.append(self._start())

    def wait(self, workers: list[Process], seconds: float) -> Collection[Process]:
        """Wait for some time; return those that have an answer, or are lost."""
        ready = wait([worker.pipe for worker in workers], seconds)
        return [w for w in workers if w.pipe in ready or w.process.poll() is not None]


def _end_processes(processes: list[Process], owner: int) -> None:
    """End processes, unless this is a fork of the process that has started them."""
    if os.getpid() != owner:
        return
    for process in processes:
        process.hang_up()
    deadline = time.monotonic() + _END_SECONDS
    for process in processes:
        process.end(deadline - time.monotonic())


class ClusterWorker(Worker):
    """A worker of the cluster, whose copy is made by a task and asked by others."""

    def __init__(self, cluster: ClusterCopies, address: str) -> None:
        self.name = f"worker {address}"
        self.address = address
        self._cluster = cluster
        self.send(cluster.make)

    def send(self, message: object) -> None:
        """Send what makes the model, or a request."""
        cluster = self._cluster
        self.future = _submit(cluster.client, cluster.group, reply_here, self.address, message)
        self.is_busy, self.since = True, time.monotonic()
        self.future.add_done_callback(lambda _: cluster.is_over.set())

    def receive(self) -> Any:
        """Return the answer; raise LostError if the worker has left."""
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        while self.address in self._cluster.present:
            try:
                answer = self.future.result(timeout=LOOK_SECONDS)
            except (TimeoutError, CommClosedError):  # it has left, or the answer is large
                self._cluster.look()
                continue
            except (KilledWorker, CancelledError) as error:
                raise LostError(str(error)) from error
            except Exception as error:  # before the model was reached, or after
                answer = Failure.of(error)
            if answer is None:
                raise LostError("it has begun anew")
            self.is_busy = False
            return answer
        raise LostError("it has left the cluster")

    def end(self) -> None:
        """Cancel what the worker was asked."""
        self.is_ended = True
        with suppress(Exception):  # the scheduler may be gone
            self.future.cancel()


class ClusterCopies(Copies):
    """Copies in the workers of a cluster, also in those that join later."""

    def __init__(
        self, make_model: Maker | str, count: int | None, address: str, timeout: float | None
    ) -> None:
        super().__init__(timeout)
        check_installed("distributed", "schedulers")
        from distributed.protocol.pickle import dumps

        self.make = pickle_maker(make_model, dumps)
        self.client = _connect(address)
        self.group = f"pdfalearn-{uuid4().hex}"
        self.present: set[str] = set()  # the addresses of workers
        self.is_over = Event()  # set when a task is over
        self._late: set[str] = set()  # the addresses of workers that took too long
        self._address = address
        self._count = count
        self.end = weakref.finalize(self, _leave, self.client, self.group)
        self.begin()

    def renew(self) -> None:
        """Leave out workers that are gone or took too long, and take those that have joined."""
        self._late |= {worker.address for worker in self.workers if worker.is_late}
        self.look()
        kept = [worker for worker in self.workers if not worker.is_ended]
        new = sorted(self.present - self._late - {worker.address for worker in kept})
        new = new[: None if self._count is None else self._count - len(kept)]
        self.workers[:] = [*kept, *(ClusterWorker(self, address) for address in new)]

    def wait(self, workers: list[ClusterWorker], seconds: float) -> Collection[ClusterWorker]:
        """Wait for some time; return those that have an answer, or have left."""
        self.is_over.wait(seconds)
        self.is_over.clear()
        present = self.present
        return [w for w in workers if w.future.status != "pending" or w.address not in present]

    def look(self) -> None:
        """See which workers there are; where there are none, wait for some."""
        deadline = time.monotonic() + _WORKERLESS_SECONDS
        while True:
            try:
                self.present = set(self.client.nthreads())
            except Exception as error:
                self.present = set()  # or answers of its workers would be waited for
                raise ModelError(f"the Dask scheduler at {self._address} is gone") from error
            if self.present - self._late:
                return
            if time.monotonic() > deadline:
                raise ModelError(
                    f"the Dask cluster has had no workers for {_WORKERLESS_SECONDS:g} s: start "
                    "some, and begin again"
                )
            time.sleep(LOOK_SECONDS)


def reply_here(group: str, message: Request | bytes | str) -> Any:
    """Have the copy of the worker that this runs in reply; None if there is none any more."""
    from distributed import get_worker

    key = group, get_worker().address
    if not isinstance(message, Request):
        _COPIES[key] = Copy()
    return _COPIES[key].reply(message) if key in _COPIES else None


def forget_here(group: str) -> None:
    """Close the copies of a group in the process that this runs in."""
    for key in [key for key in _COPIES if key[0] == group]:
        _COPIES.pop(key).close()


def _connect(address: str) -> Any:
    from distributed import Client
    from distributed.comm.addressing import get_address_host_port

    if not isinstance(address, str):
        raise InputError(f"scheduler is {described(address)}; give its address, a text")
    try:
        get_address_host_port(address)  # a client of no address would not end well
        client = Client(address, timeout=_CONNECTION_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address!r}: {error}") from error
    if not client.nthreads():
        client.close()
        raise InputError(f"the Dask scheduler at {address} has no workers: start some first")
    return client


def _submit(client: Any, group: str, function: Any, address: str, *arguments: object) -> Any:
    """Run a function of a group in one worker; the key is new, or another's result would do."""
    where = {"key": f"{group}-{uuid4().hex}", "workers": [address], "pure": False}
    return client.submit(function, group, *arguments, **where)


def _leave(client: Any, group: str) -> None:
    """Have the workers forget the model, without waiting for them, and leave the cluster."""
    with suppress(Exception):  # the cluster may be gone before
        from distributed import fire_and_forget

        if client.status == "running":
            for address in client.nthreads():
                fire_and_forget(_submit(client, group, forget_here, address))
        client.close()
