"""Send requests to a server, again where that helps, several at once."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import time
import warnings
import weakref
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from threading import Thread, current_thread
from typing import TYPE_CHECKING, Any

from pdfalearn.budgets import seconds_left
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError, ModelError
from pdfalearn.extras import check_installed
from pdfalearn.text import described, escaped, shorten

if TYPE_CHECKING:
    import httpx

Body = dict[str, Any]
Note = Callable[[int, Any], None]

KEY_VARIABLE = "PDFALEARN_API_KEY"
LONG_WAIT = 5.0  # a wait of this many seconds or more is explained to the user
MOST_BYTES = 2**26
"""An answer of more bytes, as it came or as it is meant, is refused."""
_DAY = 86400.0
_READ = ("content-type", "location", "retry-after")  # the headers that are looked at
_SHORTEST_KEY = 8  # shorter ones keep nothing secret, and are part of many words and numbers
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 10.0  # seconds before a request is sent again; they double
_LAST_SECONDS = 2.0  # how long the end of a program may wait for its requests to end
_TRY_AGAIN = (408, 425, 429)  # refusals that may pass, beside all faults of the server, 500 and up


class RefusedError(ModelError):
    """A server has refused a request; ``status`` is the number that it gave."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """Sends requests to one server; opened when it is first used, closed when it is forgotten.

    A request that fails is sent again until ``patience`` is at an end. The key is read from the
    environment where it is sent, and kept nowhere else.
    """

    _http: httpx.AsyncClient
    _loop: asyncio.AbstractEventLoop
    _tasks: set[asyncio.Task[None]]
    _close: weakref.finalize[..., Any]

    def __init__(
        self, url: str, key_variable: str | None, in_flight: int, timeout: float, patience: float
    ) -> None:
        check_installed("httpx", "served models")
        self.url = _parse_url(url)
        self._key_variable = key_variable
        self._in_flight = check_integer(in_flight, "in_flight", 1, 1024)
        self._timeout = check_number(timeout, "timeout", 0.001, _DAY)
        self._patience = check_number(patience, "patience", 0, _DAY)
        load_key(key_variable)  # refuses a variable that is not there
        self._owner: int | None = None  # the process that has opened connections
        self._was_reached = False
        self._has_warned = False

    def send(self, path: str, bodies: Sequence[Body | None], note: Note) -> None:
        """Send bodies, several at once, and note each answer with its place when it comes.

        Where one of them fails for good, or ``note`` refuses an answer, those that are under way
        are still waited for, and nothing more is sent. What has no body is a GET.
        """
        self._open()
        # Requests run in a thread of their own: so Ctrl-C comes here at once, and cancels them.
        work = self._send_all(path, bodies, note)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            try:
                left = seconds_left()
                future.result(None if left == math.inf else left)
            except TimeoutError:
                seconds_left()
                raise
        except InputError:
            raise
        except BaseException:
            # Requests were broken off, and their connections may never be free again.
            self._close()
            self._owner = None
            raise

    def _open(self) -> None:
        """Open connections, unless this process has some: a fork cannot share its parent's."""
        import httpx

        if self._owner == os.getpid():
            return
        key = load_key(self._key_variable)
        host = httpx.URL(self.url).host
        is_local = host in ("localhost", "::1") or host.startswith("127.")
        self._http = httpx.AsyncClient(
            headers={"accept-encoding": "gzip"}
            | ({} if key is None else {"authorization": f"Bearer {key}"}),
            timeout=self._timeout,
            limits=httpx.Limits(max_connections=self._in_flight),
            trust_env=not is_local,  # no proxy leads to this machine itself
            follow_redirects=False,
        )
        self._loop, self._tasks = asyncio.new_event_loop(), set()
        thread = Thread(target=_run, args=(self._loop,), name="served model", daemon=True)
        thread.start()
        self._owner = os.getpid()
        self._close = weakref.finalize(
            self, _close, self._http, self._loop, self._tasks, thread, self._owner
        )

    async def _send_all(self, path: str, bodies: Sequence[Body | None], note: Note) -> None:
        waiting = iter(enumerate(bodies))
        given_up = asyncio.Event()
        errors: list[InputError] = []

        async def send_some() -> None:
            try:
                for place, body in waiting:
                    note(place, await self._answer(path, body, given_up))
                    if given_up.is_set():
                        return
            except InputError as error:
                errors.append(error)
                given_up.set()

        count = min(self._in_flight, len(bodies))
        senders = [asyncio.create_task(send_some()) for _ in range(count)]
        for task in filter(None, (asyncio.current_task(), *senders)):
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await asyncio.gather(*senders)
        if errors:
            raise errors[0]

    async def _answer(self, path: str, body: Body | None, given_up: asyncio.Event) -> object:
        """Send a request until it is answered, refused, given up, or patience is at an end."""
        import httpx

        method = "GET" if body is None else "POST"
        deadline, next_wait = math.inf, _FIRST_WAIT
        while True:
            least = 0.0
            try:
                async with asyncio.timeout(self._timeout):
                    response = await self._request(method, path, body)
                self._was_reached = True
                if response.is_success:
                    return parse_body(response.content, _sent_key(response))
                if response.status_code < 500 and response.status_code not in _TRY_AGAIN:
                    raise RefusedError(self._describe_refusal(response), response.status_code)
                least = seconds_of(response.headers.get("retry-after"))
                fault = f"it answered {_describe(response)}"
            except InputError:
                raise
            except httpx.RequestError as error:
                # Such an error often has a name and no message.
                fault = str(error).rstrip(".") or type(error).__name__
                if not self._was_reached and isinstance(error, httpx.ConnectError):
                    raise ModelError(
                        f"the server {self.url} cannot be reached ({fault}); start it, or give "
                        "another URL"
                    ) from error
            except TimeoutError:
                fault = f"its answer was not there, or not whole, after {self._timeout:g} s"
            except (ValueError, RecursionError):
                fault = "its answer was cut off, or is not JSON"
            # Patience counts from the first fault on, and a wait beyond its end is not begun.
            now = time.monotonic()
            deadline = min(deadline, now + self._patience)
            wait, next_wait = max(next_wait, least), min(2 * next_wait, _LONGEST_WAIT)
            if given_up.is_set() or now + wait >= deadline:
                raise ModelError(f"the server {self.url} failed again and again: at last {fault}")
            if wait >= LONG_WAIT and not self._has_warned:  # a user would begin to wonder
                self._has_warned = True
                again = f"each request is sent again for up to {self._patience:g} s"
                warnings.warn(f"the server {self.url} fails: {fault}; {again}", stacklevel=2)
            with suppress(TimeoutError):
                await asyncio.wait_for(given_up.wait(), wait)

    async def _request(self, method: str, path: str, body: Body | None) -> httpx.Response:
        """Send a request once and read the answer, however slowly it comes, up to a size."""
        import httpx

        async with self._http.stream(method, self.url + path, json=body) as response:
            self._was_reached = True
            encoding = response.headers.get("content-encoding", "identity").strip().lower()
            if encoding not in ("identity", "gzip"):
                raise ModelError(
                    f"the server {self.url} answered in the encoding {described(encoding)}, which "
                    "it was not asked for"
                )
            content, raw = bytearray(), 0
            # The decoder is told how much it may write, as a short text can say very much.
            decoder = zlib.decompressobj(31) if encoding == "gzip" else None
            async for chunk in response.aiter_raw():
                raw += len(chunk)
                left = MOST_BYTES + 1 - len(content)
                try:
                    content += chunk if decoder is None else decoder.decompress(chunk, left)
                except zlib.error as error:
                    raise ValueError("it is not what it says") from error
                if max(raw, len(content)) > MOST_BYTES:
                    raise ModelError(
                        f"the server {self.url} answered with more than {MOST_BYTES:,} bytes, "
                        "which no answer has; is it the right server, and the right URL?"
                    )
            if decoder is not None and not decoder.eof:
                raise ValueError("it was cut off")
            headers = {n: response.headers[n] for n in _READ if n in response.headers}
            status, request = response.status_code, response.request
            return httpx.Response(status, headers=headers, content=bytes(content), request=request)

    def _describe_refusal(self, response: httpx.Response) -> str:
        if response.has_redirect_location:
            place = _hide_key(response.headers["location"], response)
            return (
                f"the server {self.url} leads on to {place}, which is not followed, so that no key "
                "goes there; if that is the right place, give its URL"
            )
        text = f"the server {self.url} refused a request: {_describe(response)}"
        if response.status_code in (401, 403):
            name = self._key_variable or KEY_VARIABLE
            text += f"; the key is what the environment variable {name} held at the beginning"
        return text


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _close(
    http: httpx.AsyncClient,
    loop: asyncio.AbstractEventLoop,
    tasks: set[asyncio.Task[None]],
    thread: Thread,
    owner: int,
) -> None:
    """Cancel requests, close connections, and end the loop; in a fork there is nothing to end."""

    async def end() -> None:
        # Only our own tasks: what they have started they cancel themselves, once it runs.
        ours = list(tasks)
        for task in ours:
            task.cancel()
        await asyncio.gather(*ours, return_exceptions=True)
        with suppress(Exception):
            await http.aclose()
        loop.stop()

    if owner == os.getpid():
        asyncio.run_coroutine_threadsafe(end(), loop)
        if thread is not current_thread():  # the garbage collector may call this anywhere
            thread.join(_LAST_SECONDS)


def load_key(key_variable: str | None) -> str | None:
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


def _parse_url(url: object) -> str:
    """Return the address of a server without ``/v1``, or refuse it without printing secrets."""
    import httpx

    if not isinstance(url, str):
        raise InputError(f"the URL is {described(url)}; give a text such as http://127.0.0.1:8000")
    try:
        parts = httpx.URL(url.strip())
    except httpx.InvalidURL as error:
        raise InputError(f"the URL of the server is not one ({error})") from error
    if parts.userinfo or parts.query or parts.fragment:
        raise InputError(
            "the URL of the server has a user, a question or a fragment in it; leave these out, "
            "and put a key into an environment variable"
        )
    if parts.scheme not in ("http", "https") or not parts.host:
        raise InputError(
            f"the URL {described(url)} is not that of a server; it looks like http://127.0.0.1:8000"
        )
    return str(parts).rstrip("/").removesuffix("/v1")


def seconds_of(given: str | None) -> float:
    """Read a Retry-After, which is a number of seconds or a date; 0 if it says nothing.

    Examples
    --------
    >>> seconds_of("2.5"), seconds_of("Wed, 21 Oct 2015 07:28:00 GMT"), seconds_of("soon")
    (2.5, 0.0, 0.0)
    """
    seconds = 0.0
    with suppress(ArithmeticError, LookupError, OSError, TypeError, ValueError):
        seconds = parsedate_to_datetime(given or "").timestamp() - time.time()
    with suppress(ValueError):
        seconds = float(given or 0)
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def parse_body(content: bytes, key: str) -> object:
    """Read an answer; where the server repeats the key in it, it is not there any more.

    Examples
    --------
    >>> parse_body(b'{"id": "for 01234567", "data": [1]}', "01234567")
    {'id': 'for [the key]', 'data': [1]}
    """
    body = json.loads(content)
    written, hidden = json.dumps(body), json.dumps(key)[1:-1]
    if len(key) >= _SHORTEST_KEY and hidden in written:
        return json.loads(written.replace(hidden, "[the key]"))
    return body


def _sent_key(response: httpx.Response) -> str:
    return str(response.request.headers.get("authorization", "")).removeprefix("Bearer ")


def _describe(response: httpx.Response) -> str:
    """Return the number and the message of a refusal, whichever of three forms it has."""
    try:
        message = parse_body(response.content, _sent_key(response))
        while isinstance(message, dict):
            message = message.get("error") or message.get("message") or message.get("detail") or ""
        text = message if isinstance(message, str) else json.dumps(message)
    except (ValueError, RecursionError):
        text = response.text
    text = _hide_key(text or response.reason_phrase, response)
    return f"{response.status_code} {text}".rstrip()


def _hide_key(text: str, response: httpx.Response) -> str:
    """Return a server's text as it may be printed: one short line without the key."""
    if key := _sent_key(response):
        text = text.replace(key, "[the key]")
    return shorten(escaped(" ".join(text.split())), 400)
