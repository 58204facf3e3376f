"""What `learn` is given, and what models, oracles and equivalences answer, is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import PDFA, FunctionModel, Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.equivalence import Equivalence
from pdfalearn.errors import InputError, ModelError, OracleError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ExactOracle
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.models.hooked import HookedModel
from tests.models.watched import Codes, WatchedModel

TARGET = random_pdfa(60, 3, zero_probability=0.3, undefined=True, seed=3)
COMPLETE = random_pdfa(60, 3, seed=3)
BY = Quantization(1000)


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
        {"equivalence": 10},
    ],
    ids=str,
)
def test_bad_arguments_are_refused_before_anything_is_asked(arguments: dict[str, Any]) -> None:
    model = WatchedModel(AutomatonModel(TARGET))
    usual: dict[str, Any] = {"oracle": ExactOracle(TARGET, equivalence=BY), "equivalence": BY}
    with pytest.raises(InputError):
        learn(model, **(usual | arguments))
    assert not model.batches
    assert not model.opened


@pytest.mark.parametrize("capacity", [None, 5, 40])
def test_all_that_was_opened_is_closed(capacity: int | None) -> None:
    model = WatchedModel(AutomatonModel(COMPLETE), capacity=capacity)
    first, second = (
        learn(model, equivalence=BY, oracle=ExactOracle(COMPLETE, equivalence=BY)) for _ in range(2)
    )
    assert first.pdfa == second.pdfa
    assert first.notes == second.notes == ()
    assert len(model.opened) >= 2
    assert not model.open_count


@pytest.mark.parametrize("capacity", [None, 5])
def test_what_was_opened_is_closed_after_an_error(capacity: int | None) -> None:
    class Failing(WatchedModel):
        def answered(self, batch: list[Codes], rows: Rows) -> Rows:
            if len(self.batches) == 5:
                raise ConnectionError("the line is dead")
            return rows

    model = Failing(AutomatonModel(COMPLETE), capacity=capacity)
    with pytest.raises(ConnectionError):
        learn(model, equivalence=BY, oracle=ExactOracle(COMPLETE, equivalence=BY))
    assert not model.open_count


def test_an_error_of_closing_is_only_noted() -> None:
    class Sticking(HookedModel):
        def close_run(self, inner: LanguageModel) -> None:
            raise OSError("the line is busy")

    result = learn(
        Sticking(COMPLETE), equivalence=BY, oracle=ExactOracle(COMPLETE, equivalence=BY), audit=0
    )
    assert result.pdfa == learn(COMPLETE, equivalence=BY).pdfa
    (note,) = result.notes
    assert "OpenedHooked.close raised OSError: the line is busy" in note


def test_what_is_opened_is_closed_after_a_run_but_not_the_model_itself() -> None:
    class Own(FunctionModel):
        closed = 0

        def close(self) -> None:
            self.closed += 1

    model = Own(lambda words: COMPLETE.next_distributions(words), COMPLETE.alphabet)
    learn(model, equivalence=BY, oracle=ExactOracle(COMPLETE, equivalence=BY))
    assert not model.closed


@pytest.mark.parametrize(
    "given",
    [None, 7, "x", AutomatonModel],
    ids=["nothing", "number", "text", "class"],
)
def test_open_has_to_return_a_model(given: object) -> None:
    class Opening(AutomatonModel):
        def open(self) -> Any:
            return given

    with pytest.raises(ModelError, match=r"open returned .* has to return a LanguageModel"):
        learn(Opening(TARGET), equivalence=BY, oracle=ExactOracle(TARGET, equivalence=BY))


class Answering(ExactOracle):
    """An oracle that gives one fixed answer."""

    def __init__(self, answer: object) -> None:
        super().__init__(TARGET, equivalence=BY)
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
        learn(TARGET, equivalence=BY, oracle=Answering(answer), learner=learner)


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
        learn(TARGET, equivalence=Keyed(keys))


def test_keys_may_be_a_users_own() -> None:
    equivalence = Keyed(lambda rows: rows.argmax(axis=1)[:, None])
    assert len(learn(TARGET, equivalence=equivalence).pdfa) == len(
        learn(TARGET, equivalence=equivalence, learner="quant-paper").pdfa
    )
