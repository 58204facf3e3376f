"""Hand runs to workers, and take the results as they come."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait

from pdfalearn.errors import InputError
from pdfalearn.experiments.runs import Key, Run, Task, perform
from pdfalearn.experiments.workers import Workers

_MOST_LOSSES = 5
"""A run that has lost its worker this many times is taken for the cause."""


def performed(tasks: Iterable[Task], workers: Workers) -> Iterator[tuple[Task, Run | InputError]]:
    """Do runs; yield each as it ends, with its row or with why it has failed.

    A run whose worker is lost is done again.

    Raises
    ------
    InputError
        If a run loses its worker time and again, or the scheduler is gone.
    """
    hand = _Hand(workers)
    waiting, pending = deque(tasks), dict[Future[Run], Task]()
    losses = Counter[Key]()
    try:
        while waiting or pending:
            while waiting and len(pending) < workers.in_flight:
                task = waiting.popleft()
                pending[hand.submit(task)] = task
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                task = pending.pop(future)
                try:
                    yield task, future.result()
                except InputError as error:
                    yield task, error
                except workers.losses as loss:
                    losses[task.key] += 1
                    if losses[task.key] == _MOST_LOSSES:
                        raise InputError(
                            f"{task.key}: its worker was lost {_MOST_LOSSES} times"
                        ) from loss
                    waiting.appendleft(task)
                except CancelledError as error:
                    raise InputError(
                        "the scheduler is gone; start again to go on with what is left"
                    ) from error
    finally:
        hand.stop()


class _Hand:
    """Submits to an executor, and starts another one when that is broken."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._executor = workers.start()

    def submit(self, task: Task) -> Future[Run]:
        try:
            return self._executor.submit(perform, task, self._workers.name)
        except BrokenExecutor:
            self.stop()
            self._executor = self._workers.start()
            return self._executor.submit(perform, task, self._workers.name)

    def stop(self) -> None:
        """Cancel the runs that have not begun."""
        self._workers.stop(self._executor)
