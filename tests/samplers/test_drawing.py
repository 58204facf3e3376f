"""Samplers draw from the distributions that their names promise, and from seeds alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest

from pdfalearn import PDFA, Alphabet, Corpus, FunctionModel, Quantization, sample
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.samplers import (
    HypothesisWords,
    Mixture,
    ModelWords,
    SamplerLike,
    UniformWords,
    as_sampler,
)
from tests.models.watched import COSTS, WatchedModel
from tests.strategies import all_words

COUNT = 40_000
MODEL = random_pdfa(6, 2, seed=3)
ENDING = PDFA(
    alphabet="ab",
    transitions=[[1, 0], [2, -1], [-1, -1]],
    probabilities=[[0.0, 0.25, 0.75], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]],
)
"""After aa nothing goes on, after a only a."""

EVERY = {
    "uniform": UniformWords(5),
    "model": ModelWords(20),
    "hypothesis": HypothesisWords(20, stop=0.3),
    "corpus": Corpus(["", "ab", "abba"]),
    "mixture": Mixture([(UniformWords(5), 1), (ModelWords(20), 2), (Corpus(["ab"]), 3)]),
}


def tree(model: PDFA = ENDING) -> ObservationTree:
    return ObservationTree(AutomatonModel(model), Quantization(1000))


def drawn(
    sampler: SamplerLike, hypothesis: PDFA = ENDING, model: PDFA = ENDING, count: int = COUNT
) -> list[tuple[object, ...]]:
    words = as_sampler(sampler).draw(count, hypothesis, tree(model), np.random.default_rng(5))
    assert words.symbols.dtype == np.int32
    assert len(words) == count
    return list(hypothesis.alphabet.decode_words(words))


def assert_share(found: int, expected: float, count: int = COUNT) -> None:
    """Within five standard deviations."""
    deviation = (expected * (1 - expected) / count) ** 0.5
    assert abs(found / count - expected) <= 5 * deviation + 1e-12


@pytest.mark.parametrize("sampler", EVERY.values(), ids=EVERY)
def test_the_same_seed_gives_the_same_words(sampler: SamplerLike) -> None:
    assert drawn(sampler, count=500) == drawn(sampler, count=500)
    assert drawn(sampler, count=0) == []
    random, observations = np.random.default_rng(5), tree()
    first, second = (as_sampler(sampler).draw(500, ENDING, observations, random) for _ in range(2))
    assert first.symbols.tolist() != second.symbols.tolist()


def test_uniform_words_have_uniform_lengths_and_symbols() -> None:
    counts = Counter(drawn(UniformWords(3)))
    for word in all_words("ab", 3):
        assert_share(counts.pop(tuple(word)), 1 / 4 / 2 ** len(word))
    assert not counts


def test_words_of_the_model_have_its_probabilities() -> None:
    words = drawn(ModelWords(100), hypothesis=figure_3(), model=MODEL)
    counts = Counter(words)
    for word in all_words("01", 3):
        assert_share(counts[tuple(word)], MODEL.probability(word))


def test_words_of_the_model_are_cut() -> None:
    counts = Counter(drawn(ModelWords(2), hypothesis=figure_3(), model=MODEL))
    assert max(map(len, counts)) == 2
    for word in all_words("01", 2):
        probability = MODEL.prefix_probability if len(word) == 2 else MODEL.probability
        assert_share(counts[tuple(word)], probability(word))


def test_words_of_the_model_are_asked_level_by_level_and_once() -> None:
    model = WatchedModel(AutomatonModel(MODEL), cost=COSTS[False])
    observations = ObservationTree(model, Quantization(1000))
    words = ModelWords(8).draw(500, figure_3(), observations, np.random.default_rng(1))
    assert len(model.batches) <= 8
    asked = model.asked
    assert len(set(asked)) == len(asked)
    prefixes = {
        tuple(words.symbols[begin:end].tolist())
        for begin, stop in zip(words.offsets[:-1], words.offsets[1:], strict=True)
        for end in range(begin, min(stop, begin + 7) + 1)
    }
    assert set(asked) == prefixes


def test_walks_keep_to_the_support() -> None:
    counts = Counter(drawn(HypothesisWords(3, stop=0.2)))
    go_on = 0.8
    assert_share(counts.pop(()), 0.2)
    assert_share(counts.pop(("a",)), go_on / 2 * 0.2)
    assert_share(counts.pop(("a", "a")), go_on / 2 * go_on)
    assert_share(counts.pop(("b", "a", "a")), (go_on / 2) ** 2 * go_on)
    assert_share(counts.pop(("b", "b", "b")), (go_on / 2) ** 3)
    assert set(counts) == {tuple(word) for word in ("b", "ba", "bb", "bba")}


def test_words_of_a_corpus_are_as_likely_as_they_are_many() -> None:
    counts = Counter(drawn(Corpus(["ab", "", ("b",), "ab"])))
    assert_share(counts.pop(("a", "b")), 1 / 2)
    assert_share(counts.pop(()), 1 / 4)
    assert_share(counts.pop(("b",)), 1 / 4)
    assert not counts


def test_mixtures_mix_and_shuffle() -> None:
    parts: list[tuple[SamplerLike, float]] = [(Corpus(["a"]), 1), (Corpus(["bb", "bbb"]), 3.0)]
    words = drawn(Mixture(parts))
    for half in (words[: COUNT // 2], words[COUNT // 2 :]):
        counts = Counter(half)
        assert_share(counts.pop(("a",)), 1 / 4, len(half))
        assert_share(counts.pop(("b", "b")), 3 / 8, len(half))
        assert_share(counts.pop(("b", "b", "b")), 3 / 8, len(half))
        assert not counts


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (UniformWords(1), []),
        (UniformWords(0), ["a", "b", "c"]),
        (ModelWords(0), ["a", "b", "c"]),
        (HypothesisWords(0), ["a", "b", "c"]),
        (Corpus(["ab", "aa"]), ["c"]),
        (Mixture([(Corpus(["a"]), 1), (Corpus(["b"]), 1)]), ["c"]),
        (Mixture([(Corpus(["a"]), 1), (UniformWords(1), 1)]), []),
    ],
)
def test_symbols_out_of_reach_are_known(sampler: SamplerLike, expected: list[str]) -> None:
    assert as_sampler(sampler).unreachable_symbols(Alphabet("abc")) == expected


@pytest.mark.parametrize("sampler", [UniformWords, ModelWords, HypothesisWords])
@pytest.mark.parametrize("length", [-1, 2.5, "3", None, True])
def test_bad_lengths_are_refused(sampler: type[UniformWords], length: int) -> None:
    with pytest.raises(InputError, match="max_length"):
        sampler(length)


@pytest.mark.parametrize("stop", [0, 1, -0.1, float("nan"), "0.1", None, True])
def test_bad_stop_probabilities_are_refused(stop: float) -> None:
    with pytest.raises(InputError, match="stop"):
        HypothesisWords(5, stop=stop)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([], "at least one sampler"),
        ([(UniformWords(3), 0)], "weight 0 is not a number above 0 and below inf"),
        ([(UniformWords(3), -1.5)], "weight -1.5 is not a number above 0 and below inf"),
        ([(UniformWords(3), float("inf"))], "weight inf is not a number above 0 and below inf"),
        ([(UniformWords(3), float("nan"))], "weight nan is not a number above 0 and below inf"),
        ([(UniformWords(3), "1")], "weight '1' is not a number"),
        ([(UniformWords(3), True)], "weight True is not a number"),
        ([("uniform", 1)], "'uniform' is not a sampler"),
        ([UniformWords(3)], "not pairs"),
        (UniformWords(3), "not pairs"),
    ],
)
def test_bad_mixtures_are_refused(
    parts: Iterable[tuple[SamplerLike, float]], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        Mixture(parts)


def test_any_model_is_sampled_as_its_automaton_is() -> None:
    model = FunctionModel(MODEL.next_distributions, MODEL.alphabet)
    drawn = sample(model, 2000, seed=1, max_length=2)
    again, exact = sample(model, 2000, seed=1, max_length=2), MODEL.sample(2000, 1, 2)
    assert drawn.words == again.words
    for word in all_words("01", 2):
        shares = [one.words.count(tuple(word)) / 2000 for one in (drawn, exact)]
        assert shares[0] == pytest.approx(shares[1], abs=0.06)
    assert drawn.cut.mean() == pytest.approx(exact.cut.mean(), abs=0.06)
    assert {len(word) for word, cut in zip(*drawn, strict=True) if cut} == {2}


def test_an_automaton_is_sampled_by_itself() -> None:
    for model in (MODEL, AutomatonModel(MODEL)):
        assert sample(model, 5, seed=3).words == MODEL.sample(5, seed=3).words
    with pytest.raises(InputError, match="neither a PDFA nor a LanguageModel"):
        sample("a.json", 5)  # type: ignore[arg-type]
