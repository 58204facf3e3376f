"""How a server is reached: its address and key, waits after faults, and the thread that asks it."""

from __future__ import annotations

import asyncio
import atexit
import math
import os
import re
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakSet

from pdfalearn.checks import checked_integer, checked_number
from pdfalearn.errors import InputError
from pdfalearn.text import described

KEY_VARIABLE = "PDFALEARN_API_KEY"
"""The environment variable that has the key, unless another one is named."""
_DAY = 86400.0
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 10.0
"""Seconds before a failed request is sent again; they double each time."""
LONG_WAIT = 5.0
"""A wait of this many seconds or more is explained to the user."""
Outcome = TypeVar("Outcome")
_LAST_SECONDS = 2.0
"""How long the end of a program may wait for a loop to end."""
_OPEN: WeakSet[LoopThread] = WeakSet()


@dataclass(frozen=True)
class Connection:
    """How a server is reached. The key itself is not here: it is read where it is sent.

    Parameters
    ----------
    url : str
        Where the server is, with or without ``/v1``; `root` is without.
    key_variable : str, optional
        The environment variable that has the key.
    in_flight : int
        The most requests that are under way at once.
    timeout : float
        The seconds that one answer may take.
    patience : float
        The seconds during which a request that fails is sent again.
    """

    url: str
    key_variable: str | None = None
    in_flight: int = 8
    timeout: float = 120.0
    patience: float = 300.0

    def __post_init__(self) -> None:
        checks = {
            "url": _checked_url(self.url),
            "in_flight": checked_integer(self.in_flight, "in_flight", 1, 1024),
            "timeout": checked_number(self.timeout, "timeout", 0.001, _DAY),
            "patience": checked_number(self.patience, "patience", 0, _DAY),
        }
        for name, value in checks.items():
            object.__setattr__(self, name, value)
        self.key()  # refuses a variable that is not there

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, which no proxy leads to."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    def key(self) -> str | None:
        """Read the key; None if there is none. No message may hold what was given as its name."""
        name = KEY_VARIABLE if self.key_variable is None else self.key_variable
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise InputError(
                "key_variable is not the name of an environment variable; give the name, such as "
                f"{KEY_VARIABLE!r}, and not the key itself"
            )
        key = os.environ.get(name, "").strip()
        if not key and self.key_variable is not None:
            raise InputError(
                "the environment variable that key_variable names is not set; set it to the key"
            )
        if not (key.isascii() and key.isprintable()):
            raise InputError(
                "the key in the environment has characters that no header may hold; set it again"
            )
        return key or None


def _checked_url(url: object) -> str:
    """Return the address of a server without ``/v1``, or refuse it without printing secrets."""
    if not isinstance(url, str):
        raise InputError(f"the URL is {described(url)}; give a text such as http://127.0.0.1:8000")
    try:
        parts = urlsplit(url.strip())
        has_secret = parts.username is not None or parts.password is not None
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError as error:
        raise InputError(f"the URL of the server is not one ({error})") from error
    if has_secret or parts.query or parts.fragment:
        raise InputError(
            "the URL of the server has a user, a question or a fragment in it; leave these out, "
            "and put a key into an environment variable"
        )
    if not is_address:
        raise InputError(
            f"the URL {described(url)} is not that of a server; it looks like http://127.0.0.1:8000"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"


class Waits:
    """The waits of one request.

    Parameters
    ----------
    patience : float
        The seconds from the first fault on during which the request is sent again.

    Examples
    --------
    >>> waits = Waits(patience=60)
    >>> waits.next(), waits.next(), waits.next(least=3), waits.next(least=100)
    (0.05, 0.1, 3, None)
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._deadline = math.inf
        self._wait = _FIRST_WAIT

    def next(self, least: float = 0.0) -> float | None:
        """Return the seconds to wait now, at least this many; None if patience does not last."""
        now = time.monotonic()
        self._deadline = min(self._deadline, now + self._patience)
        wait = max(self._wait, least)
        self._wait = min(2 * self._wait, _LONGEST_WAIT)
        return wait if now + wait < self._deadline else None


def seconds_of(given: str | None) -> float:
    """Read a Retry-After, which is a number of seconds or a date; 0 if it says nothing.

    Examples
    --------
    >>> seconds_of("2.5"), seconds_of("Wed, 21 Oct 2015 07:28:00 GMT"), seconds_of("soon")
    (2.5, 0.0, 0.0)
    """
    if given is None:
        return 0.0
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(given).timestamp() - time.time()
        except ValueError:
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


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


@atexit.register
def _close_all() -> None:
    """Close what is open when a program ends."""
    loops = list(_OPEN)
    for loop in loops:
        loop.close()
    for loop in loops:
        loop.join()
