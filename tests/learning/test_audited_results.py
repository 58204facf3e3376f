"""What was learnt survives the last audit, stores of restless models, and small bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import (
    Alphabet,
    Budget,
    FunctionModel,
    LanguageModel,
    TopK,
    TopP,
    distill,
    learn,
    sweep,
)
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.models import Batch, attach_answers
from pdfalearn.rows import Rows
from pdfalearn.words import Words

Wrap = Callable[[LanguageModel], LanguageModel]

RIGHT = [[0.2, 0.3, 0.5], [0.4, 0.3, 0.3]]


class Parity(LanguageModel):
    """Opened anew, as an audit does, it fails in some way."""

    alphabet = Alphabet("ab")

    def __init__(self, *, opening: bool = False, row: list[float] | None = None) -> None:
        self.count = 0
        self._opening = opening
        self._row = row

    def open(self) -> LanguageModel:
        self.count += 1
        if self.count > 1 and self._opening:
            raise OSError("no room left")
        opened = Parity(row=self._row)
        opened.count = self.count
        return opened

    def answer(self, batch: Batch) -> Rows:
        rows = np.array([RIGHT[sum(word) % 2] for word in batch.words])
        if self.count > 1 and self._row is not None:
            rows[:] = self._row
        return Rows.dense(rows)


def test_a_model_that_fails_in_the_last_audit_leaves_its_result() -> None:
    result = learn(Parity(opening=True))
    assert len(result.pdfa) == 2
    assert result.notes == ("the last audit failed with OSError: no room left",)
    frontier = distill(Parity(opening=True), budget=Budget(max_symbols=200))
    assert "no room left" in " ".join(frontier.notes)


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: TopK(model, 2)])
def test_a_bad_row_in_the_last_audit_is_told_by_the_certificate(wrap: Wrap) -> None:
    result = learn(wrap(Parity(row=[0.2, 0.2, 0.3])))
    assert result.certificate.kind == "unsteady"
    assert len(result.pdfa) >= 1


def restless(seed: int) -> FunctionModel:
    random = np.random.default_rng(seed)

    def answer(words: list[tuple[Any, ...]]) -> Any:
        rows = np.array([RIGHT[len(word) % 2] for word in words])
        rows = rows * np.exp(0.002 * random.normal(size=rows.shape))
        return rows / rows.sum(axis=1, keepdims=True)

    return FunctionModel(answer, "ab")


@pytest.mark.slow
def test_a_restless_model_goes_on_from_its_store(tmp_path: Path) -> None:
    model, store, bound = restless(1), tmp_path / "answers.db", Budget(max_words=400)
    for audit in (0, 0, 16, 16):
        result = learn(model, store=store, model_id="m", audit=audit, budget=bound)
        assert result.statistics.audited_words <= audit + 4
        assert audit or not result.statistics.audited_words
    swept = sweep(restless(2), kappas=[5, 50], budget=Budget(max_words=3000))
    assert len(swept.rows) == 2
    with pytest.raises(ModelError, match="another one, give it another model_id"):
        learn(Parity(), store=store, model_id="m")


@pytest.mark.parametrize("wrap", [lambda model: TopK(model, 2), lambda model: TopP(model, 0.9)])
def test_what_a_store_has_below_a_cut_is_not_asked_again(wrap: Wrap, tmp_path: Path) -> None:
    target, asked, limit = random_pdfa(60, 3, seed=2), list[tuple[object, ...]](), 500

    def answer(word: tuple[object, ...]) -> dict[object, float]:
        if len(asked) == limit:
            raise ConnectionError("gone")
        asked.append(word)
        names = (target.alphabet.terminal, *target.alphabet.symbols)
        return dict(zip(names, target.next_distributions([word])[0].tolist(), strict=True))

    model, store = FunctionModel.of_words(answer, target.alphabet), tmp_path / "answers.db"
    with pytest.raises(ConnectionError):
        learn(wrap(model), store=store, model_id="m", audit=0)
    first, limit = len(asked), 10**6
    result = learn(wrap(model), store=store, model_id="m", audit=0)
    assert result.statistics.stored_words > 100
    again = set(asked[:first]) & set(asked[first:])
    assert len(again) <= first // 20, "the batch that failed lost a few at most"


@pytest.mark.parametrize("learner", ["quant", "quant-paper"])
@pytest.mark.parametrize("most", [0, 1, 40])
def test_the_empty_word_is_asked_whatever_the_bytes(most: int, learner: str) -> None:
    result = learn(Parity(), budget=Budget(max_bytes=most), learner=learner)
    assert result.certificate.kind == "stopped"
    assert len(result.pdfa) >= 1


@pytest.mark.parametrize("ids", [[-5, -4], [10**9, 3], [[1], [2]], None])
def test_answers_that_are_attached_wrongly_leave_the_error_as_it_is(ids: object) -> None:
    def failing(words: list[tuple[Any, ...]]) -> Any:
        if len(words) > 1:
            error = ConnectionError("gone")
            attach_answers(error, ids, Rows.dense(np.array(RIGHT)))  # type: ignore[arg-type]
            raise error
        return [RIGHT[len(word) % 2] for word in words]

    with pytest.raises(ConnectionError, match="gone") as caught:
        learn(FunctionModel(failing, "ab"))
    assert "not ids of the batch" in " ".join(caught.value.__notes__)


def test_the_word_of_an_answer_that_is_no_number_is_named() -> None:
    def answer(words: list[tuple[Any, ...]]) -> Any:
        return [["x", "y", "z"] if len(word) == 2 else list(RIGHT[len(word) % 2]) for word in words]

    with pytest.raises(ModelError, match=r"answer to the word \('a', 'a'\)"):
        learn(FunctionModel(answer, "ab"))


def test_another_alphabet_is_refused_at_opening() -> None:
    class Turned(Parity):
        def open(self) -> LanguageModel:
            opened = Parity()
            opened.alphabet = Alphabet("ba")
            return opened

    with pytest.raises(ModelError, match="another alphabet"):
        learn(Turned())


def test_words_are_found_by_their_places() -> None:
    words = Words.of([(0, 1), (), (2,)])
    assert [words[0], words[1], words[-1]] == [[0, 1], [], [2]]
    with pytest.raises(IndexError):
        words[3]
