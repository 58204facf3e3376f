"""Copies of a model in the workers of a Dask cluster."""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from itertools import count as counted
from typing import Any
from uuid import uuid4

from pdfalearn.errors import InputError, MissingExtraError, ModelError
from pdfalearn.models.replicas._pools import Answer, check_same, checked_traits
from pdfalearn.models.replicas._requests import Maker, Request, Traits

_CONNECTION_SECONDS = 10
_LOOK_SECONDS = 1.0
"""So often it is seen whether workers are still there, while answers are waited for."""
_WORKERLESS_SECONDS = 60.0
"""A cluster without workers is given up after this time."""


class Cluster:
    """Workers of a cluster with a copy of the model each, which a plugin holds.

    A part goes to a worker of its own, or to any other if that is lost: this is Dask's doing.
    Workers that join later get the plugin, too; before they answer, they say what their model is,
    which has to be the same. All names have a part that nobody else has, so that
    several can use one cluster.

    Parameters
    ----------
    make_model : callable or str
        Makes the model.
    count : int, optional
        The most workers to use.
    address : str
        Where the scheduler is.
    """

    def __init__(self, make_model: Maker | str, count: int | None, address: str) -> None:
        self._client = _client(address)
        self._count = count
        self._name = f"pdfalearn-{uuid4().hex}"
        self._numbers = counted()
        self._end = weakref.finalize(self, _end, self._client, self._name)
        try:
            self._begin(make_model, address)
        except BaseException:
            self.end()
            raise

    def _begin(self, make_model: Maker | str, address: str) -> None:
        from pdfalearn.models.replicas._plugin import ModelPlugin

        plugin = ModelPlugin(self._name, _sent(make_model))
        self._client.register_plugin(plugin, name=self._name)
        self._workers = self._workers_now()
        if not self._workers:
            raise InputError(f"the Dask scheduler at {address} has no workers: start some first")
        said = self._gathered([(seat, None) for seat in range(len(self._workers))])
        traits = [checked_traits(answer) for answer in said]
        check_same(traits)
        self.traits = traits[0]

    def seats(self) -> int:
        """Return how many workers there were the last time."""
        return len(self._workers)

    def end(self) -> None:
        """Have the workers forget the model, and leave the cluster."""
        self._end()

    def ask(self, requests: Sequence[tuple[int, Request]]) -> list[Answer]:
        """Ask; a part whose worker is lost is asked again elsewhere."""
        if not self._end.alive:
            raise InputError("these replicas are closed")
        answers: list[Any] = self._gathered(requests)
        while new := [place for place, answer in enumerate(answers) if isinstance(answer, Traits)]:
            check_same([self.traits, *(answers[place] for place in new)])
            asked_again = self._gathered([requests[place] for place in new])
            for place, answer in zip(new, asked_again, strict=True):
                answers[place] = answer
        self._workers = self._workers_now() or self._workers
        return answers

    def _workers_now(self) -> list[str]:
        return sorted(self._client.nthreads())[: self._count]

    def _gathered(self, requests: Sequence[tuple[int, Request | None]]) -> list[Any]:
        from distributed import KilledWorker

        sent = [self._submitted(seat, request) for seat, request in requests]
        try:
            for place, (seat, request) in enumerate(requests):
                while not _is_over(sent[place][1]):
                    if self._is_gone(sent[place][0]):
                        sent[place] = self._submitted(seat, request)
            answers: list[Any] = self._client.gather([future for _, future in sent])
        except KilledWorker as error:
            raise ModelError(
                f"every worker that was asked for the same part was lost ({error}): what ends the "
                "model there?"
            ) from error
        finally:
            for _, future in sent:
                future.release()
        return answers

    def _submitted(self, seat: int, request: Request | None) -> tuple[str, Any]:
        """Send a request to a worker; return which one, and what will be the answer."""
        from pdfalearn.models.replicas._plugin import handled_here

        worker = self._workers[seat % len(self._workers)]
        future = self._client.submit(
            handled_here,
            self._name,
            request,
            key=f"{self._name}-{next(self._numbers)}",
            workers=[worker],
            allow_other_workers=True,
            pure=False,
        )
        return worker, future

    def _is_gone(self, worker: str) -> bool:
        """Return whether a worker has left; where it was the last one, wait for another.

        Dask sends what was meant for it to others that are there, but not to those that come later.
        """
        deadline = time.monotonic() + _WORKERLESS_SECONDS
        while not (now := self._client.nthreads()):
            if time.monotonic() > deadline:
                raise ModelError(
                    f"the Dask cluster has had no workers for {_WORKERLESS_SECONDS:g} s: start "
                    "some, and begin again"
                )
            time.sleep(_LOOK_SECONDS)
        self._workers = self._workers_now() or self._workers
        return worker not in now


def _is_over(future: Any) -> bool:
    """Wait a moment for an answer; return whether it has come, be it an error."""
    from distributed import TimeoutError as NotYetError

    try:
        future.exception(timeout=_LOOK_SECONDS)
    except NotYetError:
        return False
    return True


def _sent(make_model: Maker | str) -> bytes | str:
    """Return what a worker makes the model of; it is read where an error can be told."""
    from distributed.protocol.pickle import dumps

    if isinstance(make_model, str):
        return make_model
    try:
        pickled: bytes = dumps(make_model)
    except Exception as error:
        raise InputError(f"workers cannot load {make_model!r} ({error})") from error
    return pickled


def _client(address: str) -> Any:
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError as error:
        raise MissingExtraError("a scheduler needs Dask: pip install 'pdfalearn[dask]'") from error
    try:
        get_address_host_port(address)  # a client of no address would not end well
        return Client(address, timeout=_CONNECTION_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address!r}: {error}") from error


def _end(client: Any, name: str) -> None:
    with suppress(Exception):  # the cluster may be gone before
        if client.status == "running":
            client.unregister_worker_plugin(name)
        client.close()
