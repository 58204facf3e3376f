"""Servers that try to take all time and memory, to break the reader, or to print the key."""

from __future__ import annotations

import gc
import gzip
import json
import math
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from examples.served_automaton import Answer, AutomatonLLM, Body, Handler
from pdfalearn import ServedModel
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.served import _client
from pdfalearn.models.served._client import seconds_of
from pdfalearn.models.served._server import parse_logs
from tests.models.served.servers import WatchedServer, spelled_target
from tests.support import need_module

need_module("httpx")

SECRET = "sk-very-secret-0123456789"  # noqa: S105
TARGET = spelled_target(9, seed=1, symbols="abcd")


class HostileHandler(Handler):
    """Writes what the server says, byte for byte."""

    server: HostileServer

    def do_GET(self) -> None:  # noqa: N802 (the server calls it)
        self.server.write(self)


class HostileServer(WatchedServer):
    """Answers the first request in a way of its own."""

    def __init__(self, write: Callable[[Handler], None]) -> None:
        super().__init__(AutomatonLLM(TARGET))
        self.RequestHandlerClass = HostileHandler
        self._write = write

    def write(self, handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        try:
            self._write(handler)
            handler.wfile.flush()
        except OSError:
            pass  # the client has had enough
        handler.close_connection = True


def ask(server: WatchedServer, **options: Any) -> ServedModel:
    settings = {"timeout": 0.5, "patience": 0.5, "prompt": "w:", "ends": ["<end>"], **options}
    return ServedModel(server.url, "automaton", "abcd", **settings)


def trickle(handler: Handler) -> None:
    handler.wfile.write(b"Content-Length: 1000\r\n\r\n")
    for _ in range(200):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


@pytest.mark.slow
def test_an_answer_that_trickles_in_is_not_waited_for() -> None:
    begin = time.monotonic()
    with HostileServer(trickle) as server, pytest.raises(ModelError, match=r"not whole, after"):
        ask(server)
    assert time.monotonic() - begin < 9  # not the ten seconds that each answer would take


BOMB = gzip.compress(b" " * 2**26, 9)


def bomb(handler: Handler) -> None:
    content = BOMB
    assert len(content) < 2**20
    handler.wfile.write(b"Content-Encoding: gzip\r\n")
    handler.wfile.write(b"Content-Length: %d\r\n\r\n" % len(content))
    handler.wfile.write(content)


def endless(handler: Handler) -> None:
    handler.wfile.write(b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(2**14):
        handler.wfile.write(b"10000\r\n" + b" " * 2**16 + b"\r\n")


@pytest.mark.parametrize("write", [bomb, endless])
def test_an_answer_without_end_takes_no_memory(
    write: Callable[[Handler], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_client, "MOST_BYTES", 2**22)
    with HostileServer(write) as server:
        tracemalloc.start()
        try:
            with pytest.raises(ModelError, match="more than 4,194,304 bytes"):
                ask(server, timeout=20)
            assert tracemalloc.get_traced_memory()[1] < 2**25
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("encoding", [b"gzip, gzip", b"br", b"zstd"])
def test_encodings_that_were_not_asked_for_are_refused(encoding: bytes) -> None:
    def write(handler: Handler) -> None:
        handler.wfile.write(b"Content-Encoding: " + encoding + b"\r\nContent-Length: 2\r\n\r\n{}")

    with HostileServer(write) as server, pytest.raises(ModelError, match="not asked for"):
        ask(server)


def test_an_answer_in_gzip_is_read() -> None:
    def write(handler: Handler) -> None:
        content = gzip.compress(json.dumps({"data": [{"id": "another"}]}).encode())
        handler.wfile.write(b"Content-Encoding: gzip\r\n")
        handler.wfile.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)

    with HostileServer(write) as server, pytest.raises(InputError, match="but 'another'"):
        ask(server)


ODD = [
    b"[" * 100_000,
    b'{"data": ' * 5000,
    b'{"data": [{"id": "automaton", "max_model_len": 1e999}]}',
    b'{"data": [{"id": "automaton", "max_model_len": ' + b"9" * 5000 + b"}]}",
    b'{"data": [{"id": "automaton", "max_model_len": ' + b"9" * 4000 + b"}]}",
    b'{"data": [{"id": ["automaton"]}]}',
    b'{"data": [{"id": {}}, 3, null, [[]]]}',
    b'{"data": "automaton"}',
    b"NaN",
    b"\xff\xfe",
    b'"\\ud800"',
    b"{" + b'"a": ' + b"[" * 900 + b"]" * 900 + b"}",
]


@pytest.mark.parametrize("content", ODD)
def test_odd_answers_are_refused_in_one_line(content: bytes) -> None:
    def write(handler: Handler) -> None:
        handler.wfile.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)

    # Garbage of other tests is not to be collected at the limit of recursion, in a reader of JSON.
    gc.collect()
    gc.disable()
    try:
        with HostileServer(write) as server, pytest.raises(InputError) as caught:
            ask(server, patience=0.0)
    finally:
        gc.enable()
    assert len(str(caught.value)) < 800
    assert str(caught.value).isprintable()


class OddServer(WatchedServer):
    """Answers questions after words in a way of its own."""

    change: Callable[[Body], object]
    is_odd = False

    def complete(self, body: Body) -> Answer:
        status, answer = super().complete(body)
        if self.is_odd:
            self.change(answer)
        return status, answer


def set_index(answer: Body) -> None:
    answer["choices"][0]["index"] = [0]


def listed(answer: Body) -> dict[str, Any]:
    found: dict[str, Any] = answer["choices"][0]["logprobs"]["top_logprobs"][0]
    return found


@pytest.mark.parametrize(
    "change",
    [
        set_index,
        lambda answer: listed(answer).update({"token_id:" + "9" * 5000: -1.0}),
        lambda answer: listed(answer).update({"token_id:1": math.nan}),
        lambda answer: listed(answer).update({"token_id:1": "-1"}),
        lambda answer: listed(answer).update(dict.fromkeys(listed(answer), -0.1)),
        lambda answer: answer.update(choices=[[[]]]),
        lambda answer: answer.update(model={}),
    ],
)
def test_odd_answers_to_words_are_refused(change: Callable[[Body], object]) -> None:
    with OddServer(AutomatonLLM(TARGET)) as server:
        model = ask(server, timeout=20)
        server.change, server.is_odd = change, True
        with pytest.raises(ModelError):
            model.answer(Batch.of([(), (0,)]))


def test_log_probabilities_of_too_much_mass_are_refused() -> None:
    def answer(*logs: float) -> dict[str, Any]:
        names = {f"token_id:{place}": log for place, log in enumerate(logs)}
        return {"logprobs": {"top_logprobs": [names]}}

    assert parse_logs(answer(math.log(0.5), math.log(0.5))) == pytest.approx(
        {0: math.log(0.5), 1: math.log(0.5)}
    )
    assert parse_logs(answer(-(10**400), -1)) == {0: -math.inf, 1: -1.0}
    with pytest.raises(ModelError, match="make 3 in all, not 1"):
        parse_logs(answer(0, 0, 0))


class RepeatingServer(WatchedServer):
    """Repeats the key wherever a text may stand."""

    where = ""

    def answer(self, path: str, body: Body, headers: Mapping[str, str]) -> Answer:
        key = headers.get("authorization", headers.get("Authorization", "")).split()[-1]
        status, answer = super().answer(path, body, headers)
        if path == "/v1/models" and self.where == "id":
            answer["data"][0]["id"] = f"model {key}"
        if path == "/v1/models" and self.where == "length":
            answer["data"][0]["max_model_len"] = key
        if path == "/tokenize" and self.where == "token":
            answer["tokens"] = [key]
        if path == "/v1/completions" and self.where == "model":
            answer["model"] = key
        if path == "/v1/completions" and self.where == "name":
            listed(answer)[f"token_id:{key}"] = -1.0
        if path == "/v1/completions" and self.where == "value":
            listed(answer)["token_id:1"] = f"x{key}"
        if self.where == "refusal":
            return 400, {"error": {"message": [key]}}
        return status, answer


@pytest.mark.parametrize("where", ["id", "length", "token", "model", "name", "value", "refusal"])
@pytest.mark.parametrize("key", [SECRET, 'sk-"quoted"\\-0123'])
def test_a_key_that_is_repeated_is_not_printed(
    where: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PDFALEARN_API_KEY", key)
    with RepeatingServer(AutomatonLLM(TARGET)) as server:
        server.where = where
        with pytest.raises(InputError) as caught:
            ask(server, timeout=20)
    error: BaseException | None = caught.value
    while error is not None:
        text = str(error) + repr(error)
        assert "[the key]" in text or where == "model"
        assert key not in text
        assert key[3:9] not in text
        error = error.__cause__


@pytest.mark.parametrize(
    "given",
    [
        "9" * 5000,
        "Wed, 21 Oct 99999 07:28:00 GMT",
        "Wed, 31 Dec 9999 23:59:59 -9999",
        "Mon, 01 Jan 0001 00:00:00 +2359",
        "Wed, 21 Oct 2015 99:99:99 GMT",
        "\x00",
        "1e400",
    ],
)
def test_odd_waits_are_numbers(given: str) -> None:
    assert 0 <= seconds_of(given) < math.inf
