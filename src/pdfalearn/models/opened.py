"""The border: models are opened here, and what they answer is checked here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.errors import ModelError
from pdfalearn.models.batch import Batch, number_words
from pdfalearn.models.cost import QueryCost
from pdfalearn.models.protocol import LanguageModel, attach_answers, attached_answers
from pdfalearn.row_checks import BadRowError, check_answer, check_table
from pdfalearn.rows import Floats, Rows, SharedRows
from pdfalearn.words import Words

_MOST_BYTES = 2**26
"""The rows of a batch take at most this many bytes, if they are dense."""


class Members(NamedTuple):
    """What a model says about itself."""

    alphabet: Alphabet
    fingerprint: str | None
    cost: QueryCost


class BadAnswerError(ModelError):
    """A model's answer to a word is not a distribution.

    ``row`` says what it is, ``word_id`` is the word's number in the batch.
    """

    def __init__(self, word: str, row: str, word_id: int) -> None:
        super().__init__(f"the model's answer to the word {word}: {row}")
        self.row = row
        self.word_id = word_id


def check_members(model: LanguageModel) -> Members:
    """Return what a model says about itself; refuse what is wrong."""
    alphabet = _member(model, "alphabet", "set it to an Alphabet")
    if not isinstance(alphabet, Alphabet):
        raise _wrong(model, "alphabet", alphabet, "set it to an Alphabet")
    fingerprint = _member(model, "fingerprint", "set it to a text, or to None")
    if not (fingerprint is None or (isinstance(fingerprint, str) and fingerprint)):
        remedy = "set it to a text that is not empty, or to None"
        raise _wrong(model, "fingerprint", fingerprint, remedy)
    cost = _member(model, "cost", "set it to a QueryCost")
    if not isinstance(cost, QueryCost):
        remedy = "set it to a QueryCost, such as QueryCost(word=1, prefix=1)"
        raise _wrong(model, "cost", cost, remedy)
    for name in ("full_support", "needs_prefixes"):
        flag = _member(model, name, "set it to True or False")
        if not isinstance(flag, bool | np.bool_):
            raise _wrong(model, name, flag, "set it to True or False")
    return Members(alphabet, fingerprint, cost)


def open_model(model: LanguageModel) -> LanguageModel:
    """Open a model for one run, with every answer of it checked.

    Wrappers open the model inside of them by this function, too: so a row is checked once, where
    it comes from code that is not ours, before anything is computed of it.
    """
    check_members(model)
    opened: object = model.open()
    if not isinstance(opened, LanguageModel):
        raise ModelError(
            f"{type(model).__name__}.open returned {_short(opened)}: it has to return a "
            "LanguageModel, such as the model itself"
        )
    return opened if isinstance(opened, CheckedModel) else OpenedModel(opened, model)


class CheckedModel(LanguageModel):
    """An opened model whose answers need no check: they are made of rows that were checked."""


class OpenedModel(CheckedModel):
    """What a model's `open` has returned, with every answer checked.

    Parameters
    ----------
    opened : LanguageModel
        What answers.
    model : LanguageModel
        The model that was opened.
    """

    def __init__(self, opened: LanguageModel, model: LanguageModel) -> None:
        self.model = opened
        self.alphabet = model.alphabet
        self.fingerprint = model.fingerprint
        self.cost = model.cost
        self.full_support = bool(model.full_support)
        self.needs_prefixes = bool(model.needs_prefixes)
        self.answers_by_copy = model.answers_by_copy  # type: ignore[method-assign]
        self._is_own = opened is model
        self._width = len(model.alphabet) + 1
        self._table: Floats | None = None
        """The table of shared rows that was checked last."""

    def answer(self, batch: Batch) -> Rows:
        """Return the model's rows; refuse what is not a distribution, and name the word."""
        try:
            given: object = self.model.answer(batch)
        except BaseException as error:
            self._check_attached(error)
            raise
        return self._checked(given, batch)

    def _checked(self, given: object, batch: Batch) -> Rows:
        try:
            if isinstance(given, SharedRows) and given.table is not self._table:
                check_table(given, self._width, self.alphabet)
                self._table = given.table
            return check_answer(given, batch.count, self._width, self.alphabet)
        except BadRowError as error:
            word_id = int(batch.wanted_ids[error.place]) if batch.count else 0
            word = self.alphabet.decode(batch.spell(word_id))
            raise BadAnswerError(shortened(word), str(error), word_id) from error

    def _check_attached(self, error: BaseException) -> None:
        """Check answers that are attached to an error; such as are wrong are left out."""
        partial = attached_answers(error)
        if partial is None:
            return
        try:
            rows = check_answer(partial.rows, len(partial.ids), self._width, self.alphabet)
        except (BadRowError, ModelError):
            rows = partial.rows.take(np.arange(0))
        attach_answers(error, partial.ids[: len(rows)], rows)

    def close(self) -> None:
        """Close what was opened, unless that is the model itself."""
        if not self._is_own:
            self.model.close()


def close_quietly(opened: LanguageModel) -> str | None:
    """Close an opened model, whatever happens; return a line about what went wrong, if any."""
    try:
        opened.close()
    except BaseException as error:  # what was learnt counts for more than how the model ends
        while isinstance(inner := getattr(opened, "model", None), LanguageModel):
            opened = inner
        return f"{type(opened).__name__}.close raised {error_text(error)}"
    return None


@contextmanager
def opened_model(model: LanguageModel) -> Iterator[LanguageModel]:
    """Open a model, and close it in every case.

    An error while closing is never the outcome; if there is another error, it becomes its note.
    """
    opened = open_model(model)
    try:
        yield opened
    except BaseException as error:
        note = close_quietly(opened)
        if note is not None:
            error.add_note(note)
        raise
    close_quietly(opened)


def ask_words(model: LanguageModel, words: Words, *, most_bytes: int = _MOST_BYTES) -> Rows:
    """Ask a model, opened for these words alone, how each of them may go on.

    Parameters
    ----------
    model : LanguageModel
        The model.
    words : Words
        The words; one that occurs several times is asked once.
    most_bytes : int
        How many bytes the rows of a batch may take, if they were dense.

    Examples
    --------
    >>> from pdfalearn import AutomatonModel, figure_1
    >>> ask_words(AutomatonModel(figure_1()), Words.of([(), (0,), ()])).to_dense()
    array([[0. , 1. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    if not len(words):
        return Rows.dense(np.empty((0, len(model.alphabet) + 1)))
    batch, places = number_words(words)
    with opened_model(model) as opened:
        return answer_in_parts(opened, batch, most_bytes=most_bytes).take(places)


def answer_in_parts(opened: LanguageModel, batch: Batch, *, most_bytes: int = _MOST_BYTES) -> Rows:
    """Ask an opened model for a batch, in parts whose rows are bounded in bytes."""
    size = max(1, most_bytes // (8 * (len(opened.alphabet) + 1)))
    if batch.count <= size:
        return opened.answer(batch)
    begins = range(0, batch.count, size)
    parts = (np.arange(begin, min(begin + size, batch.count)) for begin in begins)
    return Rows.joined([opened.answer(batch.select(part)) for part in parts])


def error_text(error: BaseException) -> str:
    """Write an error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _member(owner: object, name: str, remedy: str) -> object:
    try:
        return getattr(owner, name)
    except Exception as error:
        lacks = isinstance(error, AttributeError) and not hasattr(type(owner), name)
        what = f"has no {name}" if lacks else f"has {name} that raised {error_text(error)}"
        raise ModelError(f"{type(owner).__name__} {what}: {remedy}") from error


def _wrong(owner: object, name: str, given: object, remedy: str) -> ModelError:
    return ModelError(f"{type(owner).__name__}.{name} is {_short(given)}: {remedy}")


def _short(given: object) -> str:
    text = " ".join(repr(given).split())
    return text if len(text) <= 80 else f"{text[:70]}… (a {type(given).__name__})"
