"""The copy of a model in a worker of a Dask cluster."""

from __future__ import annotations

from threading import Lock
from typing import Any, cast

from distributed import WorkerPlugin, get_worker

from pdfalearn.models.replicas._copy import Copy
from pdfalearn.models.replicas._requests import Failure, Request, Response, Traits
from pdfalearn.models.replicas._worker import maker_of


class ModelPlugin(WorkerPlugin):  # type: ignore[misc, unused-ignore]
    """Holds a copy of the model, which is made when it is asked for the first time.

    Not before that: the worker would not tell the scheduler that it is alive meanwhile.

    Parameters
    ----------
    name : str
        What tells these copies from those of others on the cluster.
    make : bytes or str
        What makes the model.
    """

    def __init__(self, name: str, make: bytes | str) -> None:
        self.name = name
        self._make = make

    def setup(self, worker: Any) -> None:
        """Begin in a worker."""
        self._by = f"worker {worker.address}"
        self._lock = Lock()
        self._copy: Copy | None = None
        self._has_said = False

    def handle(self, request: Request | None) -> Response | Traits | Failure:
        """Answer a request, one at a time; the first answer says what the model is."""
        with self._lock:
            try:
                if self._copy is None:
                    self._copy = Copy(maker_of(self._make), self._by)
                if request is None or not self._has_said:
                    traits = self._copy.traits()
                    self._has_said = True
                    return traits
            except BaseException as error:
                return Failure.of(error, self._by)
            return self._copy.handle(request)


def handled_here(name: str, request: Request | None) -> Response | Traits | Failure:
    """Have the copy of the worker that this runs in answer."""
    return cast(ModelPlugin, get_worker().plugins[name]).handle(request)
