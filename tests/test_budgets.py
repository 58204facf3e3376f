"""Bounds on what learning may cost: they hold, and what comes out is whole."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, FunctionModel, Quantization, Result, learn, quotient
from pdfalearn.datasets import chain, figure_3, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.protocol import QueryCost
from pdfalearn.oracles import ExactOracle
from tests.learners.checks import assert_is_quotient, label_after, leaves
from tests.learners.noted import Noted
from tests.models.watched import COSTS, WatchedModel
from tests.support import examples, mostly_slow

BY = Quantization(1000)
LEARNERS = pytest.mark.parametrize("learner", ["quant", "quant-paper"])


def as_function(target: PDFA) -> FunctionModel:
    return FunctionModel(target.next_distributions, target.alphabet)


def run(target: PDFA, learner: str | Noted, **bounds: float) -> Result:
    budget = Budget(**bounds)  # type: ignore[arg-type]
    oracle = ExactOracle(target, equivalence=BY)
    return learn(as_function(target), equivalence=BY, oracle=oracle, learner=learner, budget=budget)


def assert_whole(result: Result, noted: Noted, target: PDFA) -> None:
    """The automaton is valid, its states are the model's, and all resolved arcs are right.

    States that were added to agree with answers come last, and their words lead to them.
    """
    pdfa, details, words = result.pdfa, result.certificate.details, result.access_words
    added = details.get("added_states", 0)
    assert isinstance(added, int)
    learnt = len(pdfa) - added
    assert len(words) == len(pdfa)
    assert len(set(words[:learnt])) == learnt
    assert pdfa.states_after(words[learnt:]).tolist() == list(range(learnt, len(pdfa)))
    rows = target.next_distributions(words[:learnt])
    assert np.array_equal(pdfa.probabilities[:learnt], rows)
    listed = set(map(tuple, result.unresolved.tolist()))
    if result.certificate.kind == "stopped":
        assert {pair for pair in listed if pair[0] < learnt} == set(noted.unresolved())
        symbols = pdfa.alphabet.symbols
        shown = [[state, symbols[code]] for state, code in result.unresolved[:10].tolist()]
        assert details["unresolved"] == len(result.unresolved) == len(listed)
        assert details["first_unresolved"] == shown
    classes = BY.classes(np.concatenate((pdfa.probabilities, target.probabilities)))
    assert (pdfa.transitions >= 0).all()
    for state, word in enumerate(words[:learnt]):
        for code, symbol in enumerate(pdfa.alphabet.symbols):
            if (state, code) not in listed:
                truth = target.state_after((*word, symbol))
                assert truth is not None
                assert classes[pdfa.transitions[state, code]] == classes[len(pdfa) + truth]


BOUNDS = st.one_of(
    st.fixed_dictionaries({"max_words": st.integers(1, 120)}),
    st.fixed_dictionaries({"max_symbols": st.integers(0, 300)}),
    st.fixed_dictionaries({"max_cost": st.integers(1, 120)}),
    st.fixed_dictionaries({"max_states": st.integers(1, 30)}),
    st.fixed_dictionaries({"max_word_length": st.integers(0, 6)}),
    st.fixed_dictionaries({"max_equivalence_queries": st.integers(0, 5)}),
    st.fixed_dictionaries({"max_words": st.integers(1, 60), "max_states": st.integers(1, 20)}),
)


@LEARNERS
@examples(60)
@given(st.integers(1, 30), st.integers(1, 3), st.sampled_from([None, 2]), BOUNDS, st.integers(0, 9))
def test_every_bound_holds_and_the_automaton_is_whole(
    learner: str,
    size: int,
    symbols: int,
    shared: int | None,
    bounds: dict[str, int],
    seed: int,
) -> None:
    target = random_pdfa(size, symbols, distributions=shared, seed=seed)
    noted = Noted(learner)
    result = run(target, noted, **bounds)
    costs, certificate = result.statistics, result.certificate
    assert costs.words + costs.audited_words <= bounds.get("max_words", 10**9)
    assert costs.words + costs.audited_words <= bounds.get("max_cost", 10**9)
    assert costs.symbols <= bounds.get("max_symbols", 10**9)
    assert len(result.pdfa) <= bounds.get("max_states", 10**9)
    assert costs.equivalence_queries <= bounds.get("max_equivalence_queries", 10**9)
    assert max(map(len, result.access_words)) <= bounds.get("max_word_length", 10**9)
    assert_whole(result, noted, target)
    if certificate.kind == "stopped":
        bound = certificate.details["bound"]
        assert certificate.details["limit"] == bounds[str(bound)]
    else:
        assert_is_quotient(result.pdfa, target, BY)


@LEARNERS
@pytest.mark.parametrize("capacity", mostly_slow([None, 3, 9]))
@pytest.mark.parametrize("prefixes_free", [True, False])
@examples(10)
@given(bounds=BOUNDS, seed=st.integers(0, 9))
def test_the_model_itself_is_not_asked_for_more(
    learner: str,
    capacity: int | None,
    prefixes_free: bool,
    bounds: dict[str, int],
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    target = random_pdfa(12, distributions=3, seed=seed)
    store = tmp_path_factory.mktemp("store") / "answers.db"
    for _ in range(2):
        model = WatchedModel(AutomatonModel(target), capacity=capacity, cost=COSTS[prefixes_free])
        oracle = ExactOracle(target, equivalence=BY)
        budget = Budget(**bounds)
        result = learn(
            model,
            equivalence=BY,
            oracle=oracle,
            learner=learner,
            budget=budget,
            store=store,
            model_id="m",
        )
        if not prefixes_free:
            assert len(model.asked) <= bounds.get("max_words", 10**9)
            assert len(model.asked) <= bounds.get("max_cost", 10**9)
        assert result.statistics.words + result.statistics.audited_words <= bounds.get(
            "max_words", 10**9
        )
        assert model.symbols <= bounds.get("max_symbols", 10**9)
        assert max(map(len, model.asked), default=0) <= bounds.get("max_word_length", 10**9)


PRICE = st.builds(
    QueryCost,
    call=st.sampled_from([0, 0, 3]),
    word=st.sampled_from([0, 1, 2.5]),
    prefix=st.sampled_from([0, 0, 1]),
    symbol=st.sampled_from([0, 1, 4]),
)


@pytest.mark.parametrize(
    ("cost", "limit", "seed"),
    [
        (QueryCost(call=3, word=2.5, prefix=1, symbol=1), 147, 193),
        (QueryCost(word=2.5, prefix=1), 113, 44),
    ],
)
def test_a_bound_may_end_a_split_whose_traces_are_not_known(
    cost: QueryCost, limit: int, seed: int
) -> None:
    target = random_pdfa(12, distributions=3, zero_probability=0.2, undefined=True, seed=seed)
    result = learn(
        WatchedModel(AutomatonModel(target), capacity=3, cost=cost),
        equivalence=BY,
        oracle=ExactOracle(target, equivalence=BY),
        budget=Budget(max_cost=limit),
    )
    assert result.certificate.details["bound"] == "max_cost"
    assert result.tree is not None
    found = list(leaves(result.tree))
    for leaf, path in found:
        assert leaf.access_word is not None
        for suffix, label in path.items():
            assert label == label_after(target, (*leaf.access_word, *suffix), BY)
    assert result.certificate.details["added_states"] == len(result.pdfa) - len(found)


@pytest.mark.slow
@LEARNERS
@pytest.mark.parametrize("room", [None, 3, 9])
@settings(max_examples=60, deadline=None)
@given(cost=PRICE, limit=st.integers(0, 400), seed=st.integers(0, 9))
def test_a_bound_on_the_cost_holds_at_any_cost(
    learner: str, room: int | None, cost: QueryCost, limit: int, seed: int
) -> None:
    target = random_pdfa(12, distributions=3, zero_probability=0.2, undefined=True, seed=seed)
    model = WatchedModel(AutomatonModel(target), capacity=room, cost=cost)
    noted = Noted(learner)
    budget = Budget(max_cost=limit)
    result = learn(
        model,
        equivalence=BY,
        oracle=ExactOracle(target, equivalence=BY),
        learner=noted,
        budget=budget,
    )
    costs, empty_word = result.statistics, cost.total(calls=1, words=1)
    words = costs.words + costs.audited_words
    spent = cost.total(
        calls=len(model.batches),
        words=words,
        prefixes=len(model.asked) - words,
        symbols=costs.symbols,
    )
    assert spent <= max(limit, empty_word)
    assert noted.learner.observations.meter.spent <= max(limit, empty_word)
    if result.certificate.kind == "stopped":
        assert result.certificate.details["bound"] == "max_cost"
    else:
        assert_is_quotient(result.pdfa, target, BY)


@LEARNERS
def test_one_state(learner: str) -> None:
    target = random_pdfa(50, 3, seed=1)
    result = run(target, learner, max_states=1)
    assert result.pdfa.transitions.tolist() == [[0, 0, 0]]
    assert result.certificate.details["bound"] == "max_states"
    assert result.certificate.details["unresolved"] == 3
    assert result.certificate.details["first_unresolved"] == [[0, "0"], [0, "1"], [0, "2"]]


@pytest.mark.slow
@LEARNERS
def test_a_bound_that_is_just_enough_is_not_reached(learner: str) -> None:
    target = random_pdfa(40, distributions=2, seed=3)
    free = run(target, learner, max_words=10**9)
    costs = free.statistics
    result = run(
        target,
        learner,
        max_words=costs.words + costs.audited_words,
        max_states=len(free.pdfa),
        max_equivalence_queries=costs.equivalence_queries,
        max_seconds=1e6,
    )
    assert result.certificate.kind == "exact"
    assert result.pdfa == free.pdfa
    assert_is_quotient(free.pdfa, target, BY)
    less = run(target, learner, max_words=costs.words - 1)
    assert less.certificate.details["bound"] == "max_words"
    assert less.statistics.words == costs.words - 1


def test_an_unresolved_transition_leads_to_the_nearest_distribution() -> None:
    target = PDFA(
        alphabet="ab",
        transitions=[[1, 2], [1, 1], [2, 2]],
        probabilities=[[0.2, 0.3, 0.5], [0.5, 0.3, 0.2], [0.45, 0.35, 0.2]],
    )
    result = learn(target, equivalence=BY, budget=Budget(max_states=2))
    assert result.access_words == [(), ("a",)]
    assert result.pdfa.transitions.tolist() == [[1, 1], [1, 1]]
    assert result.certificate.details["unresolved"] == 1
    assert result.certificate.details["first_unresolved"] == [[0, "b"]]


def test_the_word_that_was_too_long_is_named() -> None:
    result = run(chain(20), "quant", max_word_length=5)
    assert result.certificate.details["bound"] == "max_word_length"
    where = result.certificate.details["where"]
    assert isinstance(where, list)
    assert len(where) > 5
    assert "was reached at the word" in str(result.certificate)


@LEARNERS
def test_seconds(learner: str) -> None:
    target = random_pdfa(2000, 4, seed=1)

    def slow(words: list[tuple[object, ...]]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        time.sleep(0.01)
        return target.next_distributions(words)

    model = FunctionModel(slow, target.alphabet)
    for seconds in (0.0, 0.03):
        noted = Noted(learner)
        result = learn(
            model,
            equivalence=BY,
            oracle=ExactOracle(target, equivalence=BY),
            learner=noted,
            budget=Budget(max_seconds=seconds),
        )
        assert result.certificate.details["bound"] == "max_seconds"
        assert_whole(result, noted, target)


@pytest.mark.slow
def test_a_large_run_stops_in_the_middle() -> None:
    target, noted = random_pdfa(20_000, seed=2), Noted("quant")
    result = learn(target, equivalence=BY, learner=noted, budget=Budget(max_words=15_000))
    assert result.statistics.words + result.statistics.audited_words == 15_000
    assert_whole(result, noted, target)
    again = learn(target, equivalence=BY, budget=Budget(max_words=15_000))
    assert again.pdfa == result.pdfa


@pytest.mark.parametrize(
    ("bounds", "culprit"),
    [
        ({"max_words": 0}, "max_words 0"),
        ({"max_states": 0}, "max_states 0"),
        ({"max_symbols": -1}, "max_symbols -1"),
        ({"max_cost": -0.5}, "max_cost -0.5"),
        ({"max_cost": "2"}, "max_cost '2'"),
        ({"max_seconds": -1}, "max_seconds -1"),
        ({"max_seconds": float("nan")}, "max_seconds nan"),
        ({"max_word_length": 1.5}, "max_word_length 1.5"),
        ({"max_equivalence_queries": "3"}, "max_equivalence_queries '3'"),
    ],
)
def test_bounds_that_are_none(bounds: dict[str, object], culprit: str) -> None:
    with pytest.raises(InputError, match=culprit):
        Budget(**bounds)  # type: ignore[arg-type]


def test_a_budget_has_to_be_one() -> None:
    with pytest.raises(InputError, match="is not a Budget"):
        learn(random_pdfa(3, seed=1), budget=100)  # type: ignore[arg-type]


def test_no_bound_on_words_is_spent_on_longer_suffixes() -> None:
    target, equivalence = random_pdfa(60, seed=39), Quantization(2)
    for budget in (Budget(max_word_length=16), Budget(max_symbols=10_000)):
        traces = learn(target, equivalence=equivalence, budget=budget)
        classes = learn(target, equivalence=equivalence, budget=budget, learner="quant-classes")
        assert traces.certificate.kind == classes.certificate.kind == "exact"
        assert_is_quotient(traces.pdfa, target, equivalence)


@pytest.mark.parametrize("most", [150, 700, 1500])
def test_something_is_left_to_use_a_counterexample(most: int) -> None:
    """A sample must not use the budget up before its answers are looked at."""
    target = figure_3()
    result = learn(as_function(target), equivalence=Quantization(10), budget=Budget(max_words=most))
    assert len(result.pdfa) == len(quotient(target, equivalence=Quantization(10))) == 4
    assert result.certificate.kind == "stopped"
