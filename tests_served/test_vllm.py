"""A real server against the same LLM on this machine, asked by transformers."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch

from pdfalearn import Budget, Quantization, ServedModel, TransformerModel, learn
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words
from pdfalearn.oracles import AllWordsOracle
from pdfalearn.samplers import Words
from pdfalearn.testing import check_model
from tests_served.conftest import NAME, VLLM

DIGITS = [str(digit) for digit in range(10)]
NUMBER = "Pick a random number between 1 and 100."
COLOURS = [" red", " green", " light blue", " dark blue"]
SETTINGS: dict[str, dict[str, Any]] = {
    "prompt": {"symbols": DIGITS, "prompt": f"{NUMBER}\nNumber:\n", "ends": "rest"},
    "chat": {"symbols": DIGITS, "prompt": NUMBER, "ends": ["<|im_end|>"], "chat": True},
    "spelled": {"symbols": COLOURS, "prompt": "My favourite colours are", "ends": [".", "\n"]},
}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def models(
    server: VLLM, folder: Path, name: str, **options: Any
) -> tuple[ServedModel, TransformerModel]:
    settings = dict(SETTINGS[name])
    symbols = settings.pop("symbols")
    served = ServedModel(server.url, NAME, symbols, **settings, **options)
    return served, TransformerModel(folder, symbols=symbols, **settings)


def random_words(size: int, count: int, seed: int = 1) -> Words:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(6, size=count)
    return Words.of(generator.integers(size, size=length).tolist() for length in lengths)


def local_rows(model: TransformerModel, words: Words) -> tuple[np.ndarray, np.ndarray]:
    rows = ask_words(model, words)
    assert rows.outside is not None
    return rows.to_dense(), rows.outside


@pytest.mark.parametrize("name", SETTINGS)
def test_rows_agree_with_those_of_transformers(server: VLLM, folder: Path, name: str) -> None:
    served, local = models(server, folder, name)
    assert served.prompt == local.prompt
    assert served.spelling.tokens == local.spelling.tokens
    words = random_words(len(served.alphabet), 60)
    rows = ask_words(served, words)
    expected, outside = local_rows(local, words)
    assert rows.outside is not None
    difference = max(np.abs(rows.values - expected).max(), np.abs(rows.outside - outside).max())
    print(f"{name}: largest difference from transformers {difference:.1e}")
    assert difference < 5e-5


def test_words_a_second(server: VLLM, folder: Path) -> None:
    served, _ = models(server, folder, "prompt")
    served.answer(Batch.of([()]))
    speeds = [measured_speed(served, random_words(10, 200, seed)) for seed in (2, 3, 4)]
    print("words/s:", ", ".join(f"{speed:.0f}" for speed in speeds))
    assert max(speeds) >= 20  # the best of three, as others may use the machine


def measured_speed(model: ServedModel, words: Words) -> float:
    batch = Batch.of(words)
    begin = time.monotonic()
    model.answer(batch)
    return batch.count / (time.monotonic() - begin)


def test_the_protocol_is_kept(server: VLLM, folder: Path) -> None:
    served, _ = models(server, folder, "spelled")
    check_model(served, words=60, tolerance=1e-4)


@pytest.mark.parametrize("name", ["prompt", "chat"])
def test_the_automaton_is_that_of_transformers(server: VLLM, folder: Path, name: str) -> None:
    kappa, oracle = Quantization(4), AllWordsOracle(max_length=2)
    learnt = [
        learn(model, equivalence=kappa, oracle=oracle, budget=Budget(max_word_length=4))
        for model in models(server, folder, name)
    ]
    served, local = (result.pdfa for result in learnt)
    print(f"{name}: {len(served)} states, {learnt[0].statistics.cost:,.0f} tokens")
    assert np.array_equal(served.transitions, local.transitions)
    assert np.allclose(served.probabilities, local.probabilities, atol=5e-5)


def test_a_server_that_is_killed_and_started_again(server: VLLM, folder: Path) -> None:
    served, _ = models(server, folder, "prompt", patience=900.0)
    words = random_words(10, 200)
    expected = ask_words(served, words).values

    def restart() -> None:
        time.sleep(2)
        server.kill()
        server.start()

    thread = Thread(target=restart)
    thread.start()
    with pytest.warns(UserWarning, match="sent again"):
        rows = ask_words(served, words)
    thread.join()
    difference = np.abs(rows.values - expected).max()
    print(f"killed and started again: largest difference {difference:.1e}")
    assert difference < 5e-5


def test_wrong_model_and_parameters(server: VLLM) -> None:
    with pytest.raises(InputError, match=f"does not serve 'gpt', but '{NAME}'"):
        ServedModel(server.url, "gpt", DIGITS, "x")
    with pytest.raises(InputError, match=r"the prompt is empty, and the server .* refused"):
        ServedModel(server.url, NAME, DIGITS, "")
    with pytest.raises(ModelError, match=r"400 .*out-of-vocab"):
        ServedModel(server.url, NAME, {"a": [60000]}, "x").answer(Batch.of([()]))
    with pytest.raises(ModelError, match=r"needs \d+ tokens.*, but the server's context has 512"):
        ServedModel(server.url, NAME, DIGITS, "x").answer(Batch.of([[1] * 511]))
    with pytest.raises(ModelError, match=r"400 .*logprobs"):
        ServedModel(server.url, NAME, DIGITS, "x", ["."], top=129).answer(Batch.of([()]))


def test_the_likeliest_tokens_bound_the_rows(server: VLLM, folder: Path) -> None:
    full, _ = models(server, folder, "chat")
    top, _ = models(server, folder, "chat", top=100)
    words = random_words(10, 20)
    rows, expected = ask_words(top, words), ask_words(full, words).values
    assert rows.columns is not None
    values = expected[rows.row_numbers, rows.columns]
    rests = rows.rests[rows.row_numbers]
    assert (rows.values <= values + 5e-5).all()
    assert (rows.values >= values * (1 - rests) - 5e-5).all()
