"""Keys that nobody sees, redirects that are not followed, and what cannot be asked."""

from __future__ import annotations

import pickle
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from examples.served_automaton import Answer, AutomatonLLM, Body, Handler, refusal
from pdfalearn import Quantization, ServedModel, learn
from pdfalearn.errors import InputError, MissingExtraError, ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.oracles import ExactOracle
from tests.models.served.servers import WatchedServer, spelled_target
from tests.support import need_module

need_module("httpx")

SECRET = "sk-very-secret-0123456789"  # noqa: S105
TARGET = spelled_target(9, seed=1, symbols="abcd")


def served(server: WatchedServer, **options: Any) -> ServedModel:
    settings = {"symbols": "abcd", "prompt": "word:", "ends": ["<end>"], **options}
    return ServedModel(server.url, settings.pop("model", "automaton"), **settings)


class LockedServer(WatchedServer):
    """Wants to see a key, and is talkative when it sees a wrong one."""

    def answer(self, path: str, body: Body, headers: Mapping[str, str]) -> Answer:
        given = headers.get("authorization", headers.get("Authorization"))
        if given != f"Bearer {SECRET}":
            return refusal(401, f"The key {given} is wrong.")
        return super().answer(path, body, headers)


def test_the_key_is_sent_and_nowhere_to_be_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PDFALEARN_API_KEY", SECRET)
    monkeypatch.setenv("MY_KEY", SECRET)
    with LockedServer(AutomatonLLM(TARGET)) as server:
        model = served(server)
        other = served(server, key_variable="MY_KEY")
        equivalence = Quantization(20)
        oracle = ExactOracle(TARGET, equivalence=equivalence)
        result = learn(model, equivalence=equivalence, oracle=oracle, store=tmp_path / "answers.db")
    assert model.fingerprint == other.fingerprint
    assert SECRET not in repr(model) + model.fingerprint + repr(vars(model)) + repr(
        vars(model._server.client)
    )
    assert SECRET.encode() not in pickle.dumps(result)
    written = [path.read_bytes() for path in tmp_path.iterdir()]
    assert written
    assert not any(SECRET.encode() in content for content in written)


def test_a_wrong_key_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDFALEARN_API_KEY", "wrong-key-987654321")
    with LockedServer(AutomatonLLM(TARGET)) as server, pytest.raises(ModelError) as caught:
        served(server)
    assert "401 The key Bearer [the key] is wrong." in str(caught.value)
    assert "PDFALEARN_API_KEY" in str(caught.value)
    assert "wrong-key" not in "".join(map(str, _chain(caught.value)))


def _chain(error: BaseException | None) -> list[object]:
    return [] if error is None else [repr(error), *_chain(error.__cause__ or error.__context__)]


class RedirectingHandler(Handler):
    """Leads everything to another place."""

    def do_GET(self) -> None:  # noqa: N802
        self.reply(307, {}, Location=self.server.elsewhere)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_key_does_not_go_along_a_redirect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDFALEARN_API_KEY", SECRET)
    with (
        WatchedServer(AutomatonLLM(TARGET)) as elsewhere,
        WatchedServer(AutomatonLLM(TARGET)) as server,
    ):
        server.RequestHandlerClass = RedirectingHandler
        server.elsewhere = f"{elsewhere.url}/v1/models"  # type: ignore[attr-defined]
        with pytest.raises(ModelError, match=f"leads on to {elsewhere.url}.* is not followed"):
            served(server)
        assert not elsewhere.headers


@pytest.mark.parametrize("name", [SECRET, "", 7, "not set anywhere", "NOT_SET_ANYWHERE_0815"])
def test_a_key_variable_that_is_none_is_not_printed(name: object) -> None:
    with pytest.raises(InputError) as caught:
        ServedModel("http://127.0.0.1:1", "m", "ab", key_variable=name)  # type: ignore[arg-type]
    assert "environment variable" in str(caught.value)
    assert not name or str(name) not in str(caught.value)


@pytest.mark.parametrize("key", ["line\nbreak", "schlüssel"])
def test_a_key_that_no_header_can_hold(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDFALEARN_API_KEY", key)
    with pytest.raises(InputError, match="characters that no header may hold") as caught:
        ServedModel("http://127.0.0.1:1", "m", "ab")
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://me:hunter2@127.0.0.1:1", "has a user, a question or a fragment"),
        ("http://127.0.0.1:1/?key=hunter2", "has a user, a question or a fragment"),
        ("127.0.0.1:8000", "is not that of a server"),
        ("ftp://127.0.0.1", "is not that of a server"),
        ("http://127.0.0.1:port", "is not one"),
        ("http://[::1", "is not one"),
        ("", "is not that of a server"),
        (None, "give a text such as"),
    ],
)
def test_addresses_that_are_none(url: object, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        ServedModel(url, "m", "ab")  # type: ignore[arg-type]
    assert "hunter2" not in str(caught.value)


@pytest.mark.slow
def test_addresses_of_one_server() -> None:
    with WatchedServer(AutomatonLLM(TARGET)) as server:
        for end in ("", "/", "/v1", "/v1/"):
            model = ServedModel(server.url + end, "automaton", "abcd", "word:", ["<end>"])
            assert repr(model).startswith(f"ServedModel('{server.url}', 'automaton', ")


def test_a_server_that_is_not_there_is_told_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ModelError, match=f"the server {url} cannot be reached") as caught:
            ServedModel(url, "m", "ab")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"model": "gpt"}, "does not serve 'gpt', but 'automaton'"),
        ({"model": ""}, "give the name of a model"),
        ({"model": 5}, "give the name of a model"),
        ({"symbols": []}, "symbol"),
        ({"symbols": ["a", "a"]}, "twice among the symbols"),
        ({"symbols": ["a", "ab"]}, "'a' begins symbol 'ab'"),
        ({"symbols": ["a", ""]}, "text is empty"),
        ({"symbols": ["a", 5]}, "5 is not a text"),
        ({"symbols": None}, "the symbols are None; give texts"),
        ({"symbols": ["a", "中"]}, "refused a request: 400 There is no such token"),
        ({"ends": None}, "give a list of tokens or texts, or 'rest'"),
        ({"ends": "end"}, "give a list of tokens or texts, or 'rest'"),
        ({"ends": ["xy"]}, r"the end 'xy' takes the tokens \[\d+, \d+\]"),
        ({"ends": ["a"]}, "begins a symbol"),
        ({"ends": []}, "give the tokens that end a word"),
        ({"prompt": [1, "a"]}, "token of the prompt 'a' is not an integer"),
        ({"prompt": None}, "the prompt is None; give a text"),
        ({"prompt": [{"role": "user", "content": "x"}]}, "give chat=True"),
        ({"prompt": 5, "chat": True}, "the prompt is 5; give a text"),
        ({"prompt": []}, "the prompt is empty, and the server .* refused.*; give a prompt"),
        ({"prompt": [1], "chat": True}, "tokens cannot be put into a chat"),
        ({"batch": 0}, "batch 0"),
        ({"in_flight": 0}, "in_flight 0"),
        ({"timeout": 0}, "timeout 0"),
        ({"patience": -1}, "patience -1"),
        ({"top": 0}, "top 0"),
    ],
)
def test_what_cannot_be_asked(options: dict[str, Any], complaint: str) -> None:
    with (
        WatchedServer(AutomatonLLM(TARGET)) as server,
        pytest.raises(InputError, match=complaint) as caught,
    ):
        served(server, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_prompt_that_ends_in_a_space_is_warned_of() -> None:
    with (
        WatchedServer(AutomatonLLM(TARGET)) as server,
        pytest.warns(UserWarning, match="ends in a space"),
    ):
        served(server, prompt="word: ")


class PlainServer(WatchedServer):
    """A server without /tokenize."""

    def tokenize(self, body: Body) -> Answer:
        return 404, {"detail": "Not Found"}


def test_a_server_without_tokenizer_takes_tokens() -> None:
    llm = AutomatonLLM(TARGET)
    with PlainServer(llm) as server:
        with pytest.raises(InputError, match="has no /tokenize; give symbols, prompt and ends as"):
            served(server)
        tokens = {text: llm.tokens(text, special=False) for text in "abcd"}
        model = served(server, symbols=tokens, prompt=[0], ends=[1])
        assert model.answer(Batch.of([()])).values.shape == (1, 5)


def test_httpx_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtraError, match=r"pip install httpx$"):
        ServedModel("http://127.0.0.1:1", "m", "ab")
