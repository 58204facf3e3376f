"""What all wrappers have in common: how they change rows; temperature, the plainest of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.checks import checked_number
from pdfalearn.errors import ModelError
from pdfalearn.models.automaton import as_model
from pdfalearn.models.batch import Batch
from pdfalearn.models.constrained._rows import (
    SPARSE_ABOVE,
    UnchangeableError,
    divide_dense,
    divide_sparse,
    list_some,
    parts_of,
    refuse_undecided,
    spread_rows,
)
from pdfalearn.models.opened import CheckedModel, ask_batch, close_quietly, open_model
from pdfalearn.models.protocol import LanguageModel, QueryCost, attach_answers, attached_answers
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Rows, SharedRows
from pdfalearn.typing import Flags, Floats, Integers

States = NDArray[np.integer]

_MOST_CELLS = 2**21
"""Shared rows stay shared if the table of what becomes of them has at most this many cells: it is
kept beside the rows that a run has met."""


class Wrapper(LanguageModel, ABC):
    """A model around another one, with the same alphabet, that changes its rows.

    What the model inside says about itself, and what its copies answer, is passed on here, for all
    wrappers.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    """

    cuts = False
    """Whether some symbols become impossible, and words with them undefined."""
    states = 1
    """How many states an automaton has that decides with the row what becomes of it."""
    _nothing_left = "nothing is left of it"
    """What is wrong where a changed row has no probability left."""

    def __init__(self, model: PDFA | LanguageModel) -> None:
        self.model: LanguageModel = as_model(model)
        self.alphabet = self.model.alphabet
        self.cost = self._cost(self.model.cost)
        self.full_support = self.model.full_support and not self.cuts
        self.needs_prefixes = self.model.needs_prefixes
        self.is_constrained = self.cuts or self.model.is_constrained

    @property
    def fingerprint(self) -> str | None:  # type: ignore[override]
        """A hash of the inner one and of what the wrapper does; None if the model has none."""
        inner = self.model.fingerprint
        does = f"{type(self).__name__}({self._parameters()})"
        return None if inner is None else sha256(f"{does} of {inner}".encode()).hexdigest()

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        """Return what each copy of the model inside answers."""
        return self.model.answers_by_copy(word)

    def answer(self, batch: Batch) -> Rows:
        """Return the changed rows of the model inside, opened for this batch alone."""
        return ask_batch(self, batch)

    def open(self) -> OpenedWrapper:
        """Open the model inside, with every answer of it checked."""
        inner = open_model(self.model)
        try:
            return self._around(inner)
        except BaseException:
            close_quietly(inner)
            raise

    def change_rows(self, rows: Rows, states: States | None = None) -> Rows:
        """Return what becomes of rows.

        Parameters
        ----------
        rows : Rows
            Rows of the model inside that were checked.
        states : array of int, optional
            The state of the wrapper's automaton for each row, if it has one.

        Raises
        ------
        UnchangeableError
            If nothing is left of a row, or if it does not list enough.
        """
        if rows.undefined is not None and rows.undefined.any():
            return self._change_defined(rows, states, rows.undefined)
        if rows.is_sparse:
            changed = self._change_sparse(rows, states)
        else:
            changed = self.change_dense(rows.values, rows.impossible, states)
            if self.cuts and rows.width - 1 > SPARSE_ABOVE:
                changed = changed.to_sparse()  # few of many symbols are left
        changed.outside = rows.outside
        return changed

    def _change_defined(self, rows: Rows, states: States | None, undefined: Flags) -> Rows:
        places = (~undefined).nonzero()[0]
        try:
            part = self.change_rows(rows.take(places), None if states is None else states[places])
        except UnchangeableError as error:
            bad = np.zeros(len(rows), dtype=bool)
            bad[places] = error.bad
            raise UnchangeableError(str(error), bad) from error
        changed = spread_rows(part, places, len(rows))
        changed.outside = rows.outside
        return changed

    def change_dense(self, values: Floats, impossible: Flags | None, states: States | None) -> Rows:
        """Return what becomes of a table of rows, as a table."""
        table = np.maximum(values, 0.0)  # a copy, without what rounding left below 0
        masks = None if impossible is None and not self.cuts else np.zeros(table.shape, dtype=bool)
        empty = np.zeros(len(table), dtype=bool)
        for part in parts_of(*table.shape):
            kept = self._weigh(table[part], None if states is None else states[part])
            empty[part] = divide_dense(table[part])
            if masks is not None and kept is not None:
                np.logical_not(kept, out=masks[part])
        self._refuse_empty(empty)
        if masks is None:
            return Rows.dense(table)
        if impossible is not None:
            masks[:, 1:] |= impossible
        return Rows.dense(table, impossible=masks[:, 1:])

    def _change_sparse(self, rows: Rows, states: States | None) -> Rows:
        values, kept = self._weigh_listed(rows, states)
        if kept is None:
            changed = Rows(rows.width, values, rows.columns, rows.offsets)
        else:
            changed = list_some(rows, values, kept | (rows.columns == 0))
        self._refuse_empty(divide_sparse(changed))
        return changed

    def _refuse_empty(self, empty: Flags) -> None:
        if empty.any():
            raise UnchangeableError(self._nothing_left, empty)

    def _cost(self, inner: QueryCost) -> QueryCost:
        """Return what asking costs, given what it costs to ask the model inside."""
        return inner

    def _around(self, inner: LanguageModel) -> OpenedWrapper:
        """Return what answers one run's batches, around the opened model inside."""
        return OpenedWrapper(self, inner)

    @abstractmethod
    def _parameters(self) -> str:
        """Return what tells this wrapper from others of its class."""

    @abstractmethod
    def _weigh(self, table: Floats, states: States | None) -> Flags | None:
        """Change probabilities in place; return which are kept, or None if all are.

        What is not kept is 0 then. The rows are divided by their sums afterwards.
        """

    @abstractmethod
    def _weigh_listed(self, rows: Rows, states: States | None) -> tuple[Floats, Flags | None]:
        """Return new values for sparse rows, and which of them are kept, or None if all are."""


class Temperature(Wrapper):
    """A language model whose probabilities are raised to the power 1/t and divided by their sum.

    Below 1 a temperature makes distributions steeper, above 1 flatter. What has probability 0
    keeps it, and words are defined or undefined as in the model inside. The model inside has to
    list every symbol that has any probability.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    temperature : float
        The temperature t, from 1e-6 to 1e6.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> from pdfalearn.samplers import Words
    >>> from pdfalearn.models.opened import ask_words
    >>> model = Temperature(FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab"), 0.5)
    >>> ask_words(model, Words.of([()])).to_dense().round(3)
    array([[0.111, 0.444, 0.444]])
    """

    def __init__(self, model: PDFA | LanguageModel, temperature: float) -> None:
        super().__init__(model)
        self.temperature = checked_number(temperature, "temperature", 1e-6, 1e6)

    def _parameters(self) -> str:
        return repr(self.temperature)

    def _weigh(self, table: Floats, states: States | None) -> None:
        self._heat(table, table.max(axis=1, keepdims=True))

    def _weigh_listed(self, rows: Rows, states: States | None) -> tuple[Floats, None]:
        reason = "a temperature changes all probabilities; let the model list every symbol"
        refuse_undecided(rows, rows.is_open, reason)
        values = np.maximum(rows.values, 0.0)
        if rows.offsets is not None and len(rows):
            self._heat(values, np.maximum.reduceat(values, rows.offsets[:-1])[rows.row_numbers])
        return values, None

    def _heat(self, values: Floats, largest: Floats) -> None:
        """Raise to the power, in place, with the largest probability of every row as 1.

        So the sum of a row is never too small to divide by.
        """
        np.divide(values, largest, out=values, where=largest > 0)
        np.power(values, 1 / self.temperature, out=values)


class OpenedWrapper(CheckedModel):
    """Changes the rows of an opened model.

    Parameters
    ----------
    wrapper : Wrapper
        What is done to rows.
    inner : LanguageModel
        The opened model inside, whose rows are checked.
    """

    def __init__(self, wrapper: Wrapper, inner: LanguageModel) -> None:
        self.model = inner
        self.wrapper = wrapper
        self.alphabet = wrapper.alphabet
        self.cost = wrapper.cost
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
            return self._change(batch.wanted_ids, rows)
        except UnchangeableError as fault:
            word = batch.word(int(fault.bad.argmax()))
            named = unchangeable_word(self.alphabet, word, fault)
            attach_answers(named, *self._change_possible(batch.wanted_ids, rows))
            raise named from fault

    def _change_possible(self, ids: Integers, rows: Rows) -> tuple[Integers, Rows]:
        """Change what can be changed of rows; leave out the others."""
        while True:
            try:
                return ids, self._change(ids, rows)
            except UnchangeableError as fault:  # each fault once, so that this ends soon
                places = (~fault.bad).nonzero()[0]
                ids, rows = ids[places], rows.take(places)

    def _change(self, ids: Integers, rows: Rows) -> Rows:
        """Change the rows of words."""
        return self._change_all(rows, None)

    def _change_all(self, rows: Rows, states: States | None) -> Rows:
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
        self._impossible = rows.impossible_after
        self._wrapper = wrapper
        count, width = len(rows.table) * wrapper.states, rows.width
        self._changed = np.empty((count, width))
        self._masks = np.zeros((count, width - 1), dtype=bool)
        self._is_changed = np.zeros(count, dtype=bool)
        self._marks = wrapper.cuts or rows.impossible_after is not None

    def change(self, rows: SharedRows, states: States | None) -> Rows:
        numbers = rows.numbers
        if states is not None:
            numbers = numbers * self._wrapper.states + states
        missing = ~self._is_changed[numbers]
        if rows.undefined is not None:
            missing &= ~rows.undefined
        if missing.any():
            new = np.unique(numbers[missing])
            try:
                self._add(new)
            except UnchangeableError as fault:
                bad = missing & np.isin(numbers, new[fault.bad])
                raise UnchangeableError(str(fault), bad) from fault
        impossible = self._masks if self._marks else None
        return Rows.shared(self._changed, numbers, impossible=impossible, undefined=rows.undefined)

    def _add(self, new: Integers) -> None:
        before, states = np.divmod(new, self._wrapper.states)
        impossible = None if self._impossible is None else self._impossible[before]
        changed = self._wrapper.change_dense(self.table[before], impossible, states)
        self._changed[new] = changed.values
        if changed.impossible is not None:
            self._masks[new] = changed.impossible
        self._is_changed[new] = True


def unchangeable_word(
    alphabet: Alphabet, word: Sequence[int], fault: UnchangeableError
) -> ModelError:
    """Make the error for a word whose row cannot be changed."""
    named = shortened(alphabet.decode(word))
    return ModelError(f"the model's answer to the word {named}: {fault}")
