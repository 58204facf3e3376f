"""Send requests to a server, again where that helps, several at once."""

from __future__ import annotations

import asyncio
import json
import warnings
import weakref
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from pdfalearn.errors import InputError, MissingExtraError, ModelError
from pdfalearn.models.served._connection import (
    KEY_VARIABLE,
    LONG_WAIT,
    Connection,
    LoopThread,
    Waits,
    seconds_of,
)
from pdfalearn.text import described, escaped, shortened

if TYPE_CHECKING:
    import httpx

Body = dict[str, Any]
Note = Callable[[int, object], None]
Outcome = TypeVar("Outcome")

_BEARER = "Bearer "
_TRY_AGAIN = (408, 425, 429)
"""Refusals that may pass, beside all faults of the server itself, 500 and above."""


class RefusedError(ModelError):
    """A server has refused a request; ``status`` is the number that it gave."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """Sends requests to one server; opened when it is first used, closed when it is forgotten.

    Parameters
    ----------
    connection : Connection
        How to reach the server.
    """

    def __init__(self, connection: Connection) -> None:
        if find_spec("httpx") is None:
            raise MissingExtraError(
                "httpx is not installed, which served models need: pip install 'pdfalearn[served]'"
            )
        self.url = _checked_by_httpx(connection.url)
        self._connection = connection
        self._opened: tuple[LoopThread, httpx.AsyncClient] | None = None
        self._finalizer: weakref.finalize[..., Client] | None = None
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
        loop, http = self._open()
        try:
            return loop.run(work(http))
        except InputError:
            raise
        except BaseException:
            # Requests were broken off, and their connections may never be free again.
            self._close()
            raise

    def _close(self) -> None:
        """Close all connections; the next request opens new ones."""
        self._opened = None
        if self._finalizer is not None:
            self._finalizer()

    def _open(self) -> tuple[LoopThread, httpx.AsyncClient]:
        if self._opened is None:
            http = _http_client(self._connection)
            loop = LoopThread(last=http.aclose)
            self._opened = loop, http
            self._finalizer = weakref.finalize(self, loop.close)
            self._finalizer.atexit = False
        return self._opened

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

        await asyncio.gather(*[send() for _ in range(self._connection.in_flight)])
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
        waits = Waits(self._connection.patience)
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
                if not self._was_reached and isinstance(error, httpx.ConnectError):
                    raise self._unreachable(error) from error
                fault = _worded(error)
            except (json.JSONDecodeError, UnicodeDecodeError):
                fault = "its answer was cut off, or is not JSON"
            wait = waits.next(least)
            if given_up.is_set() or wait is None:
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
                f"{self._connection.patience:g} s",
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
            name = self._connection.key_variable or KEY_VARIABLE
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
        _, http = self._open()
        key = http.headers.get("authorization", "").removeprefix(_BEARER)
        if key:
            text = text.replace(key, "[the key]")
        return shortened(escaped(" ".join(text.split())), 400)

    def _unreachable(self, error: Exception) -> ModelError:
        return ModelError(
            f"the server {self.url} cannot be reached ({_worded(error)}); "
            "start it, or give another URL"
        )


def _checked_by_httpx(url: str) -> str:
    import httpx

    try:
        httpx.URL(url)
    except httpx.InvalidURL as error:
        raise InputError(f"the URL {described(url)} is not that of a server ({error})") from error
    return url


def _http_client(connection: Connection) -> httpx.AsyncClient:
    import httpx

    key = connection.key()
    headers = {"content-type": "application/json"}
    if key is not None:
        headers["authorization"] = _BEARER + key
    return httpx.AsyncClient(
        headers=headers,
        timeout=connection.timeout,
        limits=httpx.Limits(max_connections=connection.in_flight),
        trust_env=not connection.is_local,
        follow_redirects=False,
    )


def _message(body: object) -> str:
    """Find the message in the body of a refusal, whichever of three forms it has."""
    while isinstance(body, dict):
        body = body.get("error") or body.get("message") or body.get("detail") or ""
    return body if isinstance(body, str) else json.dumps(body)


def _worded(error: Exception) -> str:
    """Word a fault of the connection, which often has a name and no message."""
    return str(error).rstrip(".") or type(error).__name__
