"""Copies of a model in several processes, or on a cluster, as one model."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import numpy as np

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError
from pdfalearn.models.cost import QueryCost
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.models.replicas._pools import Pool
from pdfalearn.models.replicas._processes import Processes
from pdfalearn.models.replicas._requests import ANSWER, READ, Failure, Request, Response
from pdfalearn.models.replicas._session import ReplicaSession
from pdfalearn.models.replicas._tables import WordTable
from pdfalearn.text import described
from pdfalearn.words import Words


class Replicas(LanguageModel):
    """Copies of a model that share the words of every batch.

    Each copy is in a process of its own, on this machine or, with a scheduler, in the workers of a
    Dask cluster. Answers and statistics are those of one copy. Where the model can go on from a
    word, a word is led on by the copy that holds it; other models are asked for whole words. A copy
    whose process is lost is made anew, and what it was asked is asked again.

    Use it in a ``with`` block, or call `close`; the processes end with the program in any case.

    Parameters
    ----------
    make_model : callable or str
        Makes the model, without arguments; it is called in every process. It has to be a function
        of a module that can be imported there, or ``"module:function"``.
    count : int, optional
        How many copies; on a cluster the most, and all its workers if not given.
    scheduler : str, optional
        The address of a Dask scheduler, such as ``tcp://127.0.0.1:8786``.

    Raises
    ------
    InputError
        If there is no such function or scheduler, or if ``make_model`` raises it.
    ModelError
        If ``make_model`` fails, or makes different models.

    Notes
    -----
    The cost of a call decides how many parts a batch has: a part costs at least four calls.

    Examples
    --------
    >>> from pdfalearn import Quantization, learn
    >>> with Replicas("pdfalearn:figure_3", 2) as model:
    ...     learn(model, by=Quantization(10)).pdfa
    PDFA(4 states, alphabet=('0', '1'), initial=0)
    """

    def __init__(
        self,
        make_model: Callable[[], Any] | str,
        count: int | None = None,
        *,
        scheduler: str | None = None,
    ) -> None:
        if not (callable(make_model) or isinstance(make_model, str)):
            raise InputError(
                f"make_model is {described(make_model)}; give a function that makes the model, or "
                "'module:function'"
            )
        if count is not None:
            count = checked_integer(count, "count", 1, 4096)
        self._pool: Pool = _pool(make_model, count, scheduler)
        self.alphabet: Alphabet = self._pool.traits.members.alphabet
        self.fingerprint = self._pool.traits.members.fingerprint
        self.cost: QueryCost = self._pool.traits.members.cost
        self._sessions: WeakSet[ReplicaSession] = WeakSet()
        self._lock = Lock()
        self._ended: dict[int, list[str]] = {}

    def __enter__(self) -> Replicas:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Replicas({self._pool.seats()} copies)"

    def close(self) -> None:
        """End all copies."""
        self._pool.end()

    def open(self) -> ReplicaSession:
        """Begin a conversation."""

        def others() -> list[WordTable]:
            with self._lock:
                tables = [other.words for other in self._sessions if other is not session]
            return [table for table in tables if table.size > 1]

        session = ReplicaSession(self._pool, others, self._ended)
        with self._lock:
            self._sessions.add(session)
        return session

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        """Ask every copy for a word; return what each answers, or how it fails."""
        kind = ANSWER if self._pool.traits.is_whole else READ
        name, names = uuid4().hex, np.zeros(1, dtype=np.int64)
        request = Request(kind, Words.of([word]), talk=name, names=names)
        seats = range(self._pool.seats())
        answers = self._pool.ask([(seat, request) for seat in seats])
        for seat in seats:
            self._ended.setdefault(seat, []).append(name)
        return {answer.by: _answer_text(answer) for answer in answers}


def _answer_text(answer: Response | Failure) -> str:
    if isinstance(answer, Failure) or answer.rows is None:
        return answer.text if isinstance(answer, Failure) else "nothing"
    rows = answer.rows
    if rows.undefined is not None and rows.undefined[0]:
        return "undefined"
    return shortened(rows.to_dense()[0].round(9).tolist())


def _pool(make_model: Callable[[], Any] | str, count: int | None, scheduler: str | None) -> Pool:
    if scheduler is not None:
        from pdfalearn.models.replicas._cluster import Cluster

        return Cluster(make_model, count, scheduler)
    if count is None:
        raise InputError("say how many replicas to make, or give a scheduler")
    return Processes(_sent(make_model), count)


def _sent(make_model: Callable[[], Any] | str) -> bytes | str:
    """Return what another process makes the model of."""
    remedy = "define it in a module that can be imported, not in the program that is run"
    if isinstance(make_model, str):
        return make_model
    if getattr(make_model, "__module__", None) == "__main__":
        raise InputError(f"other processes cannot load {make_model!r}: {remedy}")
    try:
        return pickle.dumps(make_model)
    except Exception as error:
        raise InputError(
            f"other processes cannot load {make_model!r} ({error}): {remedy}"
        ) from error
