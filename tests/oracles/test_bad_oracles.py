"""Oracles that give words which are not counterexamples: an error, never an endless loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pdfalearn import PDFA, Quantization, learn
from pdfalearn.datasets import combination_lock, random_pdfa
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.errors import InputError, OracleError
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ChainOracle, ExactOracle
from pdfalearn.results.certificates import Certificate
from pdfalearn.results.trees import Word
from pdfalearn.typing import Floats
from pdfalearn.words import Words
from tests.learners.checks import assert_is_quotient, label_after
from tests.strategies import all_words

BY = Quantization(1000)
TARGET = random_pdfa(25, 2, distributions=2, seed=7)
ROUNDS = 200
"""Nothing here takes this many rounds, unless it is endless."""


class ChangedOracle:
    """Changes the batches of the exact oracle."""

    certificate = Certificate("tested", "nothing is known")

    def __init__(
        self,
        target: PDFA,
        change: Callable[[list[Word]], list[Word]],
        equivalence: Equivalence = BY,
    ) -> None:
        self.alphabet = target.alphabet
        self._change = change
        self._exact = ExactOracle(target, equivalence=equivalence)
        self._rounds = 0

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        self._rounds += 1
        assert self._rounds < ROUNDS
        found = self._exact.counterexamples(hypothesis)
        return self.alphabet.encode_words(self._change(self.alphabet.decode_words(found)))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("wrong", ["", "0", "010"])
def test_a_stubborn_oracle_is_refused(wrong: str, name: str) -> None:
    oracle = ChangedOracle(TARGET, lambda _: [tuple(wrong)])
    with pytest.raises(OracleError) as caught:
        learn(TARGET, equivalence=BY, oracle=oracle, learner=name)
    assert f"the word {tuple(wrong)} is not a counterexample" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "place"), [("quant", 0), ("quant", 1), ("quant", 3), ("quant-paper", 0)]
)
def test_a_word_that_is_none_is_refused_among_others(name: str, place: int) -> None:
    def insert_empty_word(found: list[Word]) -> list[Word]:
        return [*found[:place], (), *found[place:]] if len(found) >= place else found

    oracle = ChangedOracle(TARGET, insert_empty_word)
    with pytest.raises(OracleError, match=r"the word \(\) is not a counterexample"):
        learn(TARGET, equivalence=BY, oracle=oracle, learner=name)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_last_word_may_be_wrong(name: str) -> None:
    oracle = ChangedOracle(TARGET, lambda found: found or [("1", "1")])
    with pytest.raises(OracleError, match=r"the word \('1', '1'\) is not a counterexample"):
        learn(TARGET, equivalence=BY, oracle=oracle, learner=name)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_finer_oracle_is_refused(name: str) -> None:
    oracle = ExactOracle(TARGET, equivalence=Quantization(2000))
    with pytest.raises(OracleError, match="is not a counterexample"):
        learn(TARGET, equivalence=Quantization(1), oracle=oracle, learner=name)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("target", [TARGET, combination_lock(8, 2)], ids=repr)
def test_words_that_others_have_resolved_are_skipped(target: PDFA, name: str) -> None:
    twice = ChangedOracle(target, lambda found: [*found, *found[::-1]])
    assert_is_quotient(learn(target, equivalence=BY, oracle=twice, learner=name).pdfa, target, BY)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_all_counterexamples_at_once_will_do(name: str) -> None:
    words = [tuple(word) for word in all_words("01", 7)]

    class Everything:
        alphabet = TARGET.alphabet
        certificate = Certificate("tested", "all words up to length 7")

        def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
            wrong = [
                word
                for word in words
                if label_after(TARGET, word, BY) != label_after(hypothesis, word, BY)
            ]
            return self.alphabet.encode_words(wrong)

    result = learn(TARGET, equivalence=BY, oracle=Everything(), learner=name)
    assert result.certificate.statement == "all words up to length 7 (as Everything promises)"
    for word in words:
        assert label_after(TARGET, word, BY) == label_after(result.pdfa, word, BY)


@pytest.mark.parametrize("certificate", ["fine", None])
def test_what_is_not_a_certificate_is_refused_before_anything_is_asked(certificate: object) -> None:
    asked: list[int] = []
    oracle = ChangedOracle(TARGET, lambda found: found)
    oracle.certificate = certificate  # type: ignore[assignment]
    with pytest.raises(OracleError, match=f"ChangedOracle is {certificate!r}, not a Certificate"):
        learn(TARGET, equivalence=BY, oracle=oracle, progress=lambda _: asked.append(1))
    assert not asked


def test_a_certificate_says_whose_promise_it_is_and_no_words_are_an_empty_list() -> None:
    class Trusting:
        certificate = Certificate("exact", "it is right")

        def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
            return []  # type: ignore[return-value]

    for oracle in (Trusting(), ChainOracle(Trusting())):
        certificate = learn(TARGET, equivalence=BY, oracle=oracle).certificate
        assert str(certificate) == "exact: it is right (as Trusting promises)"


def test_an_equivalence_whose_keys_depend_on_other_rows_is_named() -> None:
    class ByBatch(Equivalence):
        def keys(self, rows: Floats) -> Floats:
            return np.asarray(np.round(rows / rows.max(axis=0), 1))

    with pytest.raises(InputError, match="the key of a row must not depend on other rows"):
        learn(TARGET, equivalence=ByBatch())
