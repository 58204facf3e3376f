"""Servers that fail: nothing is lost, nothing is asked twice, and patience has an end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import numpy as np
import pytest

from examples.served_automaton import Answer, AutomatonLLM, Body, refusal
from pdfalearn import Quantization, ServedModel, learn, quotient
from pdfalearn.errors import ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import attached_answers
from pdfalearn.models.served import _client
from pdfalearn.models.served._client import seconds_of
from pdfalearn.oracles import ExactOracle
from pdfalearn.stores import AnswerStore
from tests.models.served.servers import (
    FAULTS,
    HangingServer,
    WatchedServer,
    spelled_target,
    wait_until,
)
from tests.support import many, need_module

need_module("httpx")

KAPPA = Quantization(50)


def served(server: WatchedServer, **options: Any) -> ServedModel:
    settings = {"prompt": "word:", "ends": ["<end>"], **options}
    return ServedModel(server.url, "automaton", ("a", "bb", "bc", "d"), **settings)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_client, "_FIRST_WAIT", 0.001)


@pytest.mark.slow
def test_many_faults_change_nothing() -> None:
    target = spelled_target(150, seed=3)
    results = []
    for faults in (0, many(1600)):
        with WatchedServer(AutomatonLLM(target), faults=faults, share=0.85) as server:
            model = served(server, batch=1 if faults else 16, in_flight=16)
            oracle = ExactOracle(target, equivalence=KAPPA)
            results.append(learn(model, equivalence=KAPPA, oracle=oracle, audit=0))
    quiet, disturbed = results
    assert disturbed.pdfa == quiet.pdfa
    assert disturbed.statistics.words == quiet.statistics.words
    failed = sum(server.faults[fault] for fault in FAULTS[2:])
    assert failed >= many(1000)
    assert min(server.faults.values()) > many(100)
    # What was answered in full was never asked again.
    assert set(server.answered.values()) == {1}


@pytest.mark.slow
def test_a_server_that_is_started_again_is_found_again() -> None:
    target = spelled_target(60, seed=3)
    with WatchedServer(AutomatonLLM(target)) as first:
        model = served(first, batch=1, in_flight=4)
        port = first.server_address[1]
        first.stop_after(40)
        again: list[WatchedServer] = []

        def restart() -> None:
            if not first.stopped.wait(60):
                return
            time.sleep(0.2)
            again.append(WatchedServer(AutomatonLLM(target), port=port))
            again[0].start()

        restarter = Thread(target=restart)
        restarter.start()
        result = learn(
            model, equivalence=KAPPA, oracle=ExactOracle(target, equivalence=KAPPA), audit=0
        )
        restarter.join(60)
    again[0].stop()
    assert sum(again[0].answered.values()) > 0
    with WatchedServer(AutomatonLLM(target)) as quiet:
        expected = learn(
            served(quiet), equivalence=KAPPA, oracle=ExactOracle(target, equivalence=KAPPA), audit=0
        )
    assert result.pdfa == expected.pdfa
    assert sum((first.answered + again[0].answered).values()) >= sum(quiet.answered.values())
    assert (first.answered + again[0].answered).keys() == quiet.answered.keys()


class BrokenServer(WatchedServer):
    """Cannot answer prompts of a length, as long as it is broken."""

    broken_at: int | None = None
    answer_with: Callable[[Body], Answer] = staticmethod(lambda body: refusal(500, "Broken."))

    def complete(self, body: Body) -> Answer:
        if any(len(prompt) == self.broken_at for prompt in body["prompt"]):
            return self.answer_with(body)
        return super().complete(body)


def kept_of(error: BaseException, batch: Batch, model: ServedModel) -> Batch:
    """Check the answers that an error has; return the words that are left to ask for."""
    kept = attached_answers(error)
    assert kept is not None
    rows = np.searchsorted(batch.wanted_ids, kept.ids)
    expected = model.answer(batch.select(rows)).values
    assert np.array_equal(kept.rows.values, expected)
    return batch.select(np.setdiff1d(np.arange(batch.count), rows))


@pytest.mark.slow
def test_answers_of_a_batch_that_failed_are_attached() -> None:
    batch = Batch.of([0] * length for length in range(30))
    with BrokenServer(AutomatonLLM(spelled_target(9, seed=1))) as server:
        model = served(server, batch=1, in_flight=3, patience=0.05)
        server.answered.clear()
        server.broken_at = 6 + 25
        with pytest.raises(
            ModelError, match="failed again and again: at last it answered 500 Bro"
        ) as caught:
            model.answer(batch)
        answered = server.answered.copy()
        assert sum(answered.values()) > 20
        server.broken_at = None
        left = kept_of(caught.value, batch, model)
        # A word has two prompts: of at most three words, as requests under way, one is missing.
        assert left.count <= 30 - (sum(answered.values()) - 3) // 2
        server.answered = answered
        model.answer(left)
        assert len(server.answered) == 60


def test_a_run_that_failed_has_lost_nothing(tmp_path: Path) -> None:
    target = spelled_target(30, seed=3)
    with BrokenServer(AutomatonLLM(target, waste=0)) as server:
        model = served(server, batch=1, in_flight=3, patience=0.02)
        server.answered.clear()
        server.broken_at = 6 + 4

        def run() -> int:
            oracle, store = ExactOracle(target, equivalence=KAPPA), tmp_path / "answers.db"
            return len(learn(model, equivalence=KAPPA, oracle=oracle, store=store, audit=0).pdfa)

        with pytest.raises(ModelError, match="failed again and again"):
            run()
        server.broken_at = None
        before = server.answered.copy()
        with AnswerStore(tmp_path / "answers.db", read_only=True) as store:
            (kept,) = store.models()
        assert 2 * kept.answers >= sum(before.values()) - 3
        assert run() == len(quotient(target, equivalence=KAPPA))
        # A few stored words are asked again, to know the model.
        twice = sum(count - 1 for count in server.answered.values())
        assert twice <= 3 + 2 * 4


def test_a_refusal_is_told_in_one_line() -> None:
    with BrokenServer(AutomatonLLM(spelled_target(9, seed=1))) as server:
        model = served(server)
        server.broken_at = 7
        server.answer_with = lambda body: refusal(400, "No such\nthing.")
        server.asked.clear()
        with pytest.raises(ModelError) as caught:
            model.answer(Batch.of([(0,)]))
        assert str(caught.value) == f"the server {server.url} refused a request: 400 No such thing."
        assert set(server.asked.values()) == {1}


WRONG: dict[str, tuple[Callable[[Body], None], str]] = {
    "another model": (lambda b: b.update(model="gpt"), "answered with the model 'gpt', not with"),
    "no model": (lambda b: b.pop("model"), "answered with the model None"),
    "too few": (lambda b: b["choices"].pop(), "answered 2 prompts with 1 choices"),
    "twice the same": (lambda b: b["choices"][0].update(index=1), "choices of index [1, 1]"),
    "no choices": (lambda b: b.pop("choices"), "holds no choices"),
    "no logprobs": (lambda b: b["choices"][0].update(logprobs=None), "logprobs None"),
    "NaN": (lambda b: _set(b, float("nan")), "is nan, not 0 or below"),
    "positive": (lambda b: _set(b, 0.5), "is 0.5, not 0 or below"),
    "a text": (lambda b: _set(b, "much"), "is 'much', not 0 or below"),
    "null": (lambda b: _set(b, None), "is None, not 0 or below"),
    "names": (lambda b: _logs(b).update({"a": -1.0}), "calls a token 'a'"),
    "left out": (lambda b: _logs(b).pop("token_id:1"), "left out token 1"),
    "a list": (lambda b: b.update(choices=[1, 2]), "2 choices of index []"),
}


def _logs(body: Body) -> Any:
    return body["choices"][1]["logprobs"]["top_logprobs"][0]


def _set(body: Body, value: object) -> None:
    _logs(body)["token_id:1"] = value


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_refused_with_the_word(name: str) -> None:
    spoil, message = WRONG[name]
    with BrokenServer(AutomatonLLM(spelled_target(9, seed=1, symbols="abcd"))) as server:
        model = ServedModel(server.url, "automaton", "abcd", "word:", ["<end>"])

        def spoilt(body: Body) -> Answer:
            status, answer = WatchedServer.complete(server, body)
            spoil(answer)
            return status, answer

        server.answer_with, server.broken_at = spoilt, 8
        server.asked.clear()
        with pytest.raises(ModelError) as caught:
            model.answer(Batch.of([(0,), (1, 2)]))
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
        if "token" in message or "below" in message:
            assert "the word ('b', 'c')" in str(caught.value)
        assert set(server.asked.values()) == {1}, "asking again would not help"


def test_a_server_that_does_not_answer_in_time() -> None:
    def slow(body: Body) -> Answer:
        time.sleep(0.3)
        return refusal(500, "Too late.")

    with BrokenServer(AutomatonLLM(spelled_target(9, seed=1))) as server:
        model = served(server, timeout=0.05, patience=0.1)
        server.answer_with, server.broken_at = slow, 7
        begin = time.monotonic()
        with pytest.raises(ModelError, match="not whole, after"):
            model.answer(Batch.of([(0,)]))
        assert time.monotonic() - begin < 5


def test_how_long_a_server_wants_to_wait() -> None:
    assert seconds_of("2.5") == 2.5
    assert seconds_of("-1") == 0
    assert seconds_of("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert seconds_of("Wed, 21 Oct 2099 07:28:00 GMT") > 1e9
    assert [seconds_of(text) for text in (None, "soon", "nan", "inf")] == [0.0] * 4


@pytest.mark.slow
def test_waiting_longer_than_patience_lasts_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_client, "seconds_of", lambda given: 1e6)
    with BrokenServer(AutomatonLLM(spelled_target(9, seed=1))) as server:
        model = served(server)
        server.answer_with, server.broken_at = (lambda body: refusal(429, "Later.")), 7
        with pytest.raises(ModelError, match="429 Later"):
            model.answer(Batch.of([(0,)]))


@pytest.mark.slow
def test_a_long_wait_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_client, "LONG_WAIT", 0.0)
    with WatchedServer(AutomatonLLM(spelled_target(9, seed=1)), faults=30, share=1) as server:
        with pytest.warns(UserWarning, match="fails: .*sent again for up to 300 s") as caught:
            served(server)
        assert len(caught) == 1


INTERRUPTED = """
import sys
from pdfalearn import Quantization, ServedModel, learn
from pdfalearn.oracles import AllWordsOracle
from pdfalearn.results import LearningInterrupted
model = ServedModel(sys.argv[1], "automaton", ["a", "bb", "bc", "d"], "word:", ["<end>"], batch=1)
print("made", flush=True)
try:
    oracle = AllWordsOracle(max_length=9)
    learn(model, equivalence=Quantization(50), oracle=oracle, store=sys.argv[2])
except LearningInterrupted as stopped:
    print(stopped.result.statistics.words, flush=True)
    sys.exit(3)
"""


@pytest.mark.slow
def test_an_interrupt_stops_at_once(tmp_path: Path) -> None:
    with HangingServer(AutomatonLLM(spelled_target(9, seed=1))) as server:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", INTERRUPTED, server.url, tmp_path / "answers.db"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        clock = Timer(100, process.kill)
        clock.start()
        assert process.stdout is not None
        assert process.stdout.readline() == "made\n"
        wait_until(lambda: server.count < 0 or process.poll() is not None)
        begin = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate()
        seconds = time.monotonic() - begin
        clock.cancel()
    assert (process.returncode, errors) == (3, "")
    assert int(output) > 0
    assert seconds < 50, "the requests under way take a minute"


CLOSED_EARLY = """
import asyncio, random, socket, time
from pdfalearn.models.served._client import Client
with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
    delays = random.Random(1)
    for _ in range(10):
        client = Client("http://127.0.0.1:%d" % listener.getsockname()[1], None, 64, 5, 1)
        client._open()
        work = client._send_all("/", [{}] * 64, print)
        asyncio.run_coroutine_threadsafe(work, client._loop)
        time.sleep(delays.random() / 50)
        client._close()
"""


@pytest.mark.slow
def test_connections_that_begin_are_closed_without_a_warning() -> None:
    command = [sys.executable, "-W", "always", "-c", CLOSED_EARLY]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=True)
    assert done.stderr == ""


@pytest.mark.slow
def test_what_was_answered_outlives_a_kill(tmp_path: Path) -> None:
    with HangingServer(AutomatonLLM(spelled_target(9, seed=1))) as server:
        server.count = 800
        arguments = [server.url, str(tmp_path / "answers.db")]
        process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, *arguments])
        try:
            wait_until(lambda: server.count < 0 or process.poll() is not None)
        finally:
            process.kill()
        process.wait(60)
    with AnswerStore(tmp_path / "answers.db", read_only=True) as store:
        (model,) = store.models()
    # A word is asked in two prompts, and batches have at most 256 words.
    assert 800 // 2 - 256 <= model.answers <= 800 // 2


def test_an_interrupted_batch_has_what_was_answered() -> None:
    with HangingServer(AutomatonLLM(spelled_target(9, seed=1))) as server:
        model = served(server, batch=1, in_flight=2)
        batch = Batch.of([0] * length for length in range(40))
        Thread(target=_interrupt_when, args=(server,), daemon=True).start()
        with pytest.raises(KeyboardInterrupt) as caught:
            model.answer(batch)
        server.count = 1000
        left = kept_of(caught.value, batch, model)
        assert left.count <= 40 - (40 - 2) // 2


def _interrupt_when(server: HangingServer) -> None:
    wait_until(lambda: server.count < -1)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.slow
def test_a_program_ends_quietly_while_a_model_is_there() -> None:
    with WatchedServer(AutomatonLLM(spelled_target(9, seed=1))) as server:
        program = INTERRUPTED.split("try:")[0]
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, server.url],
            capture_output=True,
            encoding="utf-8",
            timeout=100,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "made\n", "")
