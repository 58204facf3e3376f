"""Evaluation on words, against slow Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Exact, FunctionModel, Quantization, Tolerance, evaluate
from pdfalearn.datasets import figure_1, figure_3, random_pdfa
from pdfalearn.equivalence import Equivalence
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import AutomatonModel
from pdfalearn.results import Evaluation
from tests.metrics import slow
from tests.models.watched import COSTS, WatchedModel
from tests.strategies import equivalences, pdfas
from tests.support import need_module

WORDS = st.lists(st.text("abc", max_size=6), min_size=1, max_size=8)
RELATIONS = st.one_of(equivalences(), st.sampled_from([0, 0.1, 0.3, 1]).map(Tolerance))


def reordered(pdfa: PDFA, symbols: str) -> PDFA:
    """The same automaton with its symbols in another order and another terminal."""
    columns = [pdfa.alphabet.index(symbol) for symbol in symbols]
    return PDFA(
        alphabet=symbols,
        transitions=pdfa.transitions[:, columns],
        probabilities=pdfa.probabilities[:, [0, *(column + 1 for column in columns)]],
        initial=pdfa.initial,
        terminal="#",
    )


def check(
    result: Evaluation,
    target: PDFA,
    candidate: PDFA,
    words: Sequence[Sequence[object]],
    equivalence: Equivalence | Tolerance,
    k: int,
) -> None:
    symbols = target.alphabet.symbols
    prefixes = [word[:end] for word in words for end in range(len(word) + 1)]
    for means, places in ((result.over_prefixes, prefixes), (result.over_words, words)):
        pairs = [
            (slow.row_after(target, word, symbols), slow.row_after(candidate, word, symbols))
            for word in places
        ]
        kls = [slow.kl(*pair) for pair in pairs]
        expected = [
            np.mean([slow.word_error(*pair) for pair in pairs]),
            np.mean([slow.ndcg(*pair, k) for pair in pairs]),
            np.mean([slow.different(*pair, equivalence) for pair in pairs]),
            np.mean([slow.l1(*pair) for pair in pairs]),
            np.mean(kls),
            np.mean(np.isinf(kls)),
        ]
        assert list(vars(means).values()) == pytest.approx(expected, abs=1e-12)
    logs = [[slow.log_probability(pdfa, word) for word in words] for pdfa in (target, candidate)]
    errors = [0.0 if a == b else abs(a - b) for a, b in zip(*logs, strict=True)]
    assert result.log_probability_error == pytest.approx(np.mean(errors))
    one_sided = [math.isinf(a) != math.isinf(b) for a, b in zip(*logs, strict=True)]
    assert result.one_sided_words == pytest.approx(np.mean(one_sided))
    assert result.target_perplexity == pytest.approx(np.exp(-sum(logs[0]) / len(prefixes)))
    assert result.perplexity == pytest.approx(np.exp(-sum(logs[1]) / len(prefixes)))
    assert (result.words, result.cut_words, result.equivalence, result.k) == (
        len(words),
        0,
        equivalence,
        k,
    )
    assert result.mean_length == pytest.approx(len(prefixes) / len(words) - 1)


def check_same(result: Evaluation, expected: Evaluation) -> None:
    """Check that two evaluations are the same, whether their words were drawn or given."""
    for name in ("over_prefixes", "over_words"):
        found, wanted = (vars(getattr(each, name)) for each in (result, expected))
        assert found == pytest.approx(wanted)
    scalars = set(vars(result)) - {"over_prefixes", "over_words", "cut_words", "equivalence"}
    assert {name: getattr(result, name) for name in scalars} == pytest.approx(
        {name: getattr(expected, name) for name in scalars}
    )


@given(
    pdfas(alphabet="abc"),
    pdfas(alphabet="abc"),
    st.permutations("abc").map("".join),
    WORDS,
    RELATIONS,
    st.integers(1, 4),
)
def test_as_in_slow_python(
    target: PDFA,
    candidate: PDFA,
    order: str,
    words: list[str],
    equivalence: Equivalence | Tolerance,
    k: int,
) -> None:
    result = evaluate(target, reordered(candidate, order), words, equivalence=equivalence, k=k)
    check(result, target, candidate, words, equivalence, k)


@pytest.mark.parametrize("capacity", [None, 3, 10])
@pytest.mark.parametrize("prefixes_free", [True, False])
def test_any_language_model(capacity: int | None, prefixes_free: bool) -> None:
    target = random_pdfa(20, 3, distributions=4, zero_probability=0.3, undefined=True, seed=1)
    candidate = random_pdfa(15, 3, distributions=4, zero_probability=0.3, undefined=True, seed=2)
    words = [*target.sample(40, seed=3).words, *candidate.sample(40, seed=4).words]
    models = [
        WatchedModel(AutomatonModel(pdfa), capacity=capacity, cost=COSTS[prefixes_free])
        for pdfa in (target, candidate)
    ]
    equivalence = Quantization(10)
    expected = evaluate(target, candidate, words, equivalence=equivalence)
    check_same(evaluate(models[0], models[1], words, equivalence=equivalence), expected)
    for model in models:
        assert len(set(model.asked)) == len(model.asked)
        assert model.open_count == 0


@pytest.mark.slow
def test_one_model_on_both_sides_keeps_to_its_capacity() -> None:
    model = WatchedModel(AutomatonModel(random_pdfa(20, 3, seed=1)), capacity=3)
    assert evaluate(model, model).over_prefixes.l1 == 0


def test_it_prints_as_its_table() -> None:
    found = evaluate(figure_3(), figure_3(), ["01"])
    assert str(found) == found.table()


@pytest.mark.parametrize("capacity", [None, 7])
def test_words_are_drawn_from_the_target(capacity: int | None) -> None:
    target, candidate = random_pdfa(30, 3, seed=5), random_pdfa(30, 3, seed=6)
    drawn = target.sample(200, seed=9, max_length=6)
    longest = sum(len(word) == 6 for word in drawn.words)
    assert longest
    expected = evaluate(target, candidate, drawn.words)
    model = WatchedModel(AutomatonModel(target), capacity=capacity)
    for source in (target, model):
        result = evaluate(source, candidate, count=200, seed=9, max_length=6)
        assert result.cut_words == longest
        check_same(result, expected)


def test_a_function_and_long_words() -> None:
    model = FunctionModel(lambda words: [[0.5, 0.5] for _ in words], "a")
    result = evaluate(model, figure_1(), [(), "a" * 400])
    assert result.over_prefixes.word_error_rate == 0.0
    assert (result.one_sided_words, result.perplexity) == (0.5, math.inf)
    assert result.over_words.l1 == 0.5


def test_zero_on_both_sides_agrees_and_infinite_means_stay_infinite() -> None:
    never = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0, 1, 0]])
    result = evaluate(never, never, ["b", "ab", "abb"])
    assert (result.log_probability_error, result.one_sided_words) == (0.0, 0.0)
    assert (result.perplexity, result.target_perplexity) == (math.inf, math.inf)
    assert result.over_words.ndcg == 1.0
    ends = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    result = evaluate(ends, never, ["", "b"])
    assert result.log_probability_error == result.over_prefixes.kl == math.inf
    assert result.kl_of_words == math.inf
    assert (result.one_sided_words, result.over_prefixes.infinite_kl) == (1.0, 1.0)


def test_bad_input() -> None:
    target = figure_3()
    with pytest.raises(InputError, match="alphabets differ: symbol '0'"):
        evaluate(target, figure_1(), [""])
    with pytest.raises(InputError, match="there are no words"):
        evaluate(target, target, [])
    with pytest.raises(InputError, match="count 0"):
        evaluate(target, target, count=0)
    with pytest.raises(InputError, match="max_length -1"):
        evaluate(target, target, max_length=-1)
    with pytest.raises(InputError, match="seed -1"):
        evaluate(target, target, seed=-1)
    with pytest.raises(InputError, match="k 4"):
        evaluate(target, target, k=4)
    with pytest.raises(InputError, match="neither a PDFA nor a LanguageModel"):
        evaluate(target, "0101")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not an equivalence"):
        evaluate(target, target, equivalence=10)  # type: ignore[arg-type]


def test_a_bad_answer_names_the_word() -> None:
    model = FunctionModel(lambda words: [[0.5, math.nan if w else 0.5] for w in words], "a")
    with pytest.raises(ModelError, match=r"the word \('a',\).*NaN"):
        evaluate(figure_1(), model, ["a"], equivalence=Exact())


@pytest.mark.parametrize("equivalence", [Exact(), Quantization(10), Tolerance(0.1)])
def test_the_table_has_every_measure(equivalence: Any) -> None:
    result = evaluate(figure_3(), random_pdfa(5, seed=1), count=20, equivalence=equivalence)
    lines = result.table().splitlines()
    assert len({len(line) for line in lines[:7]}) == 1, "columns are aligned"
    figures = result.over_prefixes.l1, result.over_words.l1
    assert lines[4].split() == ["L1", *(f"{value:.6g}" for value in figures)]
    need_module("pandas")
    frame = result.to_frame()
    assert frame["over_prefixes"].to_dict() == vars(result.over_prefixes)
    assert frame["over_words"].to_dict() == vars(result.over_words)
