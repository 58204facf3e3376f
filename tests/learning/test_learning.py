"""One call to learn: what comes out, what it says about the way there, and what it refuses."""

from __future__ import annotations

import logging
from dataclasses import fields

import pytest

from pdfalearn import PDFA, FunctionModel, Quantization, Result, Tolerance, learn
from pdfalearn.datasets import chain, figure_3, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.learners import ObservationTree
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.models.protocol import EVERY_WORD, LanguageModel
from pdfalearn.oracles import ExactOracle
from pdfalearn.results import Progress
from pdfalearn.samplers import Words
from tests.learners.checks import assert_is_quotient, untimed
from tests.models.watched import WatchedModel

TARGET = random_pdfa(40, 2, distributions=3, seed=11)
NAMES = pytest.mark.parametrize("name", LEARNERS)


@NAMES
def test_two_runs_are_the_same(name: str) -> None:
    first, second = (learn(TARGET, learner=name) for _ in range(2))
    assert first.pdfa == second.pdfa
    assert first.access_words == second.access_words
    assert untimed(first.statistics) == untimed(second.statistics)
    assert list(map(untimed, first.history)) == list(map(untimed, second.history))


@NAMES
def test_statistics_and_history_are_consistent(name: str) -> None:
    result = learn(TARGET, learner=name)
    statistics, history = result.statistics, result.history
    assert statistics.states == history[-1].states == len(result.pdfa)
    assert statistics.equivalence_queries == len(history)
    assert [entry.equivalence_queries for entry in history] == list(range(len(history)))
    assert_grow([*history, statistics])
    assert statistics.words <= statistics.distributions == sum(statistics.batches)
    assert min(statistics.batches) > 0
    assert_counterexamples_are_told(result)
    assert statistics.inner_nodes < statistics.states
    assert 1 <= statistics.tree_depth <= statistics.inner_nodes
    assert statistics.learning_seconds > 0
    assert statistics.equivalence_seconds > 0
    assert statistics.learning_process_seconds > 0
    assert statistics.equivalence_process_seconds > 0
    assert result.certificate.kind == "exact"


def assert_counterexamples_are_told(result: Result) -> None:
    statistics = result.statistics
    *found, last = statistics.counterexamples
    assert (len(found), last) == (len(result.history) - 1, 0)
    assert min(found, default=1) >= 1
    assert len(statistics.longest_counterexamples) == len(statistics.counterexamples)
    assert statistics.longest_counterexamples[-1] == 0
    assert f"counterexamples={sum(found)}," in repr(statistics)


def assert_grow(entries: list[Progress]) -> None:
    for field in fields(Progress):
        values = [getattr(entry, field.name) for entry in entries]
        assert values == sorted(values), field.name


@NAMES
def test_access_words_lead_to_their_states(name: str) -> None:
    result = learn(TARGET, learner=name)
    assert result.access_words[0] == ()
    assert result.pdfa.states_after(result.access_words).tolist() == list(range(len(result.pdfa)))


@NAMES
def test_progress_grows_with_every_batch_and_equivalence_query(name: str) -> None:
    seen: list[Progress] = []
    result = learn(TARGET, learner=name, progress=seen.append)
    assert_grow(seen)
    queries = result.statistics.equivalence_queries
    assert len(seen) == len(result.statistics.batches) + queries
    assert {entry.equivalence_queries for entry in seen} == set(range(queries + 1))
    assert seen[-1].words == result.statistics.words
    assert learn(TARGET, learner=name).pdfa == result.pdfa


@NAMES
def test_the_library_is_silent(
    name: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers), root.disabled)
    with caplog.at_level(logging.DEBUG):
        learn(TARGET, learner=name, progress=lambda _: None)
    assert (root.level, list(root.handlers), root.disabled) == before
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_a_target_of_one_state() -> None:
    result = learn(chain(1), learner="quant-paper")
    assert result.pdfa == learn(chain(1)).pdfa == chain(1)
    assert result.tree.suffix == ()
    assert result.statistics.equivalence_queries == 1


def test_a_model_may_come_with_an_oracle() -> None:
    target = figure_3()
    equivalence = Quantization(10)
    plain: Result = learn(target, equivalence=equivalence)
    wrapped = learn(
        AutomatonModel(target),
        equivalence=equivalence,
        oracle=ExactOracle(target, equivalence=equivalence),
    )
    assert wrapped.pdfa == plain.pdfa


@pytest.mark.parametrize("kappa", [0, -1, 2.5, "10", None, True, 2**41])
def test_bad_kappas_are_refused(kappa: int) -> None:
    with pytest.raises(InputError, match="kappa"):
        learn(TARGET, equivalence=Quantization(kappa))


@pytest.mark.parametrize("equivalence", [Tolerance(0.1), 10, None])
def test_what_is_no_equivalence_is_refused(equivalence: Quantization) -> None:
    with pytest.raises(InputError, match="not an equivalence"):
        learn(TARGET, equivalence=equivalence)


def test_unknown_learners_are_named() -> None:
    with pytest.raises(
        InputError, match="no learner 'ttt'; there are quant, quant-classes, quant-paper"
    ):
        learn(TARGET, learner="ttt")


ORACLE = ExactOracle(TARGET, equivalence=Quantization(1000))


@pytest.mark.parametrize("oracle", [None, ORACLE])
@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        (lambda words: [[0.5, 0.5] for _ in words], "FunctionModel"),
        ("model.json", "a subclass of LanguageModel"),
        (None, "a subclass of LanguageModel"),
    ],
)
def test_what_is_no_model_is_refused(
    model: LanguageModel, remedy: str, oracle: ExactOracle | None
) -> None:
    with pytest.raises(InputError, match=f"neither a PDFA nor a LanguageModel.*{remedy}"):
        learn(model, oracle=oracle)


def test_an_automaton_as_a_model_is_compared_exactly() -> None:
    result = learn(AutomatonModel(TARGET, cost=EVERY_WORD))
    assert_is_quotient(result.pdfa, TARGET, Quantization(1000))
    assert result.certificate.kind == "exact"


def test_other_models_are_sampled_where_no_oracle_is_given() -> None:
    result = learn(FunctionModel(TARGET.next_distributions, TARGET.alphabet))
    assert_is_quotient(result.pdfa, TARGET, Quantization(1000))
    details = result.certificate.details
    assert result.certificate.kind == "pac"
    assert (details["epsilon"], details["delta"]) == (0.01, 0.01)
    assert details["sampler"] == "uniform words of up to 20 symbols"
    assert "agrees with all answers so far" in result.certificate.statement


def test_the_seed_chooses_the_words_that_are_sampled() -> None:
    asked = []
    for seed in (1, 1, 2):
        model = WatchedModel(AutomatonModel(TARGET))
        learn(model, seed=seed, audit=0)
        asked.append(model.asked)
    assert asked[0] == asked[1] != asked[2]


def test_the_oracle_of_another_alphabet_is_refused() -> None:
    loop = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.2, 0.3, 0.5]])
    with pytest.raises(InputError, match="alphabets differ"):
        learn(loop, oracle=ORACLE)


@NAMES
def test_counterexamples_are_counted_as_the_oracle_gave_them(name: str) -> None:
    class Noting(ExactOracle):
        def counterexamples(
            self, hypothesis: PDFA, observations: ObservationTree | None = None
        ) -> Words:
            words = super().counterexamples(hypothesis, observations)
            given.append((len(words), max(map(len, words), default=0)))
            return words

    given: list[tuple[int, int]] = []
    result = learn(TARGET, learner=name, oracle=Noting(TARGET, equivalence=Quantization(1000)))
    statistics = result.statistics
    found = zip(statistics.counterexamples, statistics.longest_counterexamples, strict=True)
    assert list(found) == given
