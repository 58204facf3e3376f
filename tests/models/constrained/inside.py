"""Models to put into wrappers, and how to ask them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pdfalearn import PDFA, FunctionModel, Guided, LanguageModel, Temperature, TopK, TopP
from pdfalearn.alphabet import Alphabet
from pdfalearn.languages import DFA
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words
from pdfalearn.models.protocol import EVERY_WORD, QueryCost
from pdfalearn.rows import Rows, SharedRows
from pdfalearn.words import Words, offsets_of

Codes = tuple[int, ...]
Wrapping = Callable[[LanguageModel], LanguageModel]

WRAPPINGS: dict[str, Wrapping] = {
    "guided": lambda model: Guided(
        model, DFA(alphabet="ab", transitions=[[0, -1]], accepting=[True])
    ),
    "top-k": lambda model: TopK(model, 2),
    "top-p": lambda model: TopP(model, 0.9),
    "temperature": lambda model: Temperature(model, 0.5),
    "all": lambda model: TopK(TopP(Temperature(model, 2.0), 0.9), 2),
}


def model_of(*rows: list[float]) -> FunctionModel:
    """After a word of length n comes the row n, and the last one for ever."""
    symbols = "abcdefgh"[: len(rows[0]) - 1]
    return FunctionModel(lambda words: [rows[min(len(w), len(rows) - 1)] for w in words], symbols)


def rows_after(model: LanguageModel, *words: Sequence[int]) -> Rows:
    """The rows of a freshly opened model."""
    return ask_words(model, Words.of(words))


def first_row(model: LanguageModel) -> NDArray[np.float64]:
    """The distribution after the empty word."""
    row: NDArray[np.float64] = rows_after(model, ()).to_dense()[0]
    return row


def row_after(model: LanguageModel, word: Sequence[int]) -> list[float]:
    """The distribution after a word, rounded."""
    rows = rows_after(model, word)
    assert rows.undefined is None or not rows.undefined.any()
    return [round(value, 6) for value in rows.to_dense()[0].tolist()]


def may_follow(rows: Rows) -> list[set[int]]:
    """The symbols that are not impossible in each row."""
    if rows.offsets is None or rows.columns is None:
        if rows.impossible is None:
            return [set(range(rows.width - 1)) for _ in range(len(rows))]
        return [set((~mask).nonzero()[0].tolist()) for mask in rows.impossible]
    assert rows.rest is None
    lists = np.split(rows.columns, rows.offsets[1:-1])
    return [set((columns[columns > 0] - 1).tolist()) for columns in lists]


class RowsModel(LanguageModel):
    """Returns the same rows for the words of every batch, the first for the first and so on."""

    def __init__(self, rows: Rows) -> None:
        self.alphabet = Alphabet([f"s{number}" for number in range(rows.width - 1)])
        self._rows = rows

    def answer(self, batch: Batch) -> Rows:
        return self._rows.take(np.arange(batch.count))


class SparseModel(AutomatonModel):
    """A PDFA that lists only this many symbols of a distribution, the most probable ones; or all.

    If it lists all, then only those that are defined.
    """

    def __init__(self, pdfa: PDFA, listed: int | None = None) -> None:
        super().__init__(pdfa)
        self._rows = _listed(pdfa, listed)

    def open(self) -> LanguageModel:  # type: ignore[override]
        return self

    def answer(self, batch: Batch) -> Rows:
        shared = AutomatonModel(self.pdfa).open().answer(batch)
        assert isinstance(shared, SharedRows)
        rows = self._rows.take(shared.numbers)
        rows.undefined = shared.undefined
        return rows


def _listed(pdfa: PDFA, most: int | None) -> Rows:
    listed = np.ones(pdfa.probabilities.shape, dtype=bool)
    if most is None:
        listed[:, 1:] = pdfa.transitions >= 0
    else:
        listed[:, 1:] = np.argsort(np.argsort(-pdfa.probabilities[:, 1:], axis=1)) < most
    unlisted = np.where(listed, 0.0, pdfa.probabilities)
    return Rows.sparse(
        len(pdfa.alphabet) + 1,
        offsets_of(np.count_nonzero(listed, axis=1)),
        listed.nonzero()[1],
        pdfa.probabilities[listed],
        rest=unlisted.sum(axis=1),
        ceiling=unlisted.max(axis=1),
    )


class RecordingModel(LanguageModel):
    """A PDFA that is asked as a black box, and remembers every word.

    Parameters
    ----------
    target : PDFA
        What answers.
    cost : QueryCost
        What asking is said to cost.
    full_support : bool
        Whether it says that everything is possible.
    """

    def __init__(
        self, target: PDFA, *, cost: QueryCost = EVERY_WORD, full_support: bool = False
    ) -> None:
        self.alphabet = target.alphabet
        self.cost = cost
        self.full_support = full_support
        self.asked: list[Codes] = []
        """Every word whose row was wanted."""
        self.met: set[Codes] = set()
        """Every word of a batch, on the way or wanted."""
        self.is_open = 0
        """How often it was opened and not closed."""
        self._target = target

    def open(self) -> LanguageModel:
        self.is_open += 1
        return _Recording(self)

    def answer(self, batch: Batch) -> Rows:
        """Note a batch, and answer it."""
        self.asked += map(tuple, batch.words)
        self.met.update(tuple(batch.spell(int(word))) for word in batch.ids)
        rows = AutomatonModel(self._target).answer(batch)
        return Rows.dense(rows.values, undefined=rows.undefined, impossible=rows.impossible)

    def assert_stayed_in(self, constrained: PDFA) -> None:
        """No word was asked for, or on the way, that is undefined under the constraints."""
        words = sorted(self.met | set(self.asked))
        ends = constrained.states_after(map(constrained.alphabet.decode, words))
        outside = [word for word, end in zip(words, ends, strict=True) if end < 0]
        assert not outside


class _Recording(LanguageModel):
    def __init__(self, model: RecordingModel) -> None:
        self.alphabet = model.alphabet
        self._model = model
        self._is_closed = False

    def answer(self, batch: Batch) -> Rows:
        assert not self._is_closed
        return self._model.answer(batch)

    def close(self) -> None:
        assert not self._is_closed
        self._is_closed = True
        self._model.is_open -= 1
