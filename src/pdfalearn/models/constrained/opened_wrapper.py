"""What answers one run of a wrapper: it changes the rows of the opened model inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.errors import ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import CheckedModel
from pdfalearn.models.protocol import LanguageModel, attach_answers, attached_answers
from pdfalearn.rows import Rows, SharedRows
from pdfalearn.typing import Flags, Integers

if TYPE_CHECKING:
    from pdfalearn.models.constrained.wrapper import Wrapper

States = NDArray[np.integer]

# Shared rows stay shared if the table of what becomes of them has at most this many cells: it is
# kept beside the rows that a run has met.
_MOST_CELLS = 2**21


class UnchangeableError(ValueError):
    """Some rows cannot be changed; ``bad`` marks them, and the message is about the first."""

    def __init__(self, message: str, bad: Flags) -> None:
        super().__init__(message)
        self.bad = bad


class OpenedWrapper(CheckedModel):
    """Changes the rows of an opened model."""

    def __init__(self, wrapper: Wrapper, inner: LanguageModel) -> None:
        self.model = inner
        self.wrapper = wrapper
        self.alphabet, self.cost = wrapper.alphabet, wrapper.cost
        self.full_support = wrapper.full_support
        self.needs_prefixes = wrapper.needs_prefixes
        self.is_constrained = wrapper.is_constrained
        self.answers_by_copy = wrapper.answers_by_copy  # type: ignore[method-assign]
        self._shared: _SharedChanges | None = None

    def answer(self, batch: Batch) -> Rows:
        """Return the changed rows of the model inside."""
        return self._ask(batch)

    def close(self) -> None:
        """Close the model inside."""
        self.model.close()

    def _ask(self, batch: Batch) -> Rows:
        """Ask the model inside for a batch, and change its rows.

        What was answered before an error is attached to it, changed like everything else.
        """
        try:
            rows = self.model.answer(batch)
        except BaseException as error:
            partial = attached_answers(error)
            if partial is not None:
                attach_answers(error, *self._change_possible(partial.ids, partial.rows))
            raise
        try:
            return self._change(rows, self._states_of(batch.wanted_ids))
        except UnchangeableError as fault:
            word = batch.word(int(fault.bad.argmax()))
            named = unchangeable_word(self.alphabet, word, fault)
            attach_answers(named, *self._change_possible(batch.wanted_ids, rows))
            raise named from fault

    def _change_possible(self, ids: Integers, rows: Rows) -> tuple[Integers, Rows]:
        """Change what can be changed of rows; leave out the others."""
        while True:
            try:
                return ids, self._change(rows, self._states_of(ids))
            except UnchangeableError as fault:  # each fault once, so that this ends soon
                places = (~fault.bad).nonzero()[0]
                ids, rows = ids[places], rows.take(places)

    def _states_of(self, ids: Integers) -> States | None:
        """Return the states of the wrapper's automaton after words, if it has one."""
        return None

    def _change(self, rows: Rows, states: States | None) -> Rows:
        """Change rows, and those that words share only once."""
        if not isinstance(rows, SharedRows):
            return self.wrapper.change_rows(rows, states)
        if self._shared is None or self._shared.table is not rows.table:
            if rows.table.size * self.wrapper.states > _MOST_CELLS:
                return self.wrapper.change_rows(rows, states)
            self._shared = _SharedChanges(self.wrapper, rows)
        return self._shared.change(rows, states)


class _SharedChanges:
    """Changes the rows of a table, each when it first occurs in a state."""

    def __init__(self, wrapper: Wrapper, rows: SharedRows) -> None:
        self.table = rows.table
        self._wrapper = wrapper
        count = len(rows.table) * wrapper.states
        self._changed = np.empty((count, rows.width))
        is_marked = wrapper.cuts or rows.impossible_after is not None
        self._impossible = np.zeros((count, rows.width - 1), dtype=bool) if is_marked else None
        self._is_changed = np.zeros(count, dtype=bool)

    def change(self, rows: SharedRows, states: States | None) -> Rows:
        numbers = rows.numbers
        if states is not None:
            numbers = numbers * self._wrapper.states + states
        missing = ~self._is_changed[numbers]
        if rows.undefined is not None:
            missing &= ~rows.undefined
        if missing.any():
            new = np.unique(numbers[missing])
            before, new_states = np.divmod(new, self._wrapper.states)
            source = Rows.shared(rows.table, before, impossible=rows.impossible_after)
            try:
                changed = self._wrapper.change_defined(source, new_states)
            except UnchangeableError as fault:
                bad = missing & np.isin(numbers, new[fault.bad])
                raise UnchangeableError(str(fault), bad) from fault
            self._changed[new] = changed.values
            if self._impossible is not None:
                self._impossible[new] = changed.impossible
            self._is_changed[new] = True
        return Rows.shared(
            self._changed, numbers, impossible=self._impossible, undefined=rows.undefined
        )


def unchangeable_word(
    alphabet: Alphabet, word: Sequence[int], fault: UnchangeableError
) -> ModelError:
    """Make the error for a word whose row cannot be changed."""
    named = shorten(alphabet.decode(word))
    return ModelError(f"the model's answer to the word {named}: {fault}")
