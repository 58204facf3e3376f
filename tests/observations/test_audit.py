"""A model that gives another answer the second time is caught, at a cost that is counted apart."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from pdfalearn import FunctionModel, Quantization, distinguish, learn
from pdfalearn.alphabet import Symbol
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ExactOracle
from pdfalearn.rows import Rows
from tests.models.hooked import HookedModel
from tests.models.watched import Codes, WatchedModel
from tests.support import mostly_slow

TARGET = random_pdfa(25, 2, distributions=2, seed=7)
BY = Quantization(100)
ORACLE = ExactOracle(TARGET, equivalence=BY)
Asked = list[tuple[Symbol, ...]]


class MoodyModel(WatchedModel):
    """Answers words that it is asked again otherwise, by a function of the right answers."""

    def __init__(self, capacity: int | None, second: NDArray[np.float64]) -> None:
        super().__init__(AutomatonModel(TARGET), capacity=capacity)
        self._second = second

    def answered(self, batch: list[Codes], rows: Rows) -> Rows:
        known = {word for earlier in self.batches[:-1] for word in earlier}
        values = rows.to_dense()
        values[[word in known for word in batch]] = self._second
        return Rows.dense(values)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("capacity", [None, 5])
@pytest.mark.parametrize(
    "second",
    mostly_slow([[0.98, 0.01, 0.01], [np.nan, 0.5, 0.5], [7.0, 0.5, 0.5], [-3.0, 2.0, 2.0]]),
)
def test_another_answer_is_caught(second: list[float], capacity: int | None, name: str) -> None:
    model = MoodyModel(capacity, np.array(second))
    result = learn(model, equivalence=BY, oracle=ORACLE, learner=name)
    assert result.certificate.kind == "unsteady"
    statement = result.certificate.statement
    assert "differently the second time to the word" in statement
    assert str(second) in statement
    assert "audit=0" in statement
    assert result.certificate.details["otherwise"] == {
        "kind": "exact",
        "statement": f"equivalent to the target under {BY!r}",
        "details": {"equivalence": repr(BY)},
    }
    assert result.pdfa == learn(TARGET, equivalence=BY, learner=name).pdfa


def test_the_audit_can_be_switched_off() -> None:
    model = MoodyModel(None, np.array([0.98, 0.01, 0.01]))
    result = learn(model, equivalence=BY, oracle=ORACLE, audit=0)
    assert distinguish(result.pdfa, TARGET, equivalence=BY) is None
    assert result.statistics.audited_words == 0
    assert set(Counter(model.asked).values()) == {1}


def test_another_answer_of_the_same_class_will_do() -> None:
    seen: set[tuple[Symbol, ...]] = set()

    def function(words: Asked) -> ArrayLike:
        rows = np.array([[0.052, 0.303, 0.645] for _ in words])
        rows[[word in seen for word in words]] += [0.001, 0.001, -0.002]
        seen.update(words)
        return rows

    loop = random_pdfa(1, 2, seed=0)
    oracle = ExactOracle(loop, equivalence=Quantization(1))
    result = learn(FunctionModel(function, "01"), equivalence=BY, oracle=oracle)
    assert result.statistics.audited_words > 0


@pytest.mark.parametrize("capacity", [None, 4])
def test_a_word_that_becomes_undefined_is_caught(capacity: int | None) -> None:
    class Vanishing(HookedModel):
        gone = False

        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            undefined = np.full(batch.count, self.gone)
            return Rows.dense(inner.answer(batch).to_dense(), undefined=undefined)

    inner = Vanishing(TARGET)
    tree = ObservationTree(WatchedModel(inner, capacity=capacity), BY)
    tree.ask(np.array([tree.node([0])]))
    tree.audits.audit(10, seed=0)
    inner.gone = True
    with pytest.raises(ModelError, match=r"to the word \('0',\).*then undefined"):
        tree.audits.audit(10, seed=0)


@pytest.mark.parametrize("spoilt", [[], [[0.5, 0.5]], [[0.5, 0.5], [0.5]]])
def test_another_shape_the_second_time_is_caught(spoilt: ArrayLike) -> None:
    seen: set[tuple[Symbol, ...]] = set()

    def function(words: Asked) -> ArrayLike:
        if words[0] in seen:
            return spoilt
        seen.update(words)
        return TARGET.next_distributions(words)

    result = learn(FunctionModel(function, "01"), equivalence=BY, oracle=ORACLE)
    assert result.certificate.kind == "unsteady"
    assert "second time" in result.certificate.statement
    assert distinguish(result.pdfa, TARGET, equivalence=BY) is None


@pytest.mark.parametrize("capacity", [None, 3])
@pytest.mark.parametrize("audit", mostly_slow([1, 16, 10**5]))
def test_audited_words_are_counted_apart(audit: int, capacity: int | None) -> None:
    plain = WatchedModel(AutomatonModel(TARGET), capacity=capacity)
    unaudited = learn(plain, equivalence=BY, oracle=ORACLE, audit=0).statistics
    model = WatchedModel(AutomatonModel(TARGET), capacity=capacity)
    statistics = learn(model, equivalence=BY, oracle=ORACLE, audit=audit).statistics
    again = model.asked[len(plain.asked) :]
    assert model.asked[: len(plain.asked)] == plain.asked
    assert set(again) <= set(plain.asked)
    assert 1 <= len(again) == len(set(again)) == statistics.audited_words <= audit
    assert statistics.words == unaudited.words
    assert statistics.distributions == unaudited.distributions
    assert statistics.symbols == unaudited.symbols == plain.symbols
    assert statistics.batches == unaudited.batches


def test_the_seed_chooses_the_words() -> None:
    def audited(seed: int) -> list[tuple[int, ...]]:
        model = WatchedModel(AutomatonModel(TARGET))
        learn(model, equivalence=BY, oracle=ORACLE, seed=seed)
        count = Counter(model.asked)
        return [word for word in count if count[word] > 1]

    assert audited(1) == audited(1)
    assert audited(1) != audited(2)
