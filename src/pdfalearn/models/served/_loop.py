"""An event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable, Coroutine
from threading import Thread
from typing import Any, TypeVar
from weakref import WeakSet

Outcome = TypeVar("Outcome")
_LAST_SECONDS = 2.0
"""How long the end of a program may wait for a loop to end."""


class LoopThread:
    """Runs coroutines in another thread while the caller waits.

    Ctrl-C reaches the caller at once, and what runs is then cancelled, which closes its
    connections. The caller may run a loop itself, as a notebook does.

    Parameters
    ----------
    last : callable
        Returns the coroutine that is run before the loop ends.

    Examples
    --------
    >>> loop = LoopThread(last=lambda: asyncio.sleep(0))
    >>> loop.run(asyncio.sleep(0, result="done"))
    'done'
    >>> loop.close()
    """

    def __init__(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._last = last
        self._loop = asyncio.new_event_loop()
        self._ending: asyncio.Task[None] | None = None
        self._thread = Thread(target=self._run, name="served model", daemon=True)
        self._thread.start()
        _OPEN.add(self)

    def run(self, coroutine: Coroutine[Any, Any, Outcome]) -> Outcome:
        """Return what a coroutine returns; cancel it if waiting is interrupted."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what still runs, and end the thread; nothing is waited for.

        The garbage collector calls this, wherever it is: who waits there may wait for ever.
        """
        _OPEN.discard(self)
        self._loop.call_soon_threadsafe(self._begin_to_end)

    def join(self) -> None:
        """Wait for the thread to end, but not long."""
        self._thread.join(_LAST_SECONDS)

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _begin_to_end(self) -> None:
        self._ending = self._loop.create_task(self._end())

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._last()
        self._loop.stop()


_OPEN: WeakSet[LoopThread] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Close what is open when a program ends."""
    loops = list(_OPEN)
    for loop in loops:
        loop.close()
    for loop in loops:
        loop.join()
