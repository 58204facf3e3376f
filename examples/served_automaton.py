"""Serve a PDFA on this machine as vLLM serves an LLM, to try served models without one.

The tokens are characters, so that a symbol of several characters is spelled in several tokens. A
word begins behind the last colon, or at the beginning of the text.

    python -m examples.served_automaton

serves the Reber grammar until Ctrl-C.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pdfalearn import PDFA
from pdfalearn.datasets import reber

Body = dict[str, Any]
Answer = tuple[int, Body]

MOST_CHOSEN, MOST_LIKELIEST = 128, 20


class Model(Protocol):
    """What can be served: texts to tokens, and tokens to what may follow them."""

    name: str
    context: int

    def tokens(self, text: str, *, special: bool) -> list[int]:
        """Return the tokens of a text, with the one that begins texts if ``special``."""
        ...

    def log_probabilities(self, tokens: Sequence[int]) -> NDArray[np.float64]:
        """Return the log-probability of every token of the vocabulary after some tokens."""
        ...


class AutomatonLLM:
    """An automaton as an LLM of characters.

    Parameters
    ----------
    pdfa : PDFA
        The automaton; its symbols are texts of which none begins another.
    waste : float
        The probability of tokens that spell nothing, where a symbol may begin.
    """

    name = "automaton"
    context = 512

    def __init__(self, pdfa: PDFA, waste: float = 0.1) -> None:
        self._pdfa = pdfa
        self._waste = waste
        self._symbols = [str(symbol) for symbol in pdfa.alphabet.symbols]
        characters = {chr(code) for code in range(32, 127)}.union("\n", *self._symbols)
        self.vocabulary = ["<begin>", "<end>", *sorted(characters)]
        self._numbers = {text: number for number, text in enumerate(self.vocabulary)}
        spelling = {"<end>"}.union(*self._symbols)
        self._idle = np.array([text not in spelling for text in self.vocabulary])

    def tokens(self, text: str, *, special: bool) -> list[int]:
        """Return the tokens of a text; "<end>" is one token."""
        pieces = ["<end>"] if text == "<end>" else text
        return [0] * special + [self._numbers[piece] for piece in pieces]

    def log_probabilities(self, tokens: Sequence[int]) -> NDArray[np.float64]:
        """Return the log-probability of every token after some tokens."""
        text = "".join(self.vocabulary[token] for token in tokens if token)
        state, begun = self._led(text.rpartition(":")[2])
        masses = np.zeros(len(self.vocabulary))
        if state >= 0:
            self._spread(masses, self._pdfa.probabilities[state], begun)
        if not masses.any():  # not a word, but an LLM answers it too
            return np.full(len(masses), -math.log(len(masses)))
        waste = 0.0 if begun else self._waste
        masses *= (1 - waste) / masses.sum()
        masses[self._idle] += waste / self._idle.sum()
        with np.errstate(divide="ignore"):
            return np.log(masses)

    def _led(self, text: str) -> tuple[int, str]:
        """Return the state after a text, and the beginning of a symbol that is left."""
        state, begun = self._pdfa.initial, ""
        for character in text:
            begun += character
            if begun in self._symbols and state >= 0:
                state = int(self._pdfa.transitions[state, self._symbols.index(begun)])
                begun = ""
        return state, begun

    def _spread(self, masses: NDArray[np.float64], row: NDArray[np.float64], begun: str) -> None:
        for symbol, probability in zip(self._symbols, row[1:], strict=True):
            if symbol.startswith(begun):
                masses[self._numbers[symbol[len(begun)]]] += probability
        if not begun:
            masses[self._numbers["<end>"]] = row[0]


class CompletionsServer(ThreadingHTTPServer):
    """Serves a model on a free port of this machine, as vLLM does.

    Use it in a ``with`` block, or start and stop it; ``url`` is where it is.
    """

    most_likeliest = MOST_LIKELIEST
    """How many of the likeliest tokens it lists at most, as ``--max-logprobs`` of vLLM says."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, model: Model, port: int = 0, handler: type[BaseHTTPRequestHandler] | None = None
    ) -> None:
        super().__init__(("127.0.0.1", port), handler or Handler)
        self.model = model

    @property
    def url(self) -> str:
        """Where the server is."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> None:
        """Begin to serve, in a thread of its own."""
        self._thread = Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop serving."""
        self.shutdown()
        self._thread.join()
        self.server_close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def answer(self, path: str, body: Body, headers: Mapping[str, str]) -> Answer:
        """Return the status and the body of the answer to a request."""
        if path == "/v1/models":
            card = {"id": self.model.name, "max_model_len": self.model.context}
            return 200, {"object": "list", "data": [card]}
        if path not in ("/tokenize", "/v1/completions"):
            return 404, {"detail": "Not Found"}
        if body.get("model") != self.model.name:
            return refusal(404, f"The model {body.get('model')!r} does not exist.")
        try:
            return self.tokenize(body) if path == "/tokenize" else self.complete(body)
        except LookupError as error:
            return refusal(400, f"There is no such token: {error}.")

    def tokenize(self, body: Body) -> Answer:
        """Return the tokens of a text, or of a conversation."""
        if "messages" in body:
            text = "".join(f"{message['content']}:" for message in body["messages"])
            return 200, {"tokens": self.model.tokens(text, special=True)}
        special = body.get("add_special_tokens", True)
        return 200, {"tokens": self.model.tokens(body["prompt"], special=special)}

    def complete(self, body: Body) -> Answer:
        """Return one more token after each prompt, and log-probabilities."""
        chosen, top = body.get("logprob_token_ids"), body["logprobs"]
        if top > self.most_likeliest or len(chosen or []) > MOST_CHOSEN:
            return refusal(400, "Requested more logprobs than are allowed.")
        for prompt in body["prompt"]:
            if not 0 < len(prompt) < self.model.context:
                return refusal(400, f"A prompt of {len(prompt)} tokens is empty or too long.")
        choices = [
            self.choice(index, prompt, chosen, top) for index, prompt in enumerate(body["prompt"])
        ]
        return 200, {"model": self.model.name, "choices": choices}

    def choice(self, index: int, prompt: list[int], chosen: list[int] | None, top: int) -> Body:
        """Return what follows one prompt: the likeliest token, and the listed ones."""
        logs = self.model.log_probabilities(prompt)
        best = np.argsort(-logs, kind="stable")[: max(top, 1)].tolist()
        listed = dict.fromkeys([best[0], *(best[:top] if chosen is None else chosen)])
        named = {f"token_id:{token}": max(float(logs[token]), -9999.0) for token in listed}
        return {"index": index, "text": "", "logprobs": {"top_logprobs": [named]}}


class Handler(BaseHTTPRequestHandler):
    """Reads requests, and writes what the server answers."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: CompletionsServer

    def do_GET(self) -> None:
        """Answer a request without a body."""
        self.reply(*self.server.answer(self.path, {}, dict(self.headers)))

    def do_POST(self) -> None:
        """Answer a request with a body."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply(*self.server.answer(self.path, body, dict(self.headers)))

    def reply(self, status: int, body: Body, **headers: str) -> None:
        """Write an answer."""
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""


def refusal(status: int, message: str) -> Answer:
    """Return a refusal in the form that vLLM gives it."""
    return status, {"error": {"message": message, "code": status}}


if __name__ == "__main__":
    server = CompletionsServer(AutomatonLLM(reber()), port=int((sys.argv[1:] or ["8000"])[0]))
    print(f"{server.url} serves {server.model.name!r}; Ctrl-C ends it", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
