"""The exact oracle: true counterexamples, many at once, none only if there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Quantization, Tolerance, distinguish, learn, quotient
from pdfalearn.datasets import chain, random_pdfa
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.errors import InputError
from pdfalearn.oracles import ExactOracle
from tests.learners.checks import label_after
from tests.learners.tables import tolerances
from tests.oracles.helpers import differs
from tests.strategies import equivalences, pdfas, shuffled
from tests.support import examples


@pytest.mark.slow
@examples(200)
@given(st.data(), equivalences())
def test_counterexamples_are_true_and_found_iff_there_are_any(
    data: st.DataObject, equivalence: Equivalence
) -> None:
    target = data.draw(pdfas(alphabet="ab"))
    oracle = ExactOracle(target, equivalence=equivalence)
    for hypothesis in data.draw(st.lists(pdfas(alphabet="ab"), min_size=1, max_size=4)):
        words = target.alphabet.decode_words(oracle.counterexamples(hypothesis))
        assert (not words) == (distinguish(target, hypothesis, equivalence=equivalence) is None)
        for word in words:
            assert label_after(target, word, equivalence) != label_after(
                hypothesis, word, equivalence
            )


@given(pdfas(), equivalences())
def test_equivalent_automata_have_none(target: PDFA, equivalence: Equivalence) -> None:
    oracle = ExactOracle(target, equivalence=equivalence)
    assert len(oracle.counterexamples(quotient(target, equivalence=equivalence))) == 0
    assert len(oracle.counterexamples(shuffled(target, np.arange(len(target))[::-1]))) == 0


def test_many_are_found_in_one_pass() -> None:
    target = random_pdfa(300, distributions=2, seed=1)
    equivalence = Quantization(1000)
    oracle = ExactOracle(target, equivalence=equivalence)
    transitions = target.transitions.copy()
    transitions[30:] = transitions[:29:-1]
    hypothesis = PDFA(alphabet="01", transitions=transitions, probabilities=target.probabilities)
    words = target.alphabet.decode_words(oracle.counterexamples(hypothesis))
    assert len(words) > 5
    assert len(set(words)) == len(words)
    again = target.alphabet.decode_words(oracle.counterexamples(hypothesis))
    assert words == again


def test_a_difference_at_the_end_of_a_chain_is_found() -> None:
    equivalence = Quantization(10)
    oracle = ExactOracle(chain(2000), equivalence=equivalence)
    words = oracle.counterexamples(chain(1999))
    assert len(words) >= 1
    assert words.lengths.min() == 1998


def test_hypotheses_may_be_larger_than_the_target() -> None:
    equivalence = Quantization(1000)
    oracle = ExactOracle(chain(3), equivalence=equivalence)
    assert len(oracle.counterexamples(chain(3))) == 0
    assert len(oracle.counterexamples(chain(500))) > 0
    assert len(oracle.counterexamples(chain(3))) == 0


def reordered(pdfa: PDFA, order: list[int]) -> PDFA:
    return PDFA(
        alphabet=[pdfa.alphabet.symbols[place] for place in order],
        transitions=pdfa.transitions[:, order],
        probabilities=pdfa.probabilities[:, [0, *(place + 1 for place in order)]],
        initial=pdfa.initial,
    )


@pytest.mark.parametrize("learner", ["quant", "quant-paper"])
def test_symbols_may_have_another_order(learner: str) -> None:
    target = random_pdfa(25, 3, distributions=2, seed=3)
    equivalence = Quantization(1000)
    oracle = ExactOracle(reordered(target, [2, 0, 1]), equivalence=equivalence)
    result = learn(target, equivalence=equivalence, oracle=oracle, learner=learner)
    assert result.pdfa.alphabet == target.alphabet
    assert distinguish(result.pdfa, target, equivalence=equivalence) is None
    assert len(result.pdfa) == len(quotient(target, equivalence=equivalence))


@pytest.mark.parametrize("alphabet", ["ab", "abcd", "abx"])
def test_other_symbols_are_refused(alphabet: str) -> None:
    symbols = len(alphabet)
    rows = [[1 / (symbols + 1)] * (symbols + 1)]
    other = PDFA(alphabet=alphabet, transitions=[[0] * symbols], probabilities=rows)
    target = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0.25] * 4])
    with pytest.raises(InputError, match="alphabets differ: symbol"):
        learn(target, oracle=ExactOracle(other, equivalence=Quantization(1000)))
    with pytest.raises(InputError, match="alphabets differ: symbol"):
        ExactOracle(other, equivalence=Quantization(1000)).counterexamples(target)


@given(st.data(), tolerances())
def test_similarities_have_counterexamples_too(data: st.DataObject, equivalence: Tolerance) -> None:
    target = data.draw(pdfas(alphabet="ab"))
    oracle = ExactOracle(target, equivalence=equivalence)
    for hypothesis in data.draw(st.lists(pdfas(alphabet="ab"), min_size=1, max_size=4)):
        words = target.alphabet.decode_words(oracle.counterexamples(hypothesis))
        assert (not words) == (distinguish(target, hypothesis, equivalence=equivalence) is None)
        assert all(differs(target, hypothesis, word, equivalence) for word in words)


def test_many_that_are_not_similar_are_found_in_one_pass() -> None:
    target = random_pdfa(300, seed=1)
    oracle = ExactOracle(target, equivalence=Tolerance(0.1))
    rows = target.probabilities.copy()
    rows[100:] = rows[:99:-1]
    hypothesis = PDFA(alphabet="01", transitions=target.transitions, probabilities=rows)
    words = target.alphabet.decode_words(oracle.counterexamples(hypothesis))
    assert len(set(words)) == len(words) > 5
    assert str(oracle.certificate) == "exact: within 0.1 of the target after every word"


@pytest.mark.parametrize("equivalence", [0.1, None, "exact"])
def test_what_is_no_relation_is_refused(equivalence: Equivalence) -> None:
    with pytest.raises(InputError, match="is not an equivalence"):
        ExactOracle(chain(3), equivalence=equivalence)
