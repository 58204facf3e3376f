"""Learning that keeps its answers in a store."""

from __future__ import annotations

import resource
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pdfalearn import PDFA, Budget, FunctionModel, Quantization, Result, TopK, learn
from pdfalearn.datasets import combination_lock, random_pdfa
from pdfalearn.errors import InputError, ModelError, StoreError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import FREE, LanguageModel, QueryCost
from pdfalearn.oracles import ChainOracle, ExactOracle, KnownAnswersOracle, PACOracle
from pdfalearn.results import LearningInterrupted
from pdfalearn.rows import Rows
from pdfalearn.samplers import UniformWords
from pdfalearn.stores import AnswerStore
from tests.models.hooked import HookedModel
from tests.models.watched import COSTS, WatchedModel
from tests.strategies import pdfas
from tests.support import examples, mostly_slow

BY = Quantization(100)


def run(
    target: PDFA,
    store: Path | None,
    *,
    cost: QueryCost = FREE,
    capacity: int | None = None,
    learner: str = "quant",
    budget: Budget | None = None,
) -> tuple[Result, WatchedModel]:
    model = WatchedModel(AutomatonModel(target), capacity=capacity, cost=cost)
    oracle = ExactOracle(target, equivalence=BY)
    result = learn(
        model, equivalence=BY, oracle=oracle, learner=learner, store=store, model_id="m",
        budget=budget or Budget(), audit=0,
    )  # fmt: skip
    return result, model


@pytest.mark.parametrize("learner", ["quant", "quant-paper"])
@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("capacity", [None, 5])
@examples(15)
@given(target=pdfas(), piece=st.integers(1, 40), data=st.data())
def test_a_run_in_pieces_learns_the_same_and_asks_nothing_twice(
    learner: str,
    prefixes_free: bool,
    capacity: int | None,
    target: PDFA,
    piece: int,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    store = tmp_path_factory.mktemp("store") / "answers.db"
    enough = Budget(max_words=10**6)
    whole, watched = run(
        target, None, cost=COSTS[prefixes_free], capacity=capacity, learner=learner, budget=enough
    )
    asked = []
    for _ in range(200):
        part, model = run(
            target,
            store,
            cost=COSTS[prefixes_free],
            capacity=capacity,
            learner=learner,
            budget=Budget(max_words=piece) if data.draw(st.booleans()) else enough,
        )
        asked += model.asked
        if part.certificate.kind == "exact":
            break
    assert part.pdfa == whole.pdfa
    assert part.access_words == whole.access_words
    assert len(asked) == len(set(asked))
    assert set(asked) == set(watched.asked)


def test_one_store_keeps_models_apart(tmp_path: Path) -> None:
    store = tmp_path / "answers.db"
    targets = [random_pdfa(30, seed=seed) for seed in (1, 2)]
    for target in targets:
        learn(target, equivalence=BY, store=store)
    for target in targets:
        again = learn(target, equivalence=BY, store=store)
        assert again.statistics.words == 0
        assert again.pdfa == learn(target, equivalence=BY).pdfa
    with AnswerStore(store, read_only=True) as opened:
        assert len(opened.models()) == 2


def test_another_kappa_uses_the_same_answers(tmp_path: Path) -> None:
    target, store = random_pdfa(60, seed=1), tmp_path / "answers.db"
    learn(target, equivalence=Quantization(1000), store=store)
    coarse = learn(target, equivalence=Quantization(5), store=store)
    assert coarse.statistics.stored_words > 50
    assert coarse.pdfa == learn(target, equivalence=Quantization(5)).pdfa


def as_function(target: PDFA) -> FunctionModel:
    return FunctionModel(target.next_distributions, target.alphabet)


def test_another_model_of_the_same_name_is_noticed(tmp_path: Path) -> None:
    one, other = random_pdfa(30, seed=1), random_pdfa(30, seed=2)
    store = tmp_path / "answers.db"
    learn(
        as_function(one),
        equivalence=BY,
        oracle=ExactOracle(one, equivalence=BY),
        store=store,
        model_id="m",
    )
    oracle = ExactOracle(other, equivalence=BY)
    with pytest.raises(ModelError, match="give it another model_id"):
        learn(as_function(other), equivalence=BY, oracle=oracle, store=store, model_id="m")
    learn(as_function(other), equivalence=BY, oracle=oracle, store=store, model_id="n")


def test_another_model_is_noticed_at_any_kappa(tmp_path: Path) -> None:
    one, other = random_pdfa(30, seed=1), random_pdfa(30, seed=2)
    store, coarse = tmp_path / "answers.db", Quantization(1)
    learn(
        as_function(one),
        equivalence=BY,
        oracle=ExactOracle(one, equivalence=BY),
        store=store,
        model_id="m",
    )
    with pytest.raises(ModelError, match="give it another model_id"):
        learn(
            as_function(other),
            equivalence=coarse,
            oracle=ExactOracle(other, equivalence=coarse),
            store=store,
            model_id="m",
        )


@pytest.mark.parametrize("model_id", ["", " ", 5, "a#b"])
def test_names_that_are_none(model_id: str, tmp_path: Path) -> None:
    target = random_pdfa(3, seed=1)
    with pytest.raises(InputError, match="model_id"):
        learn(target, equivalence=BY, store=tmp_path / "answers.db", model_id=model_id)


def test_a_name_and_a_hash_are_not_a_longer_name(tmp_path: Path) -> None:
    store = tmp_path / "answers.db"
    target = random_pdfa(9, seed=1)
    learn(target, equivalence=BY, store=store, model_id="a")
    hashed = sha256(AutomatonModel(target).fingerprint.encode()).hexdigest()[:20]
    with AnswerStore(store, read_only=True) as opened:
        assert [model.key for model in opened.models()] == [f"a#{hashed}"]
    oracle = ExactOracle(target, equivalence=BY)
    result = learn(
        as_function(target), equivalence=BY, oracle=oracle, store=store, model_id=f"a {hashed}"
    )
    assert result.statistics.stored_words == 0


@pytest.mark.parametrize("learner", ["quant", "quant-paper"])
@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("capacity", mostly_slow([None, 3, 8]))
@pytest.mark.parametrize("fails_at", mostly_slow([7, 20, 40, 90]))
def test_failures_at_any_call_change_nothing(
    fails_at: int, capacity: int | None, prefixes_free: bool, learner: str, tmp_path: Path
) -> None:
    target = random_pdfa(25, distributions=6, seed=4)

    class Failing(HookedModel):
        calls = 0

        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            self.calls += 1
            if self.calls == fails_at:
                raise ConnectionError("the line is dead")
            return inner.answer(batch)

    def once(model: AutomatonModel, store: Path | None) -> Result:
        watched = WatchedModel(model, capacity=capacity, cost=COSTS[prefixes_free])
        sampler = UniformWords(max_length=8)
        oracle = ChainOracle(
            KnownAnswersOracle(), PACOracle(epsilon=0.1, delta=0.1, sampler=sampler, seed=2)
        )
        equivalence = Quantization(20)
        return learn(
            watched,
            equivalence=equivalence,
            oracle=oracle,
            learner=learner,
            store=store,
            model_id="m",
        )

    whole = once(AutomatonModel(target), None)
    with suppress(ConnectionError):
        once(Failing(target), tmp_path / "answers.db")
    again = once(AutomatonModel(target), tmp_path / "answers.db")
    assert again.pdfa == whole.pdfa
    assert again.access_words == whole.access_words
    assert again.statistics.equivalence_queries == whole.statistics.equivalence_queries


def test_a_store_that_is_removed_in_use_is_missed(tmp_path: Path) -> None:
    target, store = random_pdfa(300, seed=1), tmp_path / "answers.db"

    def removing(words: list[tuple[object, ...]]) -> NDArray[np.float64]:
        store.unlink(missing_ok=True)
        return target.next_distributions(words)

    with pytest.raises(StoreError, match="removed or replaced"):
        learn(
            FunctionModel(removing, target.alphabet),
            equivalence=BY,
            oracle=ExactOracle(target, equivalence=BY),
            store=store,
            model_id="m",
        )


def test_a_function_needs_a_name(tmp_path: Path) -> None:
    target = random_pdfa(3, seed=1)
    oracle = ExactOracle(target, equivalence=BY)
    with pytest.raises(InputError, match=r"needs a model_id \(--model-id\)"):
        learn(as_function(target), equivalence=BY, oracle=oracle, store=tmp_path / "answers.db")


def test_another_alphabet_under_the_same_name_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "answers.db"
    for symbols, expected in ((2, None), (3, StoreError)):
        target = random_pdfa(5, symbols, seed=1)
        oracle = ExactOracle(target, equivalence=BY)
        if expected is None:
            learn(as_function(target), equivalence=BY, oracle=oracle, store=store, model_id="m")
        else:
            with pytest.raises(expected, match="alphabet"):
                learn(as_function(target), equivalence=BY, oracle=oracle, store=store, model_id="m")


def test_what_a_failing_model_has_answered_is_kept(tmp_path: Path) -> None:
    target, store = random_pdfa(200, seed=1), tmp_path / "answers.db"
    calls = 0

    def failing(words: list[tuple[object, ...]]) -> NDArray[np.float64]:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise ConnectionError("the line is dead")
        return target.next_distributions(words)

    model = FunctionModel(failing, target.alphabet)
    oracle = ExactOracle(target, equivalence=BY)
    with pytest.raises(ConnectionError):
        learn(model, equivalence=BY, oracle=oracle, store=store, model_id="m")
    result = learn(model, equivalence=BY, oracle=oracle, store=store, model_id="m")
    whole = learn(
        FunctionModel(target.next_distributions, target.alphabet), equivalence=BY, oracle=oracle
    )
    assert result.pdfa == whole.pdfa
    assert result.statistics.words + result.statistics.stored_words == whole.statistics.words
    assert result.statistics.stored_words > 10


def test_a_bad_row_loses_no_answer_of_its_batch(tmp_path: Path) -> None:
    target, store = random_pdfa(200, seed=1), tmp_path / "answers.db"
    asked: list[tuple[object, ...]] = []
    bad: list[tuple[object, ...]] = []

    def failing(words: list[tuple[object, ...]]) -> NDArray[np.float64]:
        rows = target.next_distributions(words)
        if len(words) > 30 and not bad:
            bad.append(words[20])
            rows[20, 0] += 0.5
        asked.extend(words)
        return rows

    model = FunctionModel(failing, target.alphabet)
    oracle = ExactOracle(target, equivalence=BY)
    with pytest.raises(ModelError, match=r"sums to 1\.5"):
        learn(model, equivalence=BY, oracle=oracle, store=store, model_id="m", audit=0)
    before = len(asked)
    result = learn(model, equivalence=BY, oracle=oracle, store=store, model_id="m", audit=0)
    whole = learn(
        FunctionModel(target.next_distributions, target.alphabet), equivalence=BY, oracle=oracle
    )
    assert result.pdfa == whole.pdfa
    again = set(asked[:before]) & set(asked[before:])
    assert again == set(bad)
    assert result.statistics.stored_words == before - 1


def test_ctrl_c_keeps_all_answers(tmp_path: Path) -> None:
    target, store = random_pdfa(300, seed=1), tmp_path / "answers.db"

    class Interrupted(HookedModel):
        calls = 0

        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            self.calls += 1
            if self.calls == 8:
                raise KeyboardInterrupt
            return inner.answer(batch)

    with pytest.raises(LearningInterrupted):
        learn(
            Interrupted(target),
            equivalence=BY,
            oracle=ExactOracle(target, equivalence=BY),
            store=store,
        )
    result = learn(target, equivalence=BY, store=store)
    assert result.statistics.stored_words > 50


def test_undefined_words_are_kept(tmp_path: Path) -> None:
    store = tmp_path / "answers.db"
    target = PDFA(
        alphabet="abc",
        transitions=[[1, -1, 0], [-1, 0, 1]],
        probabilities=[[0.5, 0.3, 0.0, 0.2], [0.1, 0.0, 0.5, 0.4]],
    )
    first, _ = run(target, store)
    again, model = run(target, store)
    assert again.pdfa == first.pdfa
    assert again.statistics.words == 0
    assert len(model.asked) <= 4


def test_sampling_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    target, store = combination_lock(8), tmp_path / "answers.db"

    def once(budget: Budget) -> Result:
        oracle = PACOracle(epsilon=0.02, delta=0.1, sampler=UniformWords(max_length=12), seed=5)
        return learn(
            as_function(target),
            equivalence=BY,
            oracle=oracle,
            store=store,
            model_id="m",
            budget=budget,
        )

    fresh = learn(
        as_function(target),
        equivalence=BY,
        oracle=PACOracle(epsilon=0.02, delta=0.1, sampler=UniformWords(max_length=12), seed=5),
    )
    words = 0
    for limit in (50, 300, 700, None):
        result = once(Budget(max_words=limit))
        words += result.statistics.words
    assert result.certificate == fresh.certificate
    assert result.pdfa == fresh.pdfa
    assert words == fresh.statistics.words


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00"])
def test_files_that_are_no_store(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="answers"):
        learn(random_pdfa(5, seed=1), store=path)
    assert path.read_bytes() == content


FULL = """
import resource, sys
from pdfalearn import FunctionModel, Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import StoreError
from pdfalearn.oracles import AllWordsOracle, ExactOracle
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
try:
    learn(random_pdfa(20_000, seed=1), equivalence=Quantization(1000), store=sys.argv[1])
except StoreError as error:
    print(error)
else:
    sys.exit("nothing happened")
"""


@pytest.mark.slow
def test_a_full_disk_stops_learning_and_loses_nothing(tmp_path: Path) -> None:
    assert resource.RLIMIT_FSIZE is not None
    path = tmp_path / "answers.db"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "answers.db" in done.stdout
    with AnswerStore(path) as store:
        assert store.verify().answers > 1000
    result = learn(random_pdfa(20_000, seed=1), equivalence=Quantization(1000), store=path)
    assert result.statistics.stored_words > 1000


def test_a_run_goes_on_from_sparse_answers_and_the_file_stays_small(tmp_path: Path) -> None:
    target, equivalence = random_pdfa(12, 600, seed=5), Quantization(1000)

    def listed(words: list[tuple[object, ...]]) -> Rows:
        table = target.next_distributions(words)
        columns = np.sort(np.argsort(-table[:, 1:], axis=1)[:, :8], axis=1) + 1
        columns = np.column_stack((np.zeros(len(words), dtype=int), columns))
        values = np.take_along_axis(table, columns, axis=1)
        rest = 1 - values.sum(axis=1)
        ceiling = np.sort(table[:, 1:], axis=1)[:, -9]
        return Rows.sparse(
            601,
            np.arange(len(words) + 1) * 9,
            columns.ravel(),
            values.ravel(),
            rest=rest,
            ceiling=ceiling,
        )

    model = TopK(FunctionModel(listed, target.alphabet, fingerprint="listed"), 5)
    dense = learn(TopK(target, 5), equivalence=equivalence)
    store = tmp_path / "answers.db"
    first = learn(model, equivalence=equivalence, store=store)
    again = learn(model, equivalence=equivalence, store=store)
    assert first.pdfa == again.pdfa
    assert len(first.pdfa) == len(dense.pdfa)
    assert again.statistics.words == 0
    with AnswerStore(store) as kept:
        [stored] = kept.models()
    assert stored.bytes < 400 * first.statistics.distributions
