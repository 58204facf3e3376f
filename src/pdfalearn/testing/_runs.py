"""Runs of a model under watch: whatever it does wrong is named with the word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.errors import ModelError
from pdfalearn.models import (
    BadAnswerError,
    Batch,
    LanguageModel,
    Lineage,
    close_quietly,
    error_text,
    open_model,
)
from pdfalearn.rows import Rows
from pdfalearn.typing import Flags, Floats

Word = tuple[int, ...]
"""A word, as places in the alphabet."""
_Returned = TypeVar("_Returned")

_ROWS = (
    "return a distribution for each wanted word, in their order: the terminal first, then every "
    "symbol, nothing below 0, and 1 as their sum; None in a list says that a word is undefined"
)


class Answer(NamedTuple):
    """The answer to one word."""

    # The distribution; None if the word is undefined.
    row: Floats | None
    # Which symbols have a probability above 0 for sure.
    likely: Flags
    # With which symbols no word goes on.
    impossible: Flags

    def difference(self, other: Answer, alphabet: Alphabet, tolerance: float) -> str | None:
        """Return how two answers differ, as in "gives …, but …"; None if they are the same."""
        if self.row is None or other.row is None:
            if self.row is other.row:
                return None
            return 'is "undefined", but a row' if self.row is None else 'is a row, but "undefined"'
        apart = np.abs(self.row - other.row)
        column = int(apart.argmax())
        if apart[column] > tolerance:
            name = column_name(alphabet, column)
            return f"gives {name} probability {self.row[column]:.9g}, but {other.row[column]:.9g}"
        for symbol in np.flatnonzero(self.impossible != other.impossible)[:1].tolist():
            says = "impossible, but possible" if self.impossible[symbol] else "possible, but not"
            return f"calls {column_name(alphabet, symbol + 1)} {says}"
        return None


def read_answers(rows: Rows) -> list[Answer]:
    """Return rows one by one."""
    table = np.array(rows.to_dense())
    likely, impossible = table[:, 1:] > 0, np.zeros((len(table), rows.width - 1), dtype=bool)
    if rows.columns is not None:
        listed = np.zeros(table.shape, dtype=bool)
        listed[rows.row_numbers, rows.columns] = True
        likely &= listed[:, 1:]
        impossible = ~listed[:, 1:] & (rows.rests <= 0)[:, None]
    elif rows.impossible is not None:
        impossible = np.array(rows.impossible)
    undefined = np.zeros(len(table), dtype=bool) if rows.undefined is None else rows.undefined
    parts = zip(table, likely, impossible, undefined.tolist(), strict=True)
    return [Answer(None if is_lost else row, *flags) for row, *flags, is_lost in parts]


def word_name(alphabet: Alphabet, word: Word) -> str:
    """Write a word for a message."""
    return f"the word {shorten(alphabet.decode(word))}" if word else "the empty word"


def column_name(alphabet: Alphabet, column: int) -> str:
    """Write what a column of a row stands for."""
    if not column:
        return f"the terminal {alphabet.terminal!r}"
    return f"the symbol {alphabet.symbols[column - 1]!r}"


class Run:
    """A freshly opened model that is asked for words, and closed at the end of a ``with`` block.

    Words get their ids in the given order; others get theirs when they are asked for.
    """

    def __init__(self, model: LanguageModel, order: Iterable[Word] = ()) -> None:
        self._model = model
        self._alphabet = model.alphabet
        self.ids: dict[Word, int] = {(): 0}
        self._number(order)
        # The rows that were returned last, and what they were then.
        self._rows = Rows.dense(np.empty((0, len(model.alphabet) + 1)))
        self._answers: list[Answer] = []
        self._opened = self._call("open", [], lambda: open_model(model))

    def __enter__(self) -> Run:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None:
            self._call("close", [], self._opened.close)
        elif (note := close_quietly(self._opened)) is not None:
            error.add_note(note)

    def _number(self, words: Iterable[Word]) -> None:
        for word in words:
            for length in range(1, len(word) + 1):
                self.ids.setdefault(word[:length], len(self.ids))

    def ask(self, words: Sequence[Word], passed: Iterable[Word] = ()) -> dict[Word, Answer]:
        """Ask for different words in one batch, with others in it that no row is wanted of."""
        if not words:
            return {}
        self._number(words)
        wanted = set(words)
        every = sorted(wanted.union(passed), key=self.ids.__getitem__)
        ids, flags = zip(*((self.ids[word], word in wanted) for word in every), strict=True)
        # Each word comes from the word without its last symbol; the empty one from itself.
        parents = np.array([self.ids[word[:-1]] for word in self.ids])
        symbols = np.array([word[-1] if word else 0 for word in self.ids], dtype=np.int32)
        lineage = Lineage(parents, symbols)
        batch = Batch.of_ids(np.array(ids), np.array(flags), lineage)
        before = _arrays(batch)
        rows = self._call("answer", words, lambda: self._opened.answer(batch))
        asked = [word for word in every if word in wanted]
        is_same = all(map(np.array_equal, _arrays(batch), before))
        if not is_same or [tuple(codes) for codes in batch.words] != asked:
            raise self.wrong("answer changed the arrays of its batch: work on copies", words)
        for now, then in zip(read_answers(self._rows), self._answers, strict=True):
            if now.difference(then, self._alphabet, 0.0) is not None:
                raise self.wrong("rows changed after answer returned them: return a copy")
        self._rows, self._answers = rows, read_answers(rows)
        return dict(zip(asked, self._answers, strict=True))

    def _call(self, method: str, words: Sequence[Word], call: Callable[[], _Returned]) -> _Returned:
        """Call a method of the model; name it, and what it was asked, if it fails."""
        try:
            return call()
        except BadAnswerError as error:
            raise self.wrong(f"{error}; {_ROWS}") from error
        except ModelError as error:
            raise self.wrong(str(error), words) from error
        except Exception as error:
            raise self.wrong(f"{method} raised {error_text(error)}", words) from error

    def wrong(self, what: str, words: Sequence[Word] = ()) -> ModelError:
        """Return an error that names the model, and what it was asked."""
        named = ""
        if words:
            others = f" and {len(words) - 1} others" if len(words) > 1 else ""
            named = f" (asked about {word_name(self._alphabet, words[0])}{others})"
        return ModelError(f"{type(self._model).__name__}: {what}{named}")


def _arrays(batch: Batch) -> list[np.ndarray]:
    lineage = batch.lineage
    arrays = (batch.ids, batch.parents, batch.symbols, batch.wanted)
    return [array.copy() for array in (*arrays, lineage.parents, lineage.symbols)]
