"""An LLM over its whole vocabulary behind a real server, against the same weights here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from pdfalearn import Answers, Budget, drift, explore
from pdfalearn.errors import InputError
from pdfalearn.models import ServedAnswers
from pdfalearn.models.opened import ask_words
from pdfalearn.samplers import Words
from tests_served.conftest import NAME, VLLM

PROMPT = "Is Paris the capital of France? Answer yes or no."
LANGUAGES = {"yes": r"(?i)\s*yes", "no": r"(?i)\s*no"}
NEARLY = 5e-5


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def whole(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VLLM]:
    """A server that tells whole rows."""
    log = tmp_path_factory.mktemp("vllm") / "log.txt"
    yield from VLLM(folder, log, most_logprobs=-1).run()


@pytest.fixture(scope="module")
def local(folder: Path) -> Answers:
    return Answers(folder, prompt=PROMPT, chat=True)


def test_whole_rows_are_those_of_transformers(whole: VLLM, folder: Path, local: Answers) -> None:
    served = ServedAnswers(whole.url, NAME, folder, prompt=PROMPT, chat=True)
    assert (served.prompt, served.ends, served.top) == (local.prompt, local.ends, 49_152)
    assert served.token_bytes == local.token_bytes
    random = np.random.default_rng(1)
    words = Words.of(random.integers(3, 49_152, size=n % 4).tolist() for n in range(12))
    rows, known = ask_words(served, words), ask_words(local, words)
    difference = float(np.abs(rows.to_dense() - known.to_dense()).max())
    print(f"whole rows: largest difference from transformers {difference:.1e}")
    assert difference < NEARLY
    asked = explore(served, LANGUAGES, match="begins", gap=0.001)
    again = explore(local, LANGUAGES, match="begins", gap=0.001)
    print(f"begins with yes or no: {asked!r} served, {again!r} here")
    assert asked.open["untold"] < 1e-6
    assert asked.stopped == "gap"
    for name in LANGUAGES:
        assert asked[name].low == pytest.approx(again[name].low, abs=NEARLY)
        assert asked[name].high == pytest.approx(again[name].high, abs=NEARLY)
    far = drift(served, local, LANGUAGES, match="begins", gap=0.001, budget=Budget(max_words=20))
    print(f"drift from transformers: [{far.low:.6f}, {far.high:.6f}], noise {far.noise:.1e}")
    assert far.is_within(0.002) is True


@pytest.mark.parametrize("top", [128, 20, 5])
def test_bounds_from_some_tokens_hold(whole: VLLM, folder: Path, local: Answers, top: int) -> None:
    served = ServedAnswers(whole.url, NAME, folder, prompt=PROMPT, chat=True, top=top)
    asked = explore(served, LANGUAGES, match="begins", gap=0.001, budget=Budget(max_words=60))
    known = explore(local, LANGUAGES, match="begins", gap=1e-4)
    print(f"top {top}: {asked!r}, untold {asked.open['untold']:.3f}")
    for name in LANGUAGES:
        assert asked[name].low <= known[name].high + NEARLY
        assert known[name].low <= asked[name].high + NEARLY
    assert asked.open["untold"] > 0
    with pytest.raises(InputError, match="did not tell all"):
        asked.sample(1)
