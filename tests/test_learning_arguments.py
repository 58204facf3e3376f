"""What `learn` is given, and what models, oracles and equivalences answer, is checked."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import (
    PDFA,
    AutomatonModel,
    Equivalence,
    ExactOracle,
    FunctionModel,
    InputError,
    ModelError,
    OracleError,
    Quantization,
    learn,
    random_pdfa,
)
from pdfalearn.models.protocol import Handles, Session
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.models.hooked import HookedModel
from tests.models.watched import Codes, WatchedModel

TARGET = random_pdfa(60, 3, zero_probability=0.3, undefined=True, seed=3)
COMPLETE = random_pdfa(60, 3, seed=3)
BY = Quantization(1000)
Answer = Callable[[Handles], object]


@pytest.mark.parametrize(
    "arguments",
    [
        {"audit": -1},
        {"audit": 1.5},
        {"audit": None},
        {"audit": True},
        {"seed": -1},
        {"seed": None},
        {"learner": ["quant"]},
        {"oracle": TARGET},
        {"by": 10},
    ],
    ids=str,
)
def test_bad_arguments_are_refused_before_anything_is_asked(arguments: dict[str, Any]) -> None:
    model = WatchedModel(AutomatonModel(TARGET))
    usual: dict[str, Any] = {"oracle": ExactOracle(TARGET, by=BY), "by": BY}
    with pytest.raises(InputError):
        learn(model, **(usual | arguments))
    assert not model.batches
    assert not model.sessions


@pytest.mark.parametrize("capacity", [None, 5, 40])
def test_all_handles_are_given_back(capacity: int | None) -> None:
    model = WatchedModel(AutomatonModel(COMPLETE), room=capacity)
    first, second = (learn(model, by=BY, oracle=ExactOracle(COMPLETE, by=BY)) for _ in range(2))
    assert first.pdfa == second.pdfa
    assert first.notes == second.notes == ()
    assert len(model.sessions) >= 2
    assert not model.open_sessions


@pytest.mark.parametrize("capacity", [None, 5])
def test_handles_are_given_back_after_an_error(capacity: int | None) -> None:
    class Failing(WatchedModel):
        def answered(self, batch: list[Codes], rows: Rows) -> Rows:
            if len(self.batches) == 5:
                raise ConnectionError("the line is dead")
            return rows

    model = Failing(AutomatonModel(COMPLETE), room=capacity)
    with pytest.raises(ConnectionError):
        learn(model, by=BY, oracle=ExactOracle(COMPLETE, by=BY))
    assert not model.open_sessions


def test_an_error_of_closing_is_only_noted() -> None:
    class Stuck(Session):
        shared = True

        def __init__(self, inner: Session) -> None:
            self.start, self.extend, self.read = inner.start, inner.extend, inner.read  # type: ignore[method-assign]

        def close(self) -> None:
            raise OSError("the line is busy")

    class Sticking(AutomatonModel):
        def open(self) -> Stuck:  # type: ignore[override]
            return Stuck(super().open())

    result = learn(Sticking(COMPLETE), by=BY, oracle=ExactOracle(COMPLETE, by=BY), audit=0)
    assert result.pdfa == learn(COMPLETE, by=BY).pdfa
    (note,) = result.notes
    assert "Stuck.close raised OSError: the line is busy" in note


@pytest.mark.slow
def test_all_words_of_a_function_are_forgotten() -> None:
    opened: list[ReferenceType[Session]] = []

    class Noted(FunctionModel):
        def open(self) -> Session:
            session = super().open()
            opened.append(ref(session))
            return session

    model = Noted(lambda words: COMPLETE.next_distributions(words), COMPLETE.alphabet)
    learn(model, by=BY, oracle=ExactOracle(COMPLETE, by=BY))
    gc.collect()
    assert opened
    assert all(session() is None for session in opened)


def test_handles_of_access_words_are_kept_longest() -> None:
    target = random_pdfa(300, distributions=2, seed=1)
    plain = learn(target, by=BY).statistics.symbols
    model = WatchedModel(AutomatonModel(target), room=400)
    led = learn(model, by=BY, oracle=ExactOracle(target, by=BY)).statistics.symbols
    assert led < 2.5 * plain


class Extending(HookedModel):
    """A PDFA whose answers to `extend` are changed."""

    def __init__(self, pdfa: PDFA, change: Answer) -> None:
        super().__init__(pdfa)
        self._change = change

    def extend(self, inner: Session, handles: Handles, words: Words) -> Handles:
        changed: Any = self._change(inner.extend(handles, words))
        return changed  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "change",
    [
        lambda handles: handles[:1] if len(handles) > 1 else handles,
        lambda handles: None,
        lambda handles: handles.astype(float),
        lambda handles: handles[:, None],
        lambda handles: np.append(handles, 0),
    ],
    ids=["short", "nothing", "floats", "table", "long"],
)
def test_extend_has_to_give_a_handle_for_every_symbol(change: Answer) -> None:
    with pytest.raises(ModelError, match=r"extend returned .* a handle for every symbol"):
        learn(Extending(TARGET, change), by=BY, oracle=ExactOracle(TARGET, by=BY))


@pytest.mark.parametrize(
    "change",
    [lambda handles: handles.astype(np.int32), lambda handles: handles.tolist()],
    ids=["int32", "list"],
)
def test_extend_may_give_any_integers(change: Answer) -> None:
    learnt = learn(Extending(TARGET, change), by=BY, oracle=ExactOracle(TARGET, by=BY))
    assert learnt.pdfa == learn(TARGET, by=BY).pdfa


class Answering(ExactOracle):
    """An oracle that gives one fixed answer."""

    def __init__(self, answer: object) -> None:
        super().__init__(TARGET, by=BY)
        self._answer = answer

    def counterexamples(
        self, hypothesis: PDFA, observations: ObservationTree | None = None
    ) -> Words:
        answer: Any = self._answer
        return answer  # type: ignore[no-any-return]


@pytest.mark.parametrize("learner", ["quant", "quant-paper"])
@pytest.mark.parametrize(
    "answer", [None, ["0"], Words.of([[7]]), Words.of([[-1]])], ids=["none", "list", "7", "-1"]
)
def test_oracles_have_to_give_words_of_their_alphabet(answer: object, learner: str) -> None:
    with pytest.raises(
        OracleError, match=r"the oracle (gave words with the codes|returned .*, not Words)"
    ):
        learn(TARGET, by=BY, oracle=Answering(answer), learner=learner)


class Keyed(Equivalence):
    """An equivalence with keys of a user's own."""

    def __init__(self, keys: Callable[[NDArray[np.float64]], object]) -> None:
        self._keys = keys

    def keys(self, rows: NDArray[np.float64]) -> NDArray[np.generic]:
        keys: Any = self._keys(rows)
        return keys  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "keys",
    [
        lambda rows: rows.argmax(axis=1),
        lambda rows: rows[:, :0],
        lambda rows: rows.astype(object),
        lambda rows: rows.astype(str),
        lambda rows: rows[:1],
    ],
    ids=["flat", "empty", "objects", "text", "short"],
)
def test_keys_have_to_be_a_table_of_numbers(keys: Callable[[NDArray[np.float64]], object]) -> None:
    with pytest.raises(InputError, match="the keys of"):
        learn(TARGET, by=Keyed(keys))


def test_keys_may_be_a_users_own() -> None:
    by = Keyed(lambda rows: rows.argmax(axis=1)[:, None])
    assert len(learn(TARGET, by=by).pdfa) == len(learn(TARGET, by=by, learner="quant-paper").pdfa)
