"""The W and the Wp method find every fault of a bounded size, and say how large it may be."""

from __future__ import annotations

import copy
from random import Random
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.oracles import changed_automata
from pdfalearn import PDFA, Tolerance, distinguish, learn, quotient
from pdfalearn.datasets import chain, combination_lock, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel, FunctionModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import (
    AllWordsOracle,
    ChainOracle,
    EquivalenceOracle,
    KnownAnswersOracle,
    MixedOracle,
    PACOracle,
    RandomWpOracle,
    StatePrefixOracle,
    WeissOracle,
    WOracle,
    WpOracle,
)
from pdfalearn.oracles.conformance import telling_suffixes
from pdfalearn.samplers import HypothesisWords, UniformWords
from pdfalearn.words import visited_states
from tests.oracles.helpers import BY, tree
from tests.strategies import pdfas, shuffled

BOTH = [WOracle, WpOracle]


@settings(max_examples=20)
@given(pdfas(alphabet="ab"))
def test_suffixes_tell_all_states_apart_and_are_all_needed(pdfa: PDFA) -> None:
    small = quotient(pdfa, equivalence=BY)
    words, needed = telling_suffixes(small, BY.classes(small.probabilities))
    labels = np.append(BY.classes(small.probabilities), -1)
    starts, count = np.arange(len(small)), len(small)
    runs = [
        visited_states(small.table, starts, words.take(np.full(count, k)))
        for k in range(len(words))
    ]
    ways = [run.reshape(count, -1) for run in runs]
    for state in range(count):
        outputs = np.hstack([labels[ways[k]] for k in needed[state].nonzero()[0]])
        assert (outputs == outputs[state]).all(axis=1).nonzero()[0].tolist() == [state]
    assert needed[-1].tolist() == [True] + [False] * (len(words) - 1)


@pytest.mark.parametrize("make", BOTH)
@settings(max_examples=20)
@given(pdfas(alphabet="ab", max_states=5), pdfas(alphabet="ab", max_states=4), st.integers(0, 2))
def test_every_automaton_with_few_more_states_is_found(
    make: type[WOracle], target: PDFA, hypothesis: PDFA, extra: int
) -> None:
    size = len(quotient(hypothesis, equivalence=BY))
    extra = max(extra, len(quotient(target, equivalence=BY)) - size)
    oracle = make(extra_states=extra)
    found = oracle.counterexamples(hypothesis, tree(target))
    assert bool(len(found)) == (distinguish(target, hypothesis, equivalence=BY) is not None)
    if not len(found):
        assert oracle.certificate.statement.endswith(f"at most {size + extra} states")


@pytest.mark.slow
@pytest.mark.parametrize("make", BOTH)
def test_all_mutants_are_found(make: type[WOracle]) -> None:
    target = quotient(random_pdfa(3, distributions=2, exact_size=True, seed=6), equivalence=BY)
    different = 0
    for mutant in changed_automata(target):
        is_different = distinguish(target, mutant, equivalence=BY) is not None
        found = make(extra_states=1).counterexamples(target, tree(mutant))
        assert bool(len(found)) == is_different
        different += is_different
    assert different > 50


def test_as_many_words_as_the_bound_allows_and_fewer_by_wp() -> None:
    target = quotient(random_pdfa(12, distributions=2, seed=1), equivalence=BY)
    suffixes = len(telling_suffixes(target, BY.classes(target.probabilities))[0])
    counts = []
    for make in BOTH:
        oracle = make(extra_states=2)
        assert not len(oracle.counterexamples(target, tree(target)))
        counts.append(cast("int", oracle.certificate.details["words"]))
    assert counts[1] < counts[0] <= len(target) * (1 + 2 + 4 + 8) * suffixes


@pytest.mark.parametrize("target", [combination_lock(9, seed=3), chain(10, reset=True)])
def test_what_sampling_misses_is_found(target: PDFA) -> None:
    model = FunctionModel(target.next_distributions, target.alphabet)
    sampling = PACOracle(epsilon=0.05, delta=0.1, sampler=UniformWords(10))
    assert len(learn(model, equivalence=BY, oracle=sampling).pdfa) == 1
    # The first query of one state has to find the whole chain; then two states more are enough.
    first, then = WpOracle(extra_states=9), RandomWpOracle(walks_per_state=5, walk_length=2)
    almost = np.where(target.transitions == len(target) - 1, 0, target.transitions)[:-1]
    cut = PDFA(
        alphabet=target.alphabet, transitions=almost, probabilities=target.probabilities[:-1]
    )
    assert len(first.counterexamples(quotient(cut, equivalence=BY), tree(target)))
    assert not len(then.counterexamples(target, tree(target)))


def test_suffixes_find_transitions_that_walks_take_for_right() -> None:
    # A transition to state 3 instead of 0 shows only four symbols later.
    target = chain(8, reset=True)
    wrong = target.transitions.copy()
    wrong[6, 1] = 3
    mutant = PDFA(alphabet=target.alphabet, transitions=wrong, probabilities=target.probabilities)
    walks = StatePrefixOracle(walks_per_state=20, walk_length=3)
    suffixes = RandomWpOracle(walks_per_state=20, walk_length=3)
    assert not len(walks.counterexamples(target, tree(mutant)))
    assert len(suffixes.counterexamples(target, tree(mutant)))


MAKERS: list[EquivalenceOracle] = [
    WOracle(extra_states=1),
    WpOracle(extra_states=1),
    RandomWpOracle(walks_per_state=5, walk_length=4, seed=1),
    StatePrefixOracle(walks_per_state=5, walk_length=4, seed=1),
    AllWordsOracle(5),
    PACOracle(epsilon=0.05, delta=0.1, sampler=HypothesisWords(6), seed=1),
    WeissOracle(attempts=40, max_length=6, seed=1),
    ChainOracle(KnownAnswersOracle(), MixedOracle(AllWordsOracle(3), WpOracle(extra_states=1))),
]


@pytest.mark.parametrize("place", range(len(MAKERS)))
@settings(max_examples=20)
@given(pdfas(alphabet="ab"), pdfas(alphabet="ab"), st.randoms())
def test_counterexamples_do_not_depend_on_the_numbering_of_states(
    place: int, target: PDFA, hypothesis: PDFA, random: Random
) -> None:
    order = list(range(len(hypothesis)))
    random.shuffle(order)
    found = [
        list(copy.deepcopy(MAKERS[place]).counterexamples(one, tree(target)))
        for one in (hypothesis, shuffled(hypothesis, np.array(order)))
    ]
    assert found[0] == found[1]


def test_a_mixed_oracle_asks_first_who_has_found_most() -> None:
    target = combination_lock(7, seed=1)
    oracle = MixedOracle(AllWordsOracle(4), WpOracle(extra_states=6))
    found = learn(
        FunctionModel(target.next_distributions, target.alphabet), equivalence=BY, oracle=oracle
    )
    assert len(found.pdfa) == 7
    assert oracle.finds[0] == 0 < oracle.finds[1]
    members = cast("list[dict[str, Any]]", found.certificate.details["members"])
    assert [one["statement"] for one in members] == [
        "model and automaton agree on all words of up to 4 symbols",
        "equivalent to the model, if that has at most 13 states",
    ]


@pytest.mark.parametrize("make", BOTH)
def test_bad_input_is_refused(make: type[WOracle]) -> None:
    for extra in (-1, 0.5, None):
        with pytest.raises(InputError, match="extra_states"):
            make(extra_states=extra)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="choose fewer extra states"):
        make(extra_states=30).counterexamples(chain(3, reset=True), tree(chain(3, reset=True)))
    observations = ObservationTree(AutomatonModel(chain(3)), Tolerance(0.1))
    with pytest.raises(InputError):
        make(extra_states=1).counterexamples(chain(3), observations)
    with pytest.raises(InputError, match="at least one"):
        MixedOracle()
