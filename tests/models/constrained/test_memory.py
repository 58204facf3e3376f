"""Tables that cannot fit into memory are refused before they are made."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import (
    DFA,
    FunctionModel,
    Guided,
    InputError,
    LanguageModel,
    Temperature,
    TopK,
    TopP,
    memory,
)
from tests.support import need_module


def not_asked(words: list[tuple[object, ...]]) -> list[list[float]]:
    raise AssertionError("the model must not be asked")


MODEL = FunctionModel(not_asked, map(str, range(1000)))
MODELS = [
    TopK(MODEL, 3),
    TopP(MODEL, 0.5),
    Temperature(MODEL, 2.0),
    Guided(MODEL, DFA(alphabet=["1"], transitions=[[0]], accepting=[True])),
]


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 2**20)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_rows_of_a_batch_are_refused_before_the_model_is_asked(model: LanguageModel) -> None:
    with pytest.raises(
        InputError, match=r"of 20,000 words over 1,000 symbols need .*; give the model a capacity"
    ):
        model.distributions(np.zeros(20_000, dtype=np.int64))


@pytest.mark.usefixtures("little_memory")
def test_the_table_of_a_regular_expression_is_refused() -> None:
    need_module("interegular")
    with pytest.raises(
        InputError, match=r"301 states of '1\{300\}' and 1,000 symbols need .*; use a simpler"
    ):
        Guided(MODEL, "1{300}")
