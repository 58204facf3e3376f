"""Copies of a model in several processes, or on a cluster, as one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count as counting
from typing import Any

import numpy as np

from pdfalearn.alphabet import shorten
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.models.batch import Batch
from pdfalearn.models.copies import Copies, Outcomes, Request
from pdfalearn.models.opened import CheckedModel, ask_batch, error_text
from pdfalearn.models.protocol import LanguageModel, QueryCost, attach_answers, attached_answers
from pdfalearn.models.workers import ClusterCopies, ProcessCopies
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

_LEAST_CALLS = 4.0  # a part costs at least this many times what its call costs
_REMEMBERED = 2**20  # of about this many words it is known which copy answered them last


class Replicas(LanguageModel):
    """Copies of a model that share the words of every batch.

    Each copy is in a process of its own, on this machine or, with a scheduler, in the workers of a
    Dask cluster. Answers and statistics are those of one copy. A copy whose process is lost is made
    anew, and what it was asked is asked again. Where a batch fails or is interrupted, what the
    other copies have answered is not lost.

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
    timeout : float, optional
        How many seconds a copy may take for its part of a batch. After that it is ended, and counts
        as lost. If not given, a copy is waited for however long it takes, even if it hangs, up to
        ``max_seconds`` of a budget; only a process that was stopped is given up after 30 s.

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
    >>> with Replicas("pdfalearn.datasets:figure_3", 2) as model:
    ...     learn(model, equivalence=Quantization(10)).pdfa
    PDFA(4 states, alphabet=('0', '1'), initial=0)
    """

    def __init__(
        self,
        make_model: Callable[[], Any] | str,
        count: int | None = None,
        *,
        scheduler: str | None = None,
        timeout: float | None = None,
    ) -> None:
        if not (callable(make_model) or isinstance(make_model, str)):
            raise InputError(
                f"make_model is {described(make_model)}; give a function that makes the model, or "
                "'module:function'"
            )
        if count is not None:
            count = check_integer(count, "count", 1, 4096)
        if timeout is not None:
            timeout = check_number(timeout, "timeout", 1e-3, 1e9)
        self.copies: Copies
        if scheduler is not None:
            self.copies = ClusterCopies(make_model, count, scheduler, timeout)
        elif count is not None:
            self.copies = ProcessCopies(make_model, count, timeout)
        else:
            raise InputError("say how many replicas to make, or give a scheduler")
        vars(self).update(self.copies.members)
        self._numbers = counting()
        self._live: set[int] = set()
        self._asked = np.zeros(_REMEMBERED, dtype=np.int16)

    def __enter__(self) -> Replicas:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Replicas({self.count} copies)"

    @property
    def count(self) -> int:
        """How many copies there are now."""
        return len(self.copies.workers)

    def close(self) -> None:
        """End all copies."""
        self.copies.end()

    def open(self) -> OpenedReplicas:
        """Return what asks the copies in one run; each opens its model for it."""
        return OpenedReplicas(self)

    def answer(self, batch: Batch) -> Rows:
        """Have the copies answer a batch, as a run of its own."""
        return ask_batch(self, batch)

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        """Ask every copy for a word; return what each answers, or how it fails."""
        outcomes: Outcomes = {}
        opened = self.open()
        request = opened.request(Batch.of([word]))
        self.copies.ask(dict.fromkeys(range(self.count), request), outcomes)
        opened.close()
        return {by: _format_answer(outcome) for by, outcome in outcomes.values()}

    def assign(self, batch: Batch) -> Integers:
        """Return the copy to ask for each word: another one than answered it before."""
        words, copies = batch.words, self.count
        # What words cost a copy that knows nothing of them; one each if nothing costs.
        costs = self.cost.word + self.cost.symbol * words.lengths.astype(np.float64)
        costs = costs if costs.any() else np.ones(len(words))
        chosen = split_evenly(costs, part_count(costs, self.cost, copies))
        if copies == 1:
            return chosen
        # Words are remembered by their hashes. All parts go round by a step at which the fewest
        # words meet the same copy again; of these, the copy's neighbour is asked.
        places = _hash_words(words) % _REMEMBERED
        before = self._asked[places].astype(np.int64) - 1
        steps = (before - chosen)[before >= 0] % copies
        chosen = (chosen + np.bincount(steps, minlength=copies).argmin()) % copies
        chosen = np.where(before == chosen, (chosen + 1) % copies, chosen)
        self._asked[places] = chosen + 1
        return chosen


class OpenedReplicas(CheckedModel):
    """Asks the copies in one run. The copies check their rows.

    Parameters
    ----------
    model : Replicas
        The copies.
    """

    def __init__(self, model: Replicas) -> None:
        vars(self).update(model.copies.members)
        self.model = model
        self.answers_by_copy = model.answers_by_copy  # type: ignore[method-assign]
        self._run = next(model._numbers)
        model._live.add(self._run)

    def close(self) -> None:
        """Have the copies close what they opened, when they are asked the next time."""
        self.model._live.discard(self._run)

    def request(self, batch: Batch) -> Request:
        """Return what a copy is asked."""
        return Request(self._run, frozenset(self.model._live), batch)

    def answer(self, batch: Batch) -> Rows:
        """Have each copy answer a part; what is answered is attached to an error."""
        chosen = self.model.assign(batch)
        rows = {int(copy): (chosen == copy).nonzero()[0] for copy in np.unique(chosen)}
        if len(rows) <= 1:
            parts = dict.fromkeys(rows or [0], batch)
        else:
            parts = {copy: batch.select(places) for copy, places in rows.items()}
        outcomes: Outcomes = {}
        try:
            self.model.copies.ask(
                {copy: self.request(part) for copy, part in parts.items()}, outcomes
            )
            answered = []
            for copy in parts:
                outcome = outcomes[copy][1]
                if isinstance(outcome, Exception):
                    raise outcome
                answered.append(outcome)
        except BaseException as error:
            _attach(error, parts, outcomes)
            raise
        if len(parts) == 1:
            return answered[0]
        return Rows.join(answered).take(np.argsort(np.concatenate(list(rows.values()))))


def _attach(error: BaseException, parts: Mapping[int, Batch], outcomes: Outcomes) -> None:
    """Attach the answers to all parts, and those that parts had before they failed."""
    answers = []
    for copy, (_, outcome) in outcomes.items():
        if isinstance(outcome, Rows):
            answers.append((parts[copy].wanted_ids, outcome))
        elif (partial := attached_answers(outcome)) is not None:
            answers.append(partial)
    if answers:
        ids, rows = zip(*answers, strict=True)
        attach_answers(error, np.concatenate(ids), Rows.join(rows))


def _format_answer(outcome: Rows | Exception) -> str:
    if isinstance(outcome, Exception):
        return error_text(outcome)
    if outcome.undefined is not None and outcome.undefined[0]:
        return "undefined"
    return shorten(outcome.to_dense()[0].round(9).tolist())


def part_count(costs: Floats, cost: QueryCost, copies: int) -> int:
    """Return how many parts pay: each costs some times what a call does.

    Examples
    --------
    >>> [part_count(np.ones(size), QueryCost(call=5, word=1), 4) for size in (10, 50, 1000)]
    [1, 2, 4]
    """
    least, total = _LEAST_CALLS * cost.call, float(costs.sum())
    paying = copies if total >= copies * least else int(total // least)
    return max(1, min(paying, len(costs)))


def split_evenly(costs: Floats, parts: int) -> Integers:
    """Return the part of each word: words stay in order, and parts cost about the same.

    Examples
    --------
    >>> split_evenly(np.array([1.0, 1.0, 1.0, 3.0]), 2).tolist()
    [0, 0, 0, 1]
    """
    middles = np.cumsum(costs) - costs / 2
    found: Integers = np.minimum((middles * parts / costs.sum()).astype(np.int64), parts - 1)
    return found


def _hash_words(words: Words) -> Integers:
    """Return a number of 43 bits for every word, which depends on its symbols alone."""
    positions = np.arange(len(words.symbols)) - np.repeat(words.offsets[:-1], words.lengths)
    powers = np.cumprod(np.full(words.lengths.max(initial=0), 0x9E3779B97F4A7C15, dtype=np.uint64))
    terms = (words.symbols.astype(np.uint64) + np.uint64(1)) * powers[positions]
    sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(terms)))
    hashes = sums[words.offsets[1:]] - sums[words.offsets[:-1]]
    mixed: Integers = ((hashes * np.uint64(0xD6E8FEB86659FD93)) >> np.uint64(21)).astype(np.int64)
    return mixed
