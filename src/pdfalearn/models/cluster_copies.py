"""Copies of a model in the workers of a Dask cluster."""

from __future__ import annotations

import time
import weakref
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from threading import Event
from typing import Any
from uuid import uuid4

from pdfalearn.errors import InputError, ModelError
from pdfalearn.extras import check_installed
from pdfalearn.models.copies import Copy, Failure, Maker, Request, Traits, pickle_maker
from pdfalearn.models.process_copies import LOOK_SECONDS, Copies, LostError, Outcomes, Worker
from pdfalearn.rows import Rows
from pdfalearn.text import described

_CONNECTION_SECONDS = 10
_WORKERLESS_SECONDS = 60.0
"""A cluster without workers is given up after this time."""
_HELD: dict[tuple[str, str], Copy] = {}
"""In a worker: the copies that it holds, by their group and by its own address."""


class ClusterWorker(Worker):
    """A worker of the cluster, whose copy is made by a task and asked by others.

    Parameters
    ----------
    cluster : ClusterCopies
        The cluster.
    address : str
        The worker's address.
    """

    def __init__(self, cluster: ClusterCopies, address: str) -> None:
        self.name = f"worker {address}"
        self.address = address
        self._cluster = cluster
        self.send(cluster.make)

    def send(self, message: object) -> None:
        """Send what makes the model, or a request."""
        key = f"{self._cluster.group}-{uuid4().hex}"
        where: dict[str, Any] = {"key": key, "workers": [self.address], "pure": False}
        submit = self._cluster.client.submit
        self.future = submit(answer_here, self._cluster.group, message, **where)
        self.is_busy, self.since = True, time.monotonic()
        self.future.add_done_callback(lambda _: self._cluster.is_over.set())

    def receive(self) -> Any:
        """Return the answer; raise LostError if the worker has left."""
        from distributed import CancelledError, KilledWorker

        answer = None
        while self.is_busy:
            try:
                answer = self.future.result(timeout=LOOK_SECONDS)
                self.is_busy = False
            except TimeoutError:  # it has left, maybe with an answer, or the answer is large
                self._cluster.look()
                if self.address not in self._cluster.present:
                    raise LostError("it has left the cluster") from None
            except (KilledWorker, CancelledError) as error:
                raise LostError(str(error)) from error
            except Exception as error:  # before the model was reached, or after
                answer = Failure.of(error, self.name)
                self.is_busy = False
        if answer is None:
            raise LostError("it has begun anew")
        return answer

    def end(self) -> None:
        """Cancel what the worker was asked."""
        self.is_ended = True
        self.future.cancel()


class ClusterCopies(Copies[ClusterWorker]):
    """Copies in the workers of a cluster, also in those that join later.

    Parameters
    ----------
    make_model : callable or str
        Makes the model.
    count : int, optional
        The most workers to use.
    address : str
        The address of the scheduler.
    timeout : float, optional
        How many seconds a worker may take to answer; one that takes longer is not asked again.
    """

    def __init__(
        self,
        make_model: Maker | str,
        count: int | None,
        address: str,
        timeout: float | None,
    ) -> None:
        super().__init__(timeout)
        self.client = _connect(address)
        self._address = address
        self._count = count
        self.group = f"pdfalearn-{uuid4().hex}"
        self.is_over = Event()
        self._late: set[str] = set()
        """The workers that took too long."""
        self.end = weakref.finalize(self, _leave, self.client, self.group)
        try:
            from distributed.protocol.pickle import dumps

            self.make = pickle_maker(make_model, dumps)
            self.present = set(self.client.nthreads())
            if not self.present:
                raise InputError(
                    f"the Dask scheduler at {address} has no workers: start some first"
                )
        except BaseException:
            self.end()
            raise
        self.begin()

    def ask(self, requests: Mapping[int, Request], outcomes: Outcomes) -> None:
        """Ask each worker its part, those that have joined included."""
        if self.end.alive:
            self.look()
        super().ask(requests, outcomes)

    def renew(self) -> None:
        """Leave out workers that are gone or took too long, and take those that have joined."""
        kept = [worker for worker in self.workers if worker.is_usable]
        ended = {worker.address for worker in self.workers if worker.is_ended and worker.is_busy}
        self._late |= ended & self.present
        if not (kept or self.present - self._late):
            self.look()
        new = sorted(self.present - self._late - {worker.address for worker in kept})
        new = new[: None if self._count is None else self._count - len(kept)]
        self.workers[:] = [*kept, *(ClusterWorker(self, address) for address in new)]

    def wait(self, workers: Sequence[ClusterWorker], seconds: float) -> Collection[ClusterWorker]:
        """Wait for some time; return those that have an answer, or have left."""
        if not self.is_over.wait(seconds):
            self.look()
        self.is_over.clear()
        return [
            worker
            for worker in workers
            if worker.future.status != "pending" or worker.address not in self.present
        ]

    def look(self) -> None:
        """See which workers there are; where there are none, wait for some."""
        deadline = time.monotonic() + _WORKERLESS_SECONDS
        while True:
            try:
                self.present = set(self.client.nthreads())
            except Exception as error:
                raise ModelError(f"the Dask scheduler at {self._address} is gone") from error
            if self.present - self._late:
                return
            if time.monotonic() > deadline:
                raise ModelError(
                    f"the Dask cluster has had no workers for {_WORKERLESS_SECONDS:g} s: start "
                    "some, and begin again"
                )
            time.sleep(LOOK_SECONDS)


def answer_here(group: str, message: Request | bytes | str) -> Traits | Rows | Failure | None:
    """Make the copy of the worker that this runs in, or have it answer; None if there is none."""
    from distributed import get_worker

    address = get_worker().address
    if isinstance(message, Request):
        held = _HELD.get((group, address))
        return None if held is None else held.answer(message)
    by = f"worker {address}"
    try:
        copy = _HELD[group, address] = Copy(message, by)
    except BaseException as error:
        return Failure.of(error, by)
    return copy.traits


def forget_here(group: str) -> None:
    """Close the copies of a group in the process that this runs in."""
    for held in [held for held in _HELD if held[0] == group]:
        _HELD.pop(held).close()


def _connect(address: str) -> Any:
    check_installed("distributed", "schedulers")
    from distributed import Client
    from distributed.comm.addressing import get_address_host_port

    if not isinstance(address, str):
        raise InputError(f"scheduler is {described(address)}; give its address, a text")
    try:
        get_address_host_port(address)  # a client of no address would not end well
        return Client(address, timeout=_CONNECTION_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address!r}: {error}") from error


def _leave(client: Any, group: str) -> None:
    """Have the workers forget the model, without waiting for them, and leave the cluster."""
    with suppress(Exception):  # the cluster may be gone before
        from distributed import fire_and_forget

        if client.status == "running":
            for place, worker in enumerate(client.nthreads()):
                key = f"{group}-end-{place}"
                task = client.submit(forget_here, group, key=key, workers=[worker], pure=False)
                fire_and_forget(task)
        client.close()
