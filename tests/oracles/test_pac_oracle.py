"""PAC sampling: how many words, fresh ones, in parts; a certificate only for what has passed."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest

from pdfalearn import PDFA, Budget, Corpus, Quantization, learn
from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.errors import InputError, OracleError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import PACOracle, UnreachableSymbolWarning
from pdfalearn.rows import Rows
from pdfalearn.samplers import Sampler, UniformWords
from pdfalearn.words import Words
from tests.models.hooked import HookedModel
from tests.models.watched import COSTS, WatchedModel

BY = Quantization(10)
TARGET = figure_3()
WRONG = PDFA(alphabet="01", transitions=[[0, 0]], probabilities=[[0.0, 0.5, 0.5]])
"""Differs from the target after every word but the empty one."""


def tree(model: AutomatonModel | None = None) -> ObservationTree:
    return ObservationTree(model or AutomatonModel(TARGET), BY)


@dataclass
class Noting:
    """Uniform words, all of which it notes."""

    counts: list[int] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    name = "noted words"

    def draw(
        self,
        count: int,
        hypothesis: PDFA,
        observations: ObservationTree,
        random: np.random.Generator,
    ) -> Words:
        self.counts.append(count)
        self.words.append(UniformWords(20).draw(count, hypothesis, observations, random))
        return self.words[-1]

    def unreachable_symbols(self, alphabet: Alphabet) -> list[Symbol]:
        return []


@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.003])
@pytest.mark.parametrize("delta", [0.9, 0.1, 1e-6])
def test_the_number_of_words_grows_from_query_to_query(epsilon: float, delta: float) -> None:
    sampler = Noting()
    oracle = PACOracle(epsilon=epsilon, delta=delta, sampler=sampler)
    observations = tree()
    for query in range(1, 6):
        sampler.counts.clear()
        assert len(oracle.counterexamples(TARGET, observations)) == 0
        size = math.ceil((math.log(1 / delta) + query * math.log(2)) / epsilon)
        assert sum(sampler.counts) == size
        assert max(sampler.counts) <= 1024
        # A hypothesis that is wrong on a share ε passes all queries with probability δ at most.
        assert (1 - epsilon) ** size <= delta / 2**query
        assert oracle.certificate.details["words"] == size
        assert oracle.certificate.details["queries"] == query


def test_words_are_fresh_and_come_from_the_seed() -> None:
    def drawn(seed: int) -> list[list[int]]:
        sampler = Noting()
        oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=sampler, seed=seed)
        for _ in range(2):
            oracle.counterexamples(TARGET, tree())
        return [words.symbols.tolist() for words in sampler.words]

    first, second = drawn(1)
    assert second[: len(first)] != first
    assert drawn(1) == [first, second]
    assert drawn(2)[0] != first


def test_a_query_ends_with_the_part_that_has_differences() -> None:
    sampler = Noting()
    oracle = PACOracle(epsilon=0.001, delta=0.1, sampler=sampler)
    found = oracle.counterexamples(WRONG, tree())
    assert sampler.counts == [1024]
    assert TARGET.alphabet.decode_words(found) in ([("0",)], [("1",)])


def test_the_empty_word_is_compared() -> None:
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(3))
    other = PDFA(alphabet="01", transitions=[[0, 0]], probabilities=[[1.0, 0.0, 0.0]])
    assert TARGET.alphabet.decode_words(oracle.counterexamples(other, tree())) == [()]


def test_nothing_is_certified_that_has_not_passed() -> None:
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(5))
    observations = tree()

    def assert_knows_nothing() -> None:
        assert oracle.certificate.kind == "tested"
        assert oracle.certificate.statement == "nothing is known: no query has passed"

    assert_knows_nothing()
    oracle.counterexamples(TARGET, observations)
    assert oracle.certificate.kind == "pac"
    oracle.counterexamples(WRONG, observations)
    assert_knows_nothing()
    oracle.counterexamples(TARGET, observations)
    assert oracle.certificate.kind == "pac"


def test_a_query_that_is_broken_off_counts_and_certifies_nothing() -> None:
    class Failing(HookedModel):
        fails = False

        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            if self.fails:
                raise KeyboardInterrupt
            return inner.answer(batch)

    model = Failing(TARGET)
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(30))
    observations = tree(model)
    oracle.counterexamples(TARGET, observations)
    model.fails = True
    with pytest.raises(KeyboardInterrupt):
        oracle.counterexamples(TARGET, observations)
    assert oracle.certificate.kind == "tested"
    model.fails = False
    assert len(oracle.counterexamples(TARGET, observations)) == 0
    assert oracle.certificate.details["queries"] == 3


def test_a_budget_ends_a_query_without_a_promise() -> None:
    oracle = PACOracle(epsilon=0.01, delta=0.1, sampler=UniformWords(30))
    result = learn(TARGET, equivalence=BY, oracle=oracle, budget=Budget(max_words=50))
    assert result.certificate.kind == "stopped"
    assert result.statistics.words == 50
    assert oracle.certificate.kind == "tested"


def test_an_oracle_may_serve_another_run() -> None:
    oracle = PACOracle(epsilon=0.05, delta=0.05, sampler=UniformWords(10))
    first = learn(TARGET, equivalence=BY, oracle=oracle).certificate
    other = random_pdfa(10, 3, seed=1)
    second = learn(other, equivalence=BY, oracle=oracle).certificate
    assert first.kind == second.kind == "pac"
    assert int(str(first.details["queries"])) < int(str(second.details["queries"]))


def test_runs_with_one_seed_are_the_same() -> None:
    def learnt(seed: int) -> tuple[PDFA, int]:
        oracle = PACOracle(epsilon=0.01, delta=0.01, sampler=UniformWords(20), seed=seed)
        target = random_pdfa(40, distributions=2, seed=1)
        result = learn(AutomatonModel(target), oracle=oracle)
        return result.pdfa, result.statistics.words

    assert learnt(1) == learnt(1)
    assert learnt(1)[1] != learnt(2)[1]


@pytest.mark.parametrize("prefixes_free", [True, False])
def test_models_of_little_capacity_are_learnt(prefixes_free: bool) -> None:
    model = WatchedModel(AutomatonModel(TARGET), capacity=4, cost=COSTS[prefixes_free])
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(6))
    assert len(learn(model, equivalence=BY, oracle=oracle).pdfa) == 4


def test_symbols_out_of_reach_are_warned_of_once() -> None:
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=Corpus(["0", "00"]))
    observations = tree()
    with pytest.warns(
        UnreachableSymbolWarning, match=r"corpus of 2 never have the symbols \['1'\]"
    ):
        oracle.counterexamples(TARGET, observations)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        oracle.counterexamples(TARGET, observations)


@pytest.mark.parametrize("name", ["epsilon", "delta"])
@pytest.mark.parametrize("value", [0, 1, -0.5, 2.0, float("nan"), "0.1", None, True])
def test_bad_shares_are_refused(name: str, value: float) -> None:
    shares = {"epsilon": 0.1, "delta": 0.1, name: value}
    with pytest.raises(InputError, match=f"{name} {value!r} is not a number"):
        PACOracle(epsilon=shares["epsilon"], delta=shares["delta"], sampler=UniformWords(3))


@pytest.mark.parametrize("sampler", [None, "uniform", 5])
def test_what_is_no_sampler_is_refused(sampler: Sampler) -> None:
    with pytest.raises(InputError, match="is not a sampler"):
        PACOracle(epsilon=0.1, delta=0.1, sampler=sampler)


@pytest.mark.parametrize("seed", [-1, None, 1.5])
def test_bad_seeds_are_refused(seed: int) -> None:
    with pytest.raises(InputError, match="seed"):
        PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(3), seed=seed)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (Words.of([[0]]), "did not give the 30 words"),
        (["0"] * 30, "did not give the 30 words"),
        (Words.of([[0, 2]] * 30), "gave the codes 0 to 2, but there are 2 symbols"),
        (Words.of([[-1]] * 30), "gave the codes -1 to -1, but there are 2 symbols"),
    ],
)
def test_samplers_that_cheat_are_refused(words: Words, complaint: str) -> None:
    class Cheating(Noting):
        def draw(self, *_: object) -> Words:
            return words

    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=Cheating())
    with pytest.raises(OracleError, match=complaint):
        oracle.counterexamples(TARGET, tree())
