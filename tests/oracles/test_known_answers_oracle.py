"""Stored answers: all that is known is compared, and nothing is asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import FunctionModel, Tolerance, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.equivalence.relations import Relation
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import (
    ChainOracle,
    EquivalenceOracle,
    KnownAnswersOracle,
    PACOracle,
    comparison,
)
from pdfalearn.samplers import UniformWords
from pdfalearn.words import Words
from tests.models.watched import COSTS, WatchedModel
from tests.oracles.helpers import differs, tree
from tests.strategies import equivalences, pdfas


@given(
    st.data(),
    st.one_of(equivalences(), st.just(Tolerance(0.1))),
    st.lists(st.lists(st.integers(0, 1), max_size=7), max_size=30),
    st.sampled_from([1, 3, 1000]),
)
def test_stored_answers_are_all_that_is_compared(
    data: st.DataObject, equivalence: Relation, codes: list[list[int]], enough: int
) -> None:
    target, hypothesis = data.draw(pdfas(alphabet="ab")), data.draw(pdfas(alphabet="ab"))
    model = WatchedModel(AutomatonModel(target), cost=COSTS[False])
    observations = ObservationTree(model, equivalence)
    observations.ask(np.array([observations.node(word) for word in codes], dtype=np.int64))
    before = model.symbols, len(model.batches), observations.nodes.size
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "_ENOUGH", enough)
        oracle = KnownAnswersOracle()
        found = target.alphabet.decode_words(oracle.counterexamples(hypothesis, observations))
    assert (model.symbols, len(model.batches), observations.nodes.size) == before
    asked = {target.alphabet.decode(word) for word in codes}
    known = {word[:end] for word in asked for end in range(len(word) + 1) if word[:end] in asked}
    wrong = {word for word in known if differs(target, hypothesis, word, equivalence)}
    assert set(found) <= wrong
    assert not any(word[:end] in wrong for word in found for end in range(len(word)))
    assert [len(word) for word in found[:1]] == sorted(map(len, wrong))[:1]


def test_stored_answers_are_counted_and_cost_nothing() -> None:
    target = random_pdfa(40, seed=1)
    observations = tree(target)
    observations.ask_path(Words.of([[0, 1] * 10, [1, 0, 0]]))
    counts = observations.counts
    before = counts.words, counts.distributions, len(counts.batches), observations.counts.symbols
    oracle = KnownAnswersOracle()
    assert len(oracle.counterexamples(target, observations)) == 0
    assert oracle.certificate.details == {"answers": 24}
    after = counts.words, counts.distributions, len(counts.batches), observations.counts.symbols
    assert after == before


@pytest.mark.slow
def test_stored_answers_save_questions() -> None:
    target = random_pdfa(300, distributions=2, seed=1)

    def words_asked(*first: EquivalenceOracle) -> int:
        sampling = PACOracle(epsilon=0.005, delta=0.01, sampler=UniformWords(20))
        model = FunctionModel(target.next_distributions, target.alphabet)
        return learn(model, oracle=ChainOracle(*first, sampling)).statistics.words

    assert words_asked(KnownAnswersOracle()) < words_asked() / 2
