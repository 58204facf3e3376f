"""Servers with faults, and what they serve."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from threading import Event, Lock

import numpy as np
from numpy.typing import NDArray

from examples.served_automaton import Answer, Body, CompletionsServer, Handler, Model, refusal
from pdfalearn import PDFA
from pdfalearn.datasets import random_pdfa

FAULTS = ("delay", "order", "429", "500", "drop", "truncate")
"""The first two are none: the answer is late, or its choices are in another order."""


def renamed(pdfa: PDFA, symbols: Sequence[str]) -> PDFA:
    """Return an automaton with other names for its symbols."""
    return PDFA(
        alphabet=symbols,
        transitions=pdfa.transitions,
        probabilities=pdfa.probabilities,
        initial=pdfa.initial,
    )


def spelled_target(states: int, seed: int, symbols: Sequence[str] = ("a", "bb", "bc", "d")) -> PDFA:
    """Return a random automaton, some of whose symbols have several characters."""
    return renamed(random_pdfa(states, len(symbols), seed=seed), symbols)


class WatchedServer(CompletionsServer):
    """A server that counts what it was asked, and what it answered in full.

    Parameters
    ----------
    model : Model
        What is served.
    faults : int
        How many requests fail, or are answered in an odd way.
    share : float
        The probability of a fault, as long as there are any left.
    """

    def __init__(self, model: Model, *, faults: int = 0, share: float = 0.5, port: int = 0) -> None:
        super().__init__(model, port, FaultyHandler)
        self.answered: Counter[tuple[int, ...]] = Counter()
        self.asked: Counter[tuple[int, ...]] = Counter()
        self.faults: Counter[str] = Counter()
        self.requests: list[Body] = []
        self.headers: list[Mapping[str, str]] = []
        self._left, self._share = faults, share
        self._random = np.random.default_rng(7)
        self._lock = Lock()
        self._stop_at: int | None = None
        self.stopped = Event()

    def stop_after(self, answers: int) -> None:
        """Die after this many answers: no connection is served any more."""
        self._stop_at = sum(self.answered.values()) + answers

    def next_fault(self) -> str | None:
        with self._lock:
            if not self._left or self._random.random() >= self._share:
                return None
            self._left -= 1
            fault = FAULTS[self._random.integers(len(FAULTS))]
            self.faults[fault] += 1
            return fault

    def answer(self, path: str, body: Body, headers: Mapping[str, str]) -> Answer:
        with self._lock:
            self.headers.append(headers)
            if path == "/v1/completions":
                self.requests.append(body)
                self.asked.update(questions(body))
        return super().answer(path, body, headers)

    def note_answered(self, body: Body) -> None:
        with self._lock:
            self.answered.update(questions(body))
            if self._stop_at is not None and sum(self.answered.values()) >= self._stop_at:
                self._die()

    def _die(self) -> None:
        if not self.stopped.is_set():
            self.socket.close()
            self.stopped.set()


def wait_until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something to happen, but not for ever."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


class HangingServer(WatchedServer):
    """Answers this many requests, and lets all others wait for a minute."""

    count = 40

    def complete(self, body: Body) -> Answer:
        self.count -= 1
        if self.count < 0:
            self.stopped.wait(60)
        return super().complete(body)


def questions(body: Body) -> list[tuple[int, ...]]:
    """Return what a request asks, as tokens chosen and prompts."""
    chosen = body.get("logprob_token_ids") or []
    return [(len(chosen), *chosen, *prompt) for prompt in body.get("prompt", [])]


class FaultyHandler(Handler):
    """Does wrong what a server and the way to it can do wrong."""

    server: WatchedServer

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.stopped.is_set():
            self._break_off(b"")
            return
        status, answer = self.server.answer(self.path, body, dict(self.headers))
        fault = self.server.next_fault() if self.path == "/v1/completions" else None
        if fault in (None, "delay", "order"):
            if fault == "delay":
                time.sleep(0.01)
            elif fault == "order":
                answer["choices"].reverse()
            if self.path == "/v1/completions" and status == 200:
                self.server.note_answered(body)
            self.reply(status, answer)
        elif fault == "429":
            self.reply(*refusal(429, "Too many requests."), Retry_After="0")
        elif fault == "500":
            self.reply(*refusal(500, "Out of memory."))
        else:
            self._break_off(json.dumps(answer).encode() if fault == "truncate" else b"")

    def _break_off(self, content: bytes) -> None:
        if content:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


class Transformer:
    """A transformer of one layer with random weights, in float64, whose tokens are characters."""

    name = "tiny"
    context = 64

    def __init__(self, seed: int = 0) -> None:
        import torch
        from torch import nn

        self.vocabulary = "^$abcdefg:\n"
        generator = torch.Generator().manual_seed(seed)
        self._embedding = torch.randn(len(self.vocabulary), 16, generator=generator).double()
        self._places = torch.randn(self.context, 16, generator=generator).double()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self._layer = layer.double().eval()

    def tokens(self, text: str, *, special: bool) -> list[int]:
        return [0] * special + [self.vocabulary.index(character) for character in text]

    def log_probabilities(self, tokens: Sequence[int]) -> NDArray[np.float64]:
        import torch

        vectors = self._embedding[list(tokens)] + self._places[: len(tokens)]
        mask = torch.nn.Transformer.generate_square_subsequent_mask(
            len(tokens), dtype=torch.float64
        )
        with torch.inference_mode():
            last = self._layer(vectors[None], src_mask=mask, is_causal=True)[0, -1]
            return np.asarray(torch.log_softmax(self._embedding @ last, -1).numpy())
