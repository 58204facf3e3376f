"""Probabilities, likeliest words and samples of every kind of model, against enumeration."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from pdfalearn import (
    PDFA,
    Budget,
    FunctionModel,
    Temperature,
    distill,
    explore,
    most_likely,
    probability,
    sample,
)
from pdfalearn.analysis import condition
from pdfalearn.errors import InputError
from pdfalearn.languages import HasLength
from pdfalearn.models import AutomatonModel, LanguageModel
from pdfalearn.results import Bounds
from tests.exploring.cases import LANGUAGES, Partial, random_target, tiny_llm
from tests.support import need_module

NEARLY = 1e-9


def function_of(pdfa: PDFA) -> FunctionModel:
    """Return an automaton that can only be asked, by a function of words."""

    def answer(words: list[tuple[str, ...]]) -> list[list[float]]:
        rows = []
        for word in words:
            state = pdfa.initial
            for symbol in word:
                state = int(pdfa.transitions[state, pdfa.alphabet.index(symbol)])
            rows.append(pdfa.probabilities[state].tolist())
        return rows

    return FunctionModel(answer, "".join(pdfa.alphabet))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_truth_is_inside(seed: int) -> None:
    need_module("interegular")
    random = np.random.default_rng(seed)
    pdfa, told = random_target(random), int(random.integers(0, 3))
    live: LanguageModel = Partial(pdfa, told) if told else AutomatonModel(pdfa)
    for _ in range(4):
        one, other = (str(pattern) for pattern in random.choice(LANGUAGES, 2))
        gap, calls = float(10 ** -random.uniform(1, 4)), int(random.integers(1, 400))
        bounds = probability(live, one, gap=gap, budget=Budget(max_words=calls))
        assert bounds.low - NEARLY <= probability(pdfa, one) <= bounds.high + NEARLY
        assert bounds.high - bounds.low <= gap + NEARLY or "stopped by" in bounds.holds_for
        if probability(pdfa, other) > 1e-3:
            given = probability(live, one, other, gap=gap, budget=Budget(max_words=calls))
            known = probability(pdfa, one, other)
            assert given.low - NEARLY <= known <= given.high + NEARLY
            assert given.high - given.low <= gap + NEARLY or "stopped by" in given.holds_for


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_certified_words_are_the_likeliest(seed: int) -> None:
    need_module("interegular")
    random = np.random.default_rng(seed)
    pdfa = random_target(random)
    language = None if seed % 2 else str(random.choice(LANGUAGES))
    known = [one.probability for one in most_likely(pdfa, 6, language)]
    told = seed % 3
    live: LanguageModel = Partial(pdfa, told) if told else AutomatonModel(pdfa)
    found = list(most_likely(live, 6, language, budget=Budget(max_words=3000)))
    certain = [one.probability for one in found if one.certified]
    assert certain == pytest.approx(known[: len(certain)], abs=NEARLY)
    assert told or len(certain) == len(known) or known[-1] < 1e-3


def test_a_model_that_can_only_be_asked() -> None:
    pdfa = random_target(np.random.default_rng(3))
    live = function_of(pdfa)
    bounds = probability(live, HasLength(most=2))
    assert isinstance(bounds, Bounds)
    assert bounds.low - NEARLY <= probability(pdfa, HasLength(most=2)) <= bounds.high + NEARLY
    words = list(most_likely(live))
    assert len(words) == 10
    assert all(one.certified for one in words)
    warm = probability(Temperature(live, 0.5), [""])
    squares = pdfa.probabilities[pdfa.initial] ** 2
    assert warm.low - NEARLY <= squares[0] / squares.sum() <= warm.high + NEARLY
    assert list(most_likely(live, 0)) == []


def test_what_is_refused() -> None:
    pdfa = random_target(np.random.default_rng(1))
    with pytest.raises(InputError, match="probability 0"):
        probability(FunctionModel(lambda words: [[1.0, 0.0]] * len(words), "a"), [""], ["a"])
    with pytest.raises(InputError, match="max_words and max_seconds"):
        probability(function_of(pdfa), ["a"], budget=Budget(max_symbols=5))
    with pytest.raises(InputError, match="neither a PDFA nor a LanguageModel"):
        probability("a.json", ["a"])  # type: ignore[call-overload]


@pytest.mark.slow
def test_samples_of_a_language_are_as_likely_as_in_it() -> None:
    need_module("interegular")
    from scipy.stats import chisquare

    pdfa = random_target(np.random.default_rng(5))
    exact = condition(pdfa, "a?b.{0,2}")
    drawn = sample(AutomatonModel(pdfa), 20_000, "a?b.{0,2}", seed=1)
    assert not drawn.cut.any()
    counts = Counter(drawn.words)
    expected = np.array([exact.probability(word) for word in counts])
    assert expected.sum() > 1 - 1e-3
    seen = np.array(list(counts.values()))
    assert chisquare(seen, expected / expected.sum() * seen.sum()).pvalue > 1e-4
    assert sample(pdfa, 5, "a?b.{0,2}", seed=2).words == sample(pdfa, 5, "a?b.{0,2}", seed=2).words


@pytest.mark.slow
def test_texts_of_an_llm_are_whole() -> None:
    """Against all pairs of tokens of a tiny network: how likely the likeliest texts are."""
    for name in ("torch", "transformers", "tokenizers", "interegular"):
        need_module(name)
    import torch

    from pdfalearn import Answers
    from tests.models.transformers_tokenizers import byte_tokenizer

    network, tokenizer = tiny_llm(330, seed=2), byte_tokenizer()
    tokens = tokenizer("heads or")["input_ids"]

    def rows(texts: list[list[int]]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        with torch.no_grad():
            logits = network(torch.tensor([[*tokens, *text] for text in texts])).logits[:, -1]
        return np.asarray(logits.double().softmax(dim=-1).numpy())

    first = rows([[]])[0]
    ends = np.argsort(-first)[3:20].tolist()  # a third ends at once
    llm = Answers(network, tokenizer, prompt="heads or", ends=ends)
    found = [one for one in most_likely(llm, 3, budget=Budget(max_words=80)) if one.certified]
    assert found
    assert all(one.is_whole for one in found)
    texts = defaultdict[bytes, float](float, {b"": float(first[ends].sum())})
    second = rows([[token] for token in range(330)])
    for token, text in enumerate(llm.token_bytes):
        if text is not None:
            texts[text] += float(first[token] * second[token, ends].sum())
    for one in found:
        assert one.probability >= texts[str(one.word).encode()] - 1e-6
    drawn = sample(llm, 60, seed=1, max_length=3)
    assert len(drawn.words) == len(drawn.cut) == 60
    assert all(isinstance(word, str) for word in drawn.words)
    empty = np.array([not word for word in drawn.words]) & ~drawn.cut
    assert abs(empty.mean() - texts[b""]) < 0.25


def unlikely() -> FunctionModel:
    """A model of words of a and b, of which long ones are hardly ever told."""
    return FunctionModel(lambda words: [[0.5, 0.1, 0.4]] * len(words), "ab")


def test_words_less_likely_than_rounding_are_found() -> None:
    need_module("interegular")
    words = list(most_likely(unlikely(), 20, "a{1,20}"))
    assert ["".join(map(str, one.word)) for one in words] == ["a" * n for n in range(1, 21)]
    assert [one.probability for one in words] == pytest.approx([0.5 * 0.1**n for n in range(1, 21)])
    assert all(one.certified for one in words)


def test_a_language_of_rare_words_is_drawn_from() -> None:
    need_module("interegular")
    assert sample(unlikely(), 2, "a{30}", seed=1).words == [("a",) * 30] * 2


def test_a_condition_that_is_hardly_possible_is_not_called_impossible() -> None:
    need_module("interegular")
    with pytest.raises(InputError, match=r"'a\{12,13\}' has probability 0, or less than 1e-11"):
        probability(unlikely(), "a{12}", given="a{12,13}")


def test_a_frontier_is_no_model_to_draw_from() -> None:
    found = distill(unlikely(), budget=Budget(max_symbols=300), sizes=[1])
    with pytest.raises(InputError, match="its attribute best is an automaton"):
        most_likely(found, 2)  # type: ignore[call-overload]


def test_names_of_totals_are_refused() -> None:
    need_module("interegular")
    with pytest.raises(InputError, match="'any of these' is the name of a total"):
        explore(unlikely(), {"any of these": "a"})
