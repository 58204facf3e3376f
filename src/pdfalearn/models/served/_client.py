"""Send requests to a server, again where that helps, several at once."""

from __future__ import annotations

import asyncio
import atexit
import json
import math
import os
import re
import time
import warnings
import weakref
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pdfalearn.checks import checked_integer, checked_number
from pdfalearn.errors import InputError, ModelError
from pdfalearn.extras import check_installed
from pdfalearn.text import described, escaped, shortened

if TYPE_CHECKING:
    import httpx

Body = dict[str, Any]
Note = Callable[[int, object], None]
Outcome = TypeVar("Outcome")

KEY_VARIABLE = "PDFALEARN_API_KEY"
"""The environment variable that has the key, unless another one is named."""
LONG_WAIT = 5.0
"""A wait of this many seconds or more is explained to the user."""
_DAY = 86400.0
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 10.0
"""Seconds before a failed request is sent again; they double each time."""
_LAST_SECONDS = 2.0
"""How long the end of a program may wait for its requests to end."""
_BEARER = "Bearer "
_TRY_AGAIN = (408, 425, 429)
"""Refusals that may pass, beside all faults of the server itself, 500 and above."""
_OPEN: weakref.WeakSet[httpx.AsyncClient] = weakref.WeakSet()


class RefusedError(ModelError):
    """A server has refused a request; ``status`` is the number that it gave."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """Sends requests to one server; opened when it is first used, closed when it is forgotten.

    Parameters
    ----------
    url : str
        Where the server is, with or without ``/v1``.
    key_variable : str, optional
        The environment variable that has the key. The key itself is read where it is sent.
    in_flight : int
        The most requests that are under way at once.
    timeout : float
        The seconds that one answer may take.
    patience : float
        The seconds during which a request that fails is sent again.
    """

    def __init__(
        self, url: str, key_variable: str | None, in_flight: int, timeout: float, patience: float
    ) -> None:
        check_installed("httpx", "served models")
        self.url = _checked_url(url)
        self._key_variable = key_variable
        self._in_flight = checked_integer(in_flight, "in_flight", 1, 1024)
        self._timeout = checked_number(timeout, "timeout", 0.001, _DAY)
        self._patience = checked_number(patience, "patience", 0, _DAY)
        read_key(key_variable)  # refuses a variable that is not there
        self._http: httpx.AsyncClient | None = None
        self._was_reached = False
        self._has_warned = False

    def get(self, path: str) -> object:
        """Return the answer to a question without a body."""
        return self._run(lambda http: self._answer(http, "GET", path, None, asyncio.Event()))

    def post(self, path: str, bodies: Sequence[Body], note: Note) -> None:
        """Send bodies, several at once, and note each answer with its place when it comes.

        Where one of them fails for good, or ``note`` refuses an answer, those that are under way
        are still waited for, and nothing more is sent.
        """
        self._run(lambda http: self._post(http, path, bodies, note))

    def _run(self, work: Callable[[httpx.AsyncClient], Coroutine[Any, Any, Outcome]]) -> Outcome:
        """Return what a coroutine returns; it runs in another thread, and Ctrl-C cancels it."""
        http = self._open()

        async def run() -> Outcome:
            try:
                return await work(http)
            except InputError:
                raise
            except BaseException:
                # Requests were broken off, and their connections may never be free again.
                await http.aclose()
                raise

        future = asyncio.run_coroutine_threadsafe(run(), _start_loop(os.getpid()))
        try:
            return future.result()
        except InputError:
            raise
        except BaseException:
            self._http = None  # the next request opens new connections
            future.cancel()
            raise

    def _open(self) -> httpx.AsyncClient:
        import httpx

        if self._http is None:
            key = read_key(self._key_variable)
            host = urlsplit(self.url).hostname or ""
            is_local = host in ("localhost", "::1") or host.startswith("127.")
            self._http = httpx.AsyncClient(
                headers={
                    "content-type": "application/json",
                    **({} if key is None else {"authorization": _BEARER + key}),
                },
                timeout=self._timeout,
                limits=httpx.Limits(max_connections=self._in_flight),
                trust_env=not is_local,  # no proxy leads to this machine itself
                follow_redirects=False,
            )
            _OPEN.add(self._http)
            weakref.finalize(self, _close, self._http, os.getpid()).atexit = False
        return self._http

    async def _post(
        self, http: httpx.AsyncClient, path: str, bodies: Sequence[Body], note: Note
    ) -> None:
        waiting = iter(enumerate(bodies))
        given_up = asyncio.Event()
        errors: list[InputError] = []

        async def send() -> None:
            try:
                for place, body in waiting:
                    note(place, await self._answer(http, "POST", path, body, given_up))
                    if given_up.is_set():
                        return
            except InputError as error:
                errors.append(error)
                given_up.set()

        await asyncio.gather(*[send() for _ in range(self._in_flight)])
        if errors:
            raise errors[0]

    async def _answer(
        self,
        http: httpx.AsyncClient,
        method: str,
        path: str,
        body: Body | None,
        given_up: asyncio.Event,
    ) -> object:
        """Send a request until it is answered, refused, given up, or patience is at an end."""
        import httpx

        content = None if body is None else json.dumps(body, separators=(",", ":"))
        deadline, next_wait = math.inf, _FIRST_WAIT
        while True:
            least = 0.0
            try:
                response = await http.request(method, self.url + path, content=content)
                self._was_reached = True
                if response.is_success:
                    return json.loads(response.content)
                least = self._retry_after(response)
                fault = f"it answered {self._told(response)}"
            except httpx.RequestError as error:
                # Such an error often has a name and no message.
                fault = str(error).rstrip(".") or type(error).__name__
                if not self._was_reached and isinstance(error, httpx.ConnectError):
                    raise ModelError(
                        f"the server {self.url} cannot be reached ({fault}); start it, or give "
                        "another URL"
                    ) from error
            except (json.JSONDecodeError, UnicodeDecodeError):
                fault = "its answer was cut off, or is not JSON"
            # Patience counts from the first fault on, and a wait beyond its end is not begun.
            now = time.monotonic()
            deadline = min(deadline, now + self._patience)
            wait, next_wait = max(next_wait, least), min(2 * next_wait, _LONGEST_WAIT)
            if given_up.is_set() or now + wait >= deadline:
                raise ModelError(f"the server {self.url} failed again and again: at last {fault}")
            if wait >= LONG_WAIT:
                self._warn_once(fault)
            with suppress(TimeoutError):
                await asyncio.wait_for(given_up.wait(), wait)

    def _warn_once(self, fault: str) -> None:
        """Warn a user who would begin to wonder."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"the server {self.url} fails: {fault}; each request is sent again for up to "
                f"{self._patience:g} s",
                UserWarning,
                stacklevel=2,
            )

    def _retry_after(self, response: httpx.Response) -> float:
        """Return the seconds that a server asks to wait; refuse what will not pass by itself."""
        status = response.status_code
        if status < 500 and status not in _TRY_AGAIN:
            raise RefusedError(self._refusal(response), status)
        return seconds_of(response.headers.get("retry-after"))

    def _refusal(self, response: httpx.Response) -> str:
        told = self._told(response)
        if response.has_redirect_location:
            place = self._shown(response.headers["location"])
            return (
                f"the server {self.url} leads on to {place}, which is not followed, so that no key "
                "goes there; if that is the right place, give its URL"
            )
        text = f"the server {self.url} refused a request: {told}"
        if response.status_code in (401, 403):
            name = self._key_variable or KEY_VARIABLE
            text += f"; the key is what the environment variable {name} held at the beginning"
        return text

    def _told(self, response: httpx.Response) -> str:
        """Return the number and the message of a server's refusal, on one line."""
        try:
            message = _message(response.json())
        except ValueError:
            message = response.text
        return f"{response.status_code} {self._shown(message or response.reason_phrase)}".rstrip()

    def _shown(self, text: str) -> str:
        """Return a server's text as it may be printed: one short line without the key."""
        key = self._open().headers.get("authorization", "").removeprefix(_BEARER)
        if key:
            text = text.replace(key, "[the key]")
        return shortened(escaped(" ".join(text.split())), 400)


@cache
def _start_loop(process: int) -> asyncio.AbstractEventLoop:
    """Return the loop of a process, in a thread of its own, so that a notebook may have another."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="served models", daemon=True)
    thread.start()
    atexit.register(_end_loop, loop, thread)
    return loop


def _close(http: httpx.AsyncClient, process: int) -> None:
    """Close connections; not waited for, as the garbage collector may call this anywhere."""
    if process == os.getpid() and not (loop := _start_loop(process)).is_closed():
        asyncio.run_coroutine_threadsafe(http.aclose(), loop)


def _end_loop(loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    """Cancel what still runs, and close what is open, when a program ends."""

    async def end() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        closing = [http.aclose() for http in list(_OPEN)]
        await asyncio.gather(*others, *closing, return_exceptions=True)
        loop.stop()

    if thread.is_alive():  # which it is not in a fork
        asyncio.run_coroutine_threadsafe(end(), loop)
        thread.join(_LAST_SECONDS)
        if not thread.is_alive():
            loop.close()


def read_key(key_variable: str | None) -> str | None:
    """Read the key; None if there is none. No message may hold what was given as its name."""
    name = KEY_VARIABLE if key_variable is None else key_variable
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise InputError(
            "key_variable is not the name of an environment variable; give the name, such as "
            f"{KEY_VARIABLE!r}, and not the key itself"
        )
    key = os.environ.get(name, "").strip()
    if not key and key_variable is not None:
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
    import httpx

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
    try:
        httpx.URL(url)
    except httpx.InvalidURL as error:
        raise InputError(f"the URL {described(url)} is not that of a server ({error})") from error
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"


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


def _message(body: object) -> str:
    """Find the message in the body of a refusal, whichever of three forms it has."""
    while isinstance(body, dict):
        body = body.get("error") or body.get("message") or body.get("detail") or ""
    return body if isinstance(body, str) else json.dumps(body)
