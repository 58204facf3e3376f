"""Walks from every state of the hypothesis, fresh ones at every query."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import PDFA, distinguish
from pdfalearn.datasets import chain, combination_lock, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import AllWordsOracle, PACOracle, StatePrefixOracle
from pdfalearn.samplers import UniformWords
from tests.models.watched import COSTS, WatchedModel
from tests.oracles.helpers import BY, tree


@pytest.mark.parametrize("length", [-1, 1.5, "2", None])
def test_bad_numbers_are_refused(length: int) -> None:
    with pytest.raises(InputError, match="max_length"):
        AllWordsOracle(length)
    with pytest.raises(InputError, match="walk_length"):
        StatePrefixOracle(walks_per_state=1, walk_length=length)
    with pytest.raises(InputError, match="walks_per_state"):
        StatePrefixOracle(walks_per_state=length, walk_length=1)


@pytest.mark.parametrize("walks", [3, 300])
def test_walks_begin_in_every_state(walks: int) -> None:
    target = random_pdfa(30, 3, zero_probability=0.3, undefined=True, seed=6)
    model = WatchedModel(AutomatonModel(target), cost=COSTS[False])
    oracle = StatePrefixOracle(walks_per_state=walks, walk_length=5)
    assert len(oracle.counterexamples(target, ObservationTree(model, BY))) == 0
    asked = [target.alphabet.decode(word) for word in model.asked]
    assert set(target.states_after(asked).tolist()) - {-1} == set(range(len(target)))
    assert oracle.certificate.details == {
        "walks_per_state": walks,
        "walk_length": 5,
        "states": len(target),
    }


def test_walks_are_fresh_at_every_query() -> None:
    target = random_pdfa(30, seed=6)
    model = WatchedModel(AutomatonModel(target))
    observations = ObservationTree(model, BY)
    oracle = StatePrefixOracle(walks_per_state=3, walk_length=20)
    sizes = []
    for _ in range(3):
        oracle.counterexamples(target, observations)
        sizes.append(len(model.asked))
    assert sizes[0] < sizes[1] < sizes[2]


def test_walks_find_what_is_undefined_only_in_the_hypothesis() -> None:
    target = PDFA(alphabet="ab", transitions=[[0, 1], [0, 0]], probabilities=[[0.5, 0.5, 0.0]] * 2)
    hypothesis = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0.0]])
    oracle = StatePrefixOracle(walks_per_state=20, walk_length=3)
    (word,) = target.alphabet.decode_words(oracle.counterexamples(hypothesis, tree(target)))
    assert word[-1] == "b"


def test_walks_open_a_lock_that_sampling_cannot() -> None:
    lock = combination_lock(12, seed=1)
    almost = PDFA(
        alphabet=lock.alphabet,
        transitions=np.where(lock.transitions == 11, 0, lock.transitions)[:-1],
        probabilities=lock.probabilities[:-1],
    )
    assert distinguish(lock, almost, equivalence=BY) is not None
    walks = StatePrefixOracle(walks_per_state=5, walk_length=2)
    assert len(walks.counterexamples(almost, tree(lock))) == 1
    sampling = PACOracle(epsilon=0.01, delta=0.1, sampler=UniformWords(14))
    assert len(sampling.counterexamples(almost, tree(lock))) == 0


def test_walks_are_as_long_as_they_should_be() -> None:
    loop = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    for length, found in ((8, 0), (9, 1)):
        oracle = StatePrefixOracle(walks_per_state=1, walk_length=length)
        assert len(oracle.counterexamples(loop, tree(chain(10)))) == found
