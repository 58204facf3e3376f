"""Long words and many words: memory follows their length, and no batch is large."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import PDFA, FunctionModel, evaluate
from pdfalearn.datasets import random_pdfa
from pdfalearn.metrics import evaluation
from pdfalearn.models import AutomatonModel
from pdfalearn.observations import asking
from pdfalearn.results import Evaluation
from tests.metrics.test_evaluate import check_same, reordered
from tests.models.watched import COSTS, WatchedModel

TARGET = random_pdfa(20, 3, distributions=4, zero_probability=0.3, undefined=True, seed=1)
CANDIDATE = random_pdfa(15, 3, distributions=4, zero_probability=0.3, undefined=True, seed=2)
ENDLESS = random_pdfa(30, 2, seed=3)
OTHER = random_pdfa(25, 2, seed=4)


class Recorded:
    """A PDFA as a function that notes how many symbols every batch of words has."""

    def __init__(self, pdfa: PDFA) -> None:
        self._pdfa = pdfa
        self.symbols: list[int] = []
        self.words = 0

    def __call__(self, words: list[tuple[object, ...]]) -> NDArray[np.float64]:
        self.symbols.append(sum(map(len, words)))
        self.words += len(words)
        return self._pdfa.next_distributions(words)

    def model(self) -> FunctionModel:
        return FunctionModel(self, self._pdfa.alphabet)


def mixed_words(count: int, symbols: Sequence[object], longest: int) -> list[tuple[object, ...]]:
    """Words of very different lengths, many of them prefixes of others."""
    random = np.random.default_rng(5)
    long = [symbols[code] for code in random.integers(len(symbols), size=longest).tolist()]
    lengths = np.minimum(random.geometric(0.1, count), longest)
    words = [tuple(long[:length]) for length in lengths[: count // 2].tolist()]
    for length in lengths[count // 2 :].tolist():
        codes = random.integers(len(symbols), size=length).tolist()
        words.append(tuple(symbols[code] for code in codes))
    return [(), tuple(long), *words]


def peak(call: Callable[[], Evaluation]) -> int:
    """Return the most bytes that were taken at once."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_batches_for_a_function_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_MOST_SYMBOLS", 3000)
    words = mixed_words(300, OTHER.alphabet.symbols, 400)
    function = Recorded(ENDLESS)
    check_same(evaluate(function.model(), OTHER, words), evaluate(ENDLESS, OTHER, words))
    assert max(function.symbols) <= 3000 + 400
    prefixes = {word[:end] for word in words for end in range(len(word) + 1)}
    assert function.words == len(prefixes)
    assert len(function.symbols) < 100


def test_batches_are_small_while_words_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = evaluate(ENDLESS, OTHER, count=200, seed=1, max_length=60)
    monkeypatch.setattr(asking, "_MOST_SYMBOLS", 1000)
    function = Recorded(ENDLESS)
    check_same(evaluate(function.model(), OTHER, count=200, seed=1, max_length=60), expected)
    assert max(function.symbols) <= 1000 + 60


@pytest.mark.parametrize("capacity", [None, 5])
@pytest.mark.parametrize("prefixes_free", [True, False])
def test_parts_change_nothing(
    monkeypatch: pytest.MonkeyPatch, capacity: int | None, prefixes_free: bool
) -> None:
    words = [*mixed_words(60, "012", 40), *TARGET.sample(40, seed=3).words]
    other = reordered(CANDIDATE, "201")
    expected = evaluate(TARGET, other, words)
    for name in ("_MOST_PREFIXES", "_PART"):
        monkeypatch.setattr(evaluation, name, 50)
    models = [
        WatchedModel(AutomatonModel(pdfa), capacity=capacity, cost=COSTS[prefixes_free])
        for pdfa in (TARGET, other)
    ]
    check_same(evaluate(models[0], models[1], words), expected)
    check_same(evaluate(TARGET, other, words), expected)
    for model in models:
        assert len(set(model.asked)) == len(model.asked)
        assert model.open_count == 0


@pytest.mark.slow
def test_a_long_word_takes_memory_by_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    word = mixed_words(0, OTHER.alphabet.symbols, 20_000)[1]
    assert peak(lambda: evaluate(ENDLESS, OTHER, [word])) < 250 * len(word)
    monkeypatch.setattr(asking, "_MOST_SYMBOLS", 2**15)
    model = FunctionModel(lambda words: np.tile([0.5, 0.25, 0.25], (len(words), 1)), "01")
    long = word[:3000]  # whose prefixes together have 4.5 million symbols
    assert peak(lambda: evaluate(model, OTHER, [long])) < 1000 * len(long)


def test_many_words_take_memory_by_their_prefixes() -> None:
    words = mixed_words(20_000, OTHER.alphabet.symbols, 10_000)
    prefixes = sum(map(len, words)) + len(words)
    assert peak(lambda: evaluate(ENDLESS, OTHER, words)) < 2**23 + 50 * prefixes
