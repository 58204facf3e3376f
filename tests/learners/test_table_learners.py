"""What holds of a run with any learner that keeps a table."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, FunctionModel, Quantization, Tolerance, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.equivalence.relations import Relation
from pdfalearn.errors import InputError, OracleError
from pdfalearn.learners import LPStar, WLStar
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ExactOracle
from pdfalearn.results import LearningInterrupted, Progress
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.learners.checks import untimed
from tests.learners.tables import (
    TABLE_LEARNERS,
    assert_is_exact_quotient,
    is_within,
    need_learner,
)
from tests.models.hooked import HookedModel
from tests.models.watched import COSTS, WatchedModel
from tests.support import examples

TARGET = random_pdfa(40, 2, distributions=3, seed=11)
BY = Tolerance(0.001)


@TABLE_LEARNERS
def test_two_runs_are_the_same(name: str) -> None:
    need_learner(name)
    first, second = (learn(TARGET, learner=name, equivalence=BY) for _ in range(2))
    assert first.pdfa == second.pdfa
    assert first.access_words == second.access_words
    assert untimed(first.statistics) == untimed(second.statistics)


@TABLE_LEARNERS
def test_the_result_says_what_it_is(name: str) -> None:
    need_learner(name)
    result = learn(TARGET, learner=name, equivalence=BY)
    statistics = result.statistics
    assert_is_exact_quotient(result.pdfa, TARGET)
    assert str(result.certificate) == "exact: within 0.001 of the target after every word"
    assert statistics.states == len(result.pdfa) == result.history[-1].states
    assert (statistics.tree_depth, statistics.inner_nodes) == (0, 0)
    assert statistics.structure_size > statistics.states * (len(TARGET.alphabet) + 1)
    assert statistics.words <= statistics.structure_size
    assert statistics.distributions == sum(statistics.batches)
    assert result.access_words[0] == ()
    assert result.pdfa.states_after(result.access_words).tolist() == list(range(len(result.pdfa)))
    with pytest.raises(InputError, match="keeps an observation table, and no classification tree"):
        _ = result.tree


@TABLE_LEARNERS
def test_the_library_is_silent(
    name: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    need_learner(name)
    seen: list[Progress] = []
    with caplog.at_level(logging.DEBUG):
        learn(TARGET, learner=name, equivalence=BY, progress=seen.append)
    assert len(seen) > 3
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "equivalence", "culprit"),
    [
        ("wlstar", Quantization(10), r"not a similarity, .*; use Tolerance\(t\)"),
        ("wlstar", 0.1, "0.1 is not a similarity"),
        ("lpstar", 0.1, "0.1 is not an equivalence"),
        ("lpstar", None, "None is not an equivalence"),
    ],
)
def test_relations_that_will_not_do(name: str, equivalence: Relation, culprit: str) -> None:
    model = WatchedModel(AutomatonModel(TARGET))
    with pytest.raises(InputError, match=culprit):
        learn(
            model, learner=name, equivalence=equivalence, oracle=ExactOracle(TARGET, equivalence=BY)
        )
    assert not model.batches


def test_learners_are_found_by_name_or_made_by_a_callable() -> None:
    with pytest.raises(
        InputError, match="there are quant, quant-classes, quant-paper, lpstar, wlstar"
    ):
        learn(TARGET, learner="lstar", equivalence=BY)
    with pytest.raises(InputError, match="not a similarity"):
        learn(TARGET, learner=WLStar, equivalence=Quantization(10))
    with pytest.raises(InputError, match="is not an equivalence"):
        learn(TARGET, learner=WLStar, equivalence=0.1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_states 0"):
        learn(TARGET, learner=lambda tree: WLStar(tree, max_states=0), equivalence=BY)


@TABLE_LEARNERS
def test_a_learner_must_be_started(name: str) -> None:
    from pdfalearn.learning.loop import SIMILARITY_LEARNERS

    learner = SIMILARITY_LEARNERS[name](ObservationTree(AutomatonModel(TARGET), BY))
    assert learner.size == 0
    with pytest.raises(InputError, match="call start"):
        learner.hypothesis()


@pytest.mark.slow
@TABLE_LEARNERS
def test_functions_and_models_with_few_handles(name: str) -> None:
    need_learner(name)
    expected = learn(TARGET, learner=name, equivalence=BY).pdfa
    oracle = ExactOracle(TARGET, equivalence=BY)
    function = FunctionModel(TARGET.next_distributions, TARGET.alphabet)
    assert learn(function, learner=name, equivalence=BY, oracle=oracle).pdfa == expected
    for capacity in (None, 3, 40):
        model = WatchedModel(AutomatonModel(TARGET), capacity=capacity, cost=COSTS[False])
        assert learn(model, learner=name, equivalence=BY, oracle=oracle, audit=0).pdfa == expected
        assert len(set(model.asked)) == len(model.asked)


@pytest.mark.slow
@TABLE_LEARNERS
def test_undefined_words_are_no_prefixes_and_no_states(name: str) -> None:
    need_learner(name)
    for seed in range(6):
        target = random_pdfa(
            20, 3, distributions=3, zero_probability=0.4, undefined=True, seed=seed
        )
        result = learn(target, learner=name, equivalence=BY)
        assert_is_exact_quotient(result.pdfa, target)
        assert target.states_after(result.access_words).min() >= 0


@TABLE_LEARNERS
@pytest.mark.parametrize("wrong", ["", "0", "010"])
def test_a_word_that_is_no_counterexample_is_refused(name: str, wrong: str) -> None:
    need_learner(name)

    class Stubborn(ExactOracle):
        def counterexamples(
            self, hypothesis: PDFA, observations: ObservationTree | None = None
        ) -> Words:
            return TARGET.alphabet.encode_words([wrong])

    with pytest.raises(OracleError, match="is not a counterexample"):
        learn(TARGET, learner=name, equivalence=BY, oracle=Stubborn(TARGET, equivalence=BY))


@pytest.mark.slow
@TABLE_LEARNERS
def test_an_interrupted_run_keeps_its_last_hypothesis(name: str) -> None:
    need_learner(name)
    target = random_pdfa(12, 2, distributions=2, seed=5)

    class Fused(HookedModel):
        def __init__(self, calls: int) -> None:
            super().__init__(target)
            self.calls = calls

        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            self.calls -= 1
            if self.calls < 0:
                raise KeyboardInterrupt
            return inner.answer(batch)

    oracle, sizes = ExactOracle(target, equivalence=BY), []
    for calls in range(1, 1000):
        try:
            learn(Fused(calls), learner=name, equivalence=BY, oracle=oracle, audit=0)
            break
        except LearningInterrupted as interrupt:
            result = interrupt.result
            assert result is not None  # the empty word has been answered
            sizes.append(len(result.pdfa))
            assert len(result.access_words) == len(result.pdfa)
            rows = target.next_distributions(result.access_words)
            assert np.array_equal(result.pdfa.probabilities, rows)
    assert sizes == sorted(sizes)
    assert max(sizes) > 1


BOUNDS: list[Callable[[int], Budget]] = [
    lambda bound: Budget(max_words=bound + 1),
    lambda bound: Budget(max_symbols=3 * bound),
    lambda bound: Budget(max_states=bound + 1),
    lambda bound: Budget(max_word_length=bound // 4),
    lambda bound: Budget(max_equivalence_queries=bound // 6),
]


@TABLE_LEARNERS
@examples(40)
@given(st.integers(1, 30), st.integers(1, 3), st.sampled_from(BOUNDS), st.integers(0, 40))
def test_bounds_hold_and_the_automaton_is_whole(
    name: str, size: int, symbols: int, bound: Callable[[int], Budget], limit: int
) -> None:
    need_learner(name)
    target = random_pdfa(size, symbols, distributions=3, seed=limit)
    budget = bound(limit)
    result = learn(target, learner=name, equivalence=BY, budget=budget)
    costs = result.statistics
    assert costs.words + costs.audited_words <= (budget.max_words or 10**9)
    assert costs.symbols <= (10**9 if budget.max_symbols is None else budget.max_symbols)
    assert len(result.pdfa) <= (budget.max_states or 10**9)
    rows = target.next_distributions(result.access_words)
    assert np.array_equal(result.pdfa.probabilities, rows)
    if result.certificate.kind == "exact":
        assert is_within(result.pdfa, target, BY)
    else:
        assert result.certificate.kind == "stopped"
        assert result.certificate.details["limit"] in vars(budget).values()


def test_classes_are_near_by_equal_cells_and_not_by_their_numbers() -> None:
    made: list[LPStar] = []

    def make(tree: ObservationTree) -> LPStar:
        made.append(LPStar(tree))
        return made[0]

    target = random_pdfa(30, 2, distributions=3, exact_size=True, seed=0)
    learn(target, learner=make, equivalence=Quantization(10), budget=Budget(max_states=5), audit=0)
    table = made[0].table
    members, targets, is_lost = made[0]._members()
    assert is_lost.any()
    for place, symbol in np.argwhere(is_lost).tolist():
        row = table.rows[table.successors(members[[place]])[0, symbol]]
        equal = (table.rows[members] == row).sum(axis=1)
        assert equal[targets[place, symbol]] == equal.max()


def test_a_table_that_a_bound_kept_open_leads_to_the_nearest_states() -> None:
    target = PDFA(
        alphabet="ab",
        transitions=[[1, 2], [1, 1], [2, 2]],
        probabilities=[[0.2, 0.3, 0.5], [0.5, 0.3, 0.2], [0.45, 0.35, 0.2]],
    )
    result = learn(
        target, learner="lpstar", equivalence=Tolerance(0.01), budget=Budget(max_states=2)
    )
    assert result.access_words == [(), ("a",)]
    assert result.pdfa.transitions.tolist() == [[1, 1], [1, 1]]
    assert result.unresolved.tolist() == [[0, 1]]
    assert result.certificate.details["unresolved"] == 1
    assert result.certificate.details["first_unresolved"] == [[0, "b"]]
