"""What every oracle that asks a model has to keep to."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.equivalence.relations import Relation
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import (
    AllWordsOracle,
    ChainOracle,
    EquivalenceOracle,
    KnownAnswersOracle,
    PACOracle,
    StatePrefixOracle,
    WeissOracle,
)
from pdfalearn.samplers import UniformWords
from pdfalearn.words import Words
from tests.learners.tables import tolerances
from tests.models.watched import COSTS, WatchedModel
from tests.oracles.helpers import differs
from tests.strategies import equivalences, pdfas

NOTHING = "nothing is known: no query has passed"
MAKERS: list[Callable[[], EquivalenceOracle]] = [
    lambda: AllWordsOracle(6),
    lambda: StatePrefixOracle(walks_per_state=5, walk_length=4),
    KnownAnswersOracle,
    lambda: ChainOracle(KnownAnswersOracle(), AllWordsOracle(3)),
    lambda: PACOracle(epsilon=0.05, delta=0.1, sampler=UniformWords(6)),
    lambda: WeissOracle(attempts=40, max_length=6),
]


@pytest.mark.parametrize("make", MAKERS)
@given(st.data(), st.one_of(equivalences(), tolerances()), st.booleans())
def test_counterexamples_are_true(
    make: Callable[[], EquivalenceOracle], data: st.DataObject, equivalence: Relation, free: bool
) -> None:
    target, hypothesis = data.draw(pdfas(alphabet="ab")), data.draw(pdfas(alphabet="ab"))
    model = WatchedModel(AutomatonModel(target), cost=COSTS[free])
    observations = ObservationTree(model, equivalence)
    observations.ask_path(Words.of([[0, 1, 1, 0], [1, 1, 0, 0, 1]]))
    oracle = make()
    assert oracle.certificate.statement == NOTHING
    assert len(oracle.counterexamples(target, observations)) == 0
    assert oracle.certificate.statement != NOTHING
    json.dumps(dict(oracle.certificate.details))
    found = target.alphabet.decode_words(oracle.counterexamples(hypothesis, observations))
    assert all(differs(target, hypothesis, word, equivalence) for word in found)
    assert len(set(found)) == len(found)
    assert list(map(len, found)) == sorted(map(len, found))
    assert (oracle.certificate.statement == NOTHING) == bool(found)
