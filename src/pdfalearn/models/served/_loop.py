"""An event loop in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread, current_thread
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
        self._thread = Thread(target=self._loop.run_forever, name="served model", daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether this is called in the loop's own thread."""
        return current_thread() is self._thread

    def run(self, coroutine: Coroutine[Any, Any, Outcome]) -> Outcome:
        """Return what a coroutine returns; cancel it if waiting is interrupted."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what still runs, and end the thread."""
        self.run(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
