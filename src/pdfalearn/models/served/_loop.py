"""An event loop in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from threading import Thread
from typing import Any, TypeVar

Outcome = TypeVar("Outcome")


class LoopThread:
    """Runs coroutines in another thread while the caller waits.

    Ctrl-C reaches the caller at once, and what runs is then cancelled, which closes its
    connections. A loop that the caller has itself, as in a notebook, is no hindrance.

    Examples
    --------
    >>> loop = LoopThread()
    >>> loop.run(asyncio.sleep(0, result="done"))
    'done'
    >>> loop.close()
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ending: asyncio.Task[None] | None = None
        Thread(target=self._run, name="served model", daemon=True).start()

    def run(self, coroutine: Coroutine[Any, Any, Outcome]) -> Outcome:
        """Return what a coroutine returns; cancel it if waiting is interrupted."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Cancel what still runs, run one thing more, and end the thread; nothing is waited for.

        The garbage collector calls this, wherever it is: who waits there may wait for ever.
        """
        self._loop.call_soon_threadsafe(self._begin_to_end, last)

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _begin_to_end(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        self._ending = self._loop.create_task(self._end(last))

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if last is not None:
            await last()
        self._loop.stop()
