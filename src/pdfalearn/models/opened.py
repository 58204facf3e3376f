"""The border: models are opened here, and what they answer is checked here and nowhere else."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from types import FrameType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.errors import ModelError
from pdfalearn.models.batch import Batch, number_words
from pdfalearn.models.protocol import LanguageModel, QueryCost, attach_answers, attached_answers
from pdfalearn.row_checks import BadRowError, check_answer, check_table, right_rows
from pdfalearn.rows import Rows, SharedRows
from pdfalearn.text import described
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

News = TypeVar("News")

# The rows of a batch take at most this many bytes, if they are dense.
_MOST_BYTES = 2**26


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


# What a model says about itself, and what to do where that is something else.
_TYPES = {
    "alphabet": (Alphabet, "set it to an Alphabet"),
    "fingerprint": (str | None, "set it to a text that is not empty, or to None"),
    "cost": (QueryCost, "set it to a QueryCost, such as QueryCost(word=1, prefix=1)"),
    "full_support": (bool | np.bool_, "set it to True or False"),
    "needs_prefixes": (bool | np.bool_, "set it to True or False"),
}


def check_members(model: LanguageModel) -> Members:
    """Return what a model says about itself; refuse what is wrong."""
    members: list[Any] = []
    for name, (kind, remedy) in _TYPES.items():
        try:
            given = getattr(model, name)
        except Exception as error:
            lacks = isinstance(error, AttributeError) and not hasattr(type(model), name)
            what = f"has no {name}" if lacks else f"has {name} that raised {error_text(error)}"
            raise ModelError(f"{type(model).__name__} {what}: {remedy}") from error
        if not isinstance(given, kind) or (isinstance(given, str) and not given):
            raise ModelError(f"{type(model).__name__}.{name} is {described(given)}: {remedy}")
        members.append(given)
    return Members(*members[:3])


def open_model(model: LanguageModel) -> LanguageModel:
    """Open a model for one run, with every answer of it checked.

    Wrappers open the model inside of them by this function, too: so a row is checked once, where
    it comes from code that is not ours, before anything is computed of it.
    """
    members = check_members(model)
    opened: object = model.open()
    if not isinstance(opened, LanguageModel):
        raise ModelError(
            f"{type(model).__name__}.open returned {described(opened)}: it has to return a "
            "LanguageModel, such as the model itself"
        )
    alphabet = getattr(opened, "alphabet", members.alphabet)
    if alphabet is not members.alphabet and alphabet != members.alphabet:
        raise ModelError(
            f"{type(model).__name__}.open returned a model over another alphabet: it has to be "
            f"{described(members.alphabet)}"
        )
    return opened if isinstance(opened, CheckedModel) else OpenedModel(opened, model, members)


class CheckedModel(LanguageModel):
    """An opened model whose answers need no check: they are made of rows that were checked."""


class OpenedModel(CheckedModel):
    """What a model's `open` has returned, with every answer checked."""

    def __init__(self, opened: LanguageModel, model: LanguageModel, members: Members) -> None:
        self.model = opened
        self.alphabet, self.fingerprint, self.cost = members
        self.full_support = bool(model.full_support)
        self.needs_prefixes = bool(model.needs_prefixes)
        self.answers_by_copy = model.answers_by_copy  # type: ignore[method-assign]
        self._is_own = opened is model
        self._width = len(self.alphabet) + 1
        # The table of shared rows that was checked last, if all of it is right.
        self._table: Floats | None = None

    def answer(self, batch: Batch) -> Rows:
        """Return the model's rows; refuse what is not a distribution, and name the word.

        What is right in an answer that is refused is attached to the error.
        """
        if batch.are_possible:  # in the model of somebody else wrappers inside may cut more
            batch = copy(batch)
            batch.are_possible = False
        try:
            given: object = self.model.answer(batch)
        except BaseException as error:
            partial = attached_answers(error)
            if partial is not None:
                self._attach_right(error, partial.ids, partial.rows, batch)
            raise
        try:
            if isinstance(given, SharedRows) and given.table is not self._table:
                self._table = given.table if check_table(given, self.alphabet) else None
            return check_answer(given, batch.count, self._width, self.alphabet)
        except BadRowError as error:
            word_id = int(batch.wanted_ids[error.place]) if batch.count else 0
            word = self.alphabet.decode(batch.spell(word_id))
            named = BadAnswerError(shorten(word), str(error), word_id)
            self._attach_right(named, batch.wanted_ids, given, batch)
            raise named from error

    def _attach_right(
        self, error: BaseException, ids: Integers, given: object, batch: Batch
    ) -> None:
        """Attach to an error what is right of an answer: nothing that was paid for is lost."""
        kept = np.asarray(ids)
        # Wrappers inside may have asked for what leads to the words: such ids are smaller.
        if kept.ndim != 1 or not ((kept >= 0) & (kept <= batch.ids[-1])).all():
            error.add_note(
                f"the answers to {described(ids)} are lost: these are not ids of the batch"
            )
            kept = kept.reshape(-1)[:0]
        places, rows = right_rows(given, len(kept), self._width, self.alphabet)
        if len(places) < len(kept) and kept is not batch.wanted_ids:
            error.add_note(f"of {len(kept)} answers that were attached {len(places)} are right")
        attach_answers(error, kept[places], rows)

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
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.models import AutomatonModel
    >>> ask_words(AutomatonModel(figure_1()), Words.of([(), (0,), ()])).to_dense()
    array([[0. , 1. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    if not len(words):
        return Rows.dense(np.empty((0, len(model.alphabet) + 1)))
    batch, places = number_words(words)
    return ask_batch(model, batch, most_bytes=most_bytes).take(places)


def ask_batch(
    model: LanguageModel,
    batch: Batch,
    *,
    most_bytes: int = _MOST_BYTES,
    interrupts: Interrupts | None = None,
) -> Rows:
    """Ask a model, opened for this batch alone, in parts whose rows are bounded in bytes.

    An error while closing is never the outcome; if there is another error, it becomes its note. So
    a Ctrl-C is let through while the model answers, and not while it closes.
    """
    opened = open_model(model)
    interrupts = interrupts or Interrupts()
    size = max(1, most_bytes // (8 * (len(model.alphabet) + 1)))
    places = np.split(np.arange(batch.count), range(size, batch.count, size))
    try:
        # Within the block, so that an interrupt at any moment of it closes the model.
        interrupts.is_calling = True
        if len(places) == 1:
            rows = opened.answer(batch)
        else:
            rows = Rows.join([opened.answer(batch.select(part)) for part in places])
        interrupts.is_calling = False
    except BaseException as error:
        interrupts.is_calling = False
        if (note := close_quietly(opened)) is not None:
            error.add_note(note)
        raise
    close_quietly(opened)
    return rows


class Interrupts:
    """Holds a Ctrl-C back until a run is at a place where it can stop.

    Inside a ``with`` block a first Ctrl-C is noted, and raised as a `KeyboardInterrupt` by the
    next `check`, or at once while ``is_calling`` is set, as it is around calls of the model. A
    second one is raised at once in any case. Nothing is changed in threads other than the main
    one, or where a program handles Ctrl-C itself.
    """

    is_calling = False
    """Whether code runs that may be stopped anywhere."""
    progress: Callable[..., None] | None = None
    """What to call with news of a long run."""
    salvage: Callable[[], Any] | None = None
    """What returns what was found until a Ctrl-C, as soon as there may be anything."""
    _is_pending = False
    _is_installed = False

    def __enter__(self) -> Interrupts:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._is_installed = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._is_installed = False

    def _note(self, signum: int, frame: FrameType | None) -> None:
        if self.is_calling or self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt
        self._is_pending = True

    def check(self) -> None:
        """Raise a Ctrl-C that was held back."""
        if self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt

    def report(self, progress: Callable[[News], None], news: News) -> None:
        """Call the function for progress, which a Ctrl-C may stop anywhere."""
        self.check()
        self.is_calling = True
        try:
            progress(news)
        finally:
            self.is_calling = False


@contextmanager
def run_long(
    shown: AbstractContextManager[Callable[..., None] | None] | None,
    stopped: Callable[[Any], KeyboardInterrupt],
) -> Iterator[Interrupts]:
    """Show progress, and hold a Ctrl-C back until a run is at a place where it can stop.

    Then ``stopped`` is raised, with what ``salvage`` returns.
    """
    interrupts = Interrupts()
    try:
        with shown or nullcontext() as interrupts.progress, interrupts:
            yield interrupts
        interrupts.check()
    except KeyboardInterrupt as interrupt:
        raise stopped(interrupts.salvage and interrupts.salvage()) from interrupt


def error_text(error: BaseException) -> str:
    """Write an error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
