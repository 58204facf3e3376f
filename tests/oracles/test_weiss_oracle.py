"""Words from model and hypothesis in turn: the first differing prefix of the first that has one."""

from __future__ import annotations

import pytest

from pdfalearn import PDFA, Tolerance, learn
from pdfalearn.datasets import figure_3, random_pdfa, tomita
from pdfalearn.errors import InputError
from pdfalearn.oracles import WeissOracle
from pdfalearn.results.trees import Word
from tests.oracles.helpers import differs, tree

BY = Tolerance(0.1)
LOOP = PDFA(alphabet="01", transitions=[[0, 0]], probabilities=[[0, 0.5, 0.5]])


def found(oracle: WeissOracle, hypothesis: PDFA, target: PDFA) -> list[Word]:
    words = oracle.counterexamples(hypothesis, tree(target, BY))
    return target.alphabet.decode_words(words)


def test_the_prefix_is_the_shortest_of_its_word() -> None:
    target = random_pdfa(30, 2, distributions=3, seed=2)
    hypothesis = random_pdfa(30, 2, distributions=3, seed=3)
    rows = target.probabilities[[0] * len(hypothesis)]
    hypothesis = PDFA(alphabet="01", transitions=hypothesis.transitions, probabilities=rows)
    for seed in range(20):
        (word,) = found(WeissOracle(seed=seed), hypothesis, target)
        assert differs(target, hypothesis, word, BY)
        assert not any(differs(target, hypothesis, word[:end], BY) for end in range(len(word)))


def test_words_come_from_both_sides() -> None:
    """A word that only one of them has is found: target and hypothesis change places."""
    onwards = [[0, 1], [1, 1]]
    ends = PDFA(alphabet="01", transitions=onwards, probabilities=[[1, 0, 0], [0, 1, 0]])
    rows = [[0.95, 0.0, 0.05], [1.0, 0.0, 0.0]]
    goes_on = PDFA(alphabet="01", transitions=onwards, probabilities=rows)
    oracle = WeissOracle(attempts=2000, max_length=5)
    assert found(oracle, goes_on, ends) == found(oracle, ends, goes_on) == [("1",)]


def test_the_empty_word_may_be_the_counterexample() -> None:
    assert found(WeissOracle(), LOOP, tomita(1)) == [()]


def test_the_same_seed_draws_the_same_words() -> None:
    target = random_pdfa(60, distributions=2, seed=1)

    def run(seed: int) -> tuple[PDFA, int]:
        oracle = WeissOracle(attempts=100, max_length=30, seed=seed)
        result = learn(target, learner="lpstar", equivalence=BY, oracle=oracle)
        return result.pdfa, result.statistics.words

    assert run(1) == run(1)
    assert run(1)[1] != run(2)[1]


def test_words_are_cut_and_counted() -> None:
    oracle = WeissOracle(attempts=7, max_length=3)
    assert oracle.certificate.statement == "nothing is known: no query has passed"
    observations = tree(LOOP, BY)
    assert not len(oracle.counterexamples(LOOP, observations))
    assert max(len(observations.word(node)) for node in range(observations.nodes.size)) == 3
    assert oracle.certificate.details == {"words": 7, "max_length": 3}
    assert oracle.certificate.kind == "tested"


def test_one_attempt_is_the_models() -> None:
    ends = PDFA(alphabet="01", transitions=[[0, 0]], probabilities=[[1, 0, 0]])
    observations = tree(ends, BY)
    oracle = WeissOracle(attempts=1)
    assert not len(oracle.counterexamples(ends, observations))
    assert observations.counts.words == 1


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"attempts": 0}, "attempts 0"),
        ({"max_length": -1}, "max_length -1"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, int], culprit: str) -> None:
    with pytest.raises(InputError, match=culprit):
        WeissOracle(**arguments)


def test_quant_may_use_it_too() -> None:
    from pdfalearn import Quantization

    oracle = WeissOracle(attempts=300, max_length=20)
    assert len(learn(figure_3(), equivalence=Quantization(10), oracle=oracle).pdfa) == 4
