"""Under a budget likely words come first, and what is unresolved goes where suffixes lead."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.budgets import FAMILIES, divergence, learnt
from pdfalearn import Budget, Quantization, TopK, learn
from pdfalearn.alphabet import WordTree
from pdfalearn.datasets import random_pdfa
from pdfalearn.learners._unresolved import suffix_matches
from pdfalearn.models import AutomatonModel
from pdfalearn.models.protocol import FREE, QueryCost
from pdfalearn.oracles import ExactOracle
from tests.learners.checks import assert_is_quotient
from tests.learners.endless import EndlessModel
from tests.learners.noted import Noted
from tests.models.watched import WatchedModel
from tests.support import examples

BY = Quantization(1000)
ENOUGH = (
    Budget(max_words=10**6),
    Budget(max_symbols=10**7, max_word_length=10**3),
    Budget(max_cost=1e9),
    Budget(max_seconds=1e6),
)


@pytest.mark.parametrize("name", ["quant", "quant-classes"])
@pytest.mark.parametrize("cost", [FREE, QueryCost(symbol=1), QueryCost(word=1, prefix=1)], ids=str)
@examples(30)
@given(
    size=st.integers(1, 60),
    symbols=st.sampled_from([1, 2, 5, 40]),
    shared=st.sampled_from([None, 2]),
    has_gaps=st.booleans(),
    budget=st.sampled_from(ENOUGH),
    seed=st.integers(0, 99),
)
def test_a_budget_that_is_not_reached_changes_nothing(
    name: str,
    cost: QueryCost,
    size: int,
    symbols: int,
    shared: int | None,
    has_gaps: bool,
    budget: Budget,
    seed: int,
) -> None:
    target = random_pdfa(
        size, symbols, distributions=shared, zero_probability=0.4 * has_gaps, undefined=has_gaps,
        seed=seed,
    )  # fmt: skip
    model = WatchedModel(AutomatonModel(target), cost=cost)
    oracle = ExactOracle(target, equivalence=BY)
    result = learn(model, equivalence=BY, oracle=oracle, learner=name, budget=budget)
    assert result.certificate.kind == "exact"
    assert_is_quotient(result.pdfa, target, BY)


def test_sparse_rows_under_a_budget() -> None:
    target = random_pdfa(30, 40, seed=5)
    free = learn(TopK(target, 5), equivalence=BY)
    bounded = learn(TopK(target, 5), equivalence=BY, budget=Budget(max_words=10**6))
    assert free.certificate.kind == bounded.certificate.kind == "exact"
    assert_is_quotient(bounded.pdfa, free.pdfa, BY)


@pytest.mark.parametrize("count", [200, 1500])
def test_the_likeliest_words_are_asked(count: int) -> None:
    model = WatchedModel(EndlessModel())
    learn(model, equivalence=BY, budget=Budget(max_words=count), audit=0)
    inner, asked = EndlessModel(), set(model.asked)
    assert len(asked) == count
    best = inner.likeliest(count)
    assert len(asked & set(best)) > 0.9 * count
    mass = sum(map(inner.probability, asked))
    assert mass > 0.98 * sum(map(inner.probability, best))


def test_a_run_in_pieces_is_the_same_as_one_run(tmp_path: Path) -> None:
    store = tmp_path / "answers.db"
    for count in (100, 300, 500):
        model, budget = EndlessModel(), Budget(max_words=count)
        part = learn(model, equivalence=BY, budget=budget, audit=0, store=store)
    answered = part.statistics.words + part.statistics.stored_words
    assert answered > 880
    whole = learn(EndlessModel(), equivalence=BY, budget=Budget(max_words=answered), audit=0)
    assert whole.statistics.words == answered
    assert whole.pdfa == part.pdfa


def brute_force(table: np.ndarray[tuple[int, int], np.dtype[np.int64]], word: list[int]) -> int:
    for begin in range(1, len(word)):
        state = 0
        for symbol in word[begin:]:
            state = int(table[state, symbol])
        if state >= 0:
            return state
    return -1


@examples(100)
@given(
    states=st.integers(1, 12),
    symbols=st.integers(1, 4),
    share=st.sampled_from([0.1, 0.5, 0.9]),
    seed=st.integers(0, 10**6),
)
def test_suffixes_against_brute_force(states: int, symbols: int, share: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes = 2 * states
    parents = np.array([0, *(random.integers(node) for node in range(1, nodes))], dtype=np.int32)
    last = random.integers(symbols, size=nodes).astype(np.int32)
    ends = random.permutation(nodes)[:states].astype(np.int32)
    table = random.integers(states, size=(states + 1, symbols))
    table[random.random(table.shape) < share] = -1
    table[-1] = -1
    words: list[list[int]] = [[]]
    for node in range(1, nodes):
        words.append([*words[parents[node]], int(last[node])])
    places = np.arange(states * symbols)
    found = suffix_matches(table, WordTree(parents, last, ends), places)
    expected = [
        brute_force(table, [*words[ends[place // symbols]], place % symbols])
        for place in places.tolist()
    ]
    assert found.tolist() == expected


def test_an_unresolved_transition_goes_where_its_longest_suffix_leads() -> None:
    noted = Noted("quant")
    learn(EndlessModel(), equivalence=BY, learner=noted, budget=Budget(max_words=400), audit=0)
    hypothesis, unresolved = noted.learner.hypothesis(), noted.learner.unresolved()
    table = hypothesis.table.astype(np.int64)
    assert len(unresolved) > 300
    table.reshape(-1)[unresolved] = -1
    words = noted.learner.findings().access_words.decoded(hypothesis.alphabet)
    for state, symbol in noted.unresolved():
        word = [*hypothesis.alphabet.encode(words[state]), symbol]
        expected = brute_force(table, word)
        assert expected in (-1, hypothesis.transitions[state, symbol])


@pytest.mark.parametrize("name", ["quant", "quant-classes"])
def test_what_is_unresolved_leads_to_a_state_of_its_class(name: str) -> None:
    split = 0
    for seed in range(12):
        target, noted = random_pdfa(60, 3, distributions=3, seed=seed), Noted(name)
        oracle, budget = ExactOracle(target, equivalence=BY), Budget(max_words=200 + 20 * seed)
        learn(target, equivalence=BY, oracle=oracle, learner=noted, audit=0, budget=budget)
        observations, learner = noted.learner.observations, noted.learner
        befores, symbols = np.divmod(learner.unresolved(), 3)
        words = learner.findings().access_words.decoded(target.alphabet)
        nodes = np.array(
            [observations.node(target.alphabet.encode(word).tolist()) for word in words]
        )
        asked = observations.nodes.step(nodes[befores], symbols)
        known = observations.nodes.classes[asked] >= 0
        ends = learner.hypothesis().transitions[befores, symbols]
        classes = observations.nodes.classes[nodes[ends]]
        assert (classes[known] == observations.nodes.classes[asked][known]).all()
        split += int(known.sum())
    assert split > 50


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kappa"), [("noisy", 100), ("skewed", 20)])
def test_more_budget_gives_a_better_automaton(name: str, kappa: int) -> None:
    models = [FAMILIES[name](seed) for seed in (1, 2)]
    means = [
        mean(divergence(model, learnt(model, kappa, symbols).pdfa, 200) for model in models)
        for symbols in (250, 1_000, 4_000, 16_000)
    ]
    assert all(after < 1.02 * before for before, after in pairwise(means))
    assert means[-1] < means[0] / 3
