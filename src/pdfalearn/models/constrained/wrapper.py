"""What all wrappers have in common: how they change rows; temperature, the plainest of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.checks import checked_number
from pdfalearn.errors import ModelError
from pdfalearn.models.automaton import as_model
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import CheckedModel, ask_batch, close_quietly, open_model
from pdfalearn.models.protocol import LanguageModel, QueryCost, attach_answers, attached_answers
from pdfalearn.pdfa import PDFA
from pdfalearn.row_checks import UndecidedError, check_decided
from pdfalearn.rows import Rows, SharedRows
from pdfalearn.typing import Flags, Floats, Integers

States = NDArray[np.integer]

SPARSE_ABOVE = 64
"""Over more symbols than this, what is left of dense rows is listed."""
CELLS_AT_ONCE = 2**20
"""At most about this many probabilities are changed at once, to keep the extra memory small."""
_MOST_CELLS = 2**21
"""Shared rows stay shared if the table of what becomes of them has at most this many cells: it is
kept beside the rows that a run has met."""


class UnchangeableError(ValueError):
    """Some rows cannot be changed; ``bad`` marks them, and the message is about the first."""

    def __init__(self, message: str, bad: Flags) -> None:
        super().__init__(message)
        self.bad = bad


class Part(NamedTuple):
    """Rows that are changed at once, dense or sparse, as a table."""

    table: Floats
    """What the rows list, in the order of the columns; zeros on the right fill short ones up."""
    columns: Integers | None
    """The column of every cell, 0 where it is filled up; None if no column is left out."""
    states: States | None
    """The state of the wrapper's automaton for each row, if it has one."""
    rests: Floats
    """The mass of which each row leaves open how the symbols that it does not list share it."""
    ceilings: Floats
    """The most that one of these symbols can have."""


class Wrapper(LanguageModel):
    """A model around another one, with the same alphabet, that changes its rows.

    A wrapper of your own has one method, `change`, and says with `parameters` what tells it from
    others of its class. All else is done here: what the model inside says about itself is passed
    on, its answers are checked before they are changed, and so are those before an error.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> class Smoothed(Wrapper):
    ...     parameters = "0.1"
    ...
    ...     def change(self, probabilities):
    ...         return probabilities + 0.1
    >>> Smoothed(figure_1()).answer(Batch.of([()])).to_dense().round(3)
    array([[0.083, 0.917]])
    """

    cuts = False
    """Whether some symbols become impossible, and words with them undefined."""
    states = 1
    """How many states an automaton has that decides with the row what becomes of it."""
    parameters: str | None = None
    """What tells this wrapper from others of its class; None if that cannot be said, and then it
    has no fingerprint."""
    _reads_lists = False
    """Whether `_weigh` takes sparse rows as lists; else they are written out."""
    _nothing_left = "nothing is left of it, or what the wrapper returned is NaN or negative"
    """What is wrong where a changed row has no probability left."""
    _remedy = "the wrapper changes all probabilities; let the model list every symbol"
    """Why a row that lists too little cannot be changed, and what to do about it."""

    def __init__(self, model: PDFA | LanguageModel) -> None:
        self.model: LanguageModel = as_model(model)
        self.alphabet = self.model.alphabet
        self.cost = self._cost(self.model.cost)
        self.full_support = self.model.full_support and not self.cuts
        self.needs_prefixes = self.model.needs_prefixes
        self.is_constrained = self.cuts or self.model.is_constrained

    @property
    def fingerprint(self) -> str | None:  # type: ignore[override]
        """A hash of the inner one and of what the wrapper does; None if one of them has none."""
        inner = self.model.fingerprint
        if inner is None or self.parameters is None:
            return None
        does = f"{type(self).__name__}({self.parameters})"
        return sha256(f"{does} of {inner}".encode()).hexdigest()

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

    def change(self, probabilities: Floats) -> Floats:
        """Return what becomes of distributions, before they are divided by their sums.

        Parameters
        ----------
        probabilities : array of float, shape (count, symbols + 1)
            Distributions, one a row, the terminal first. The array may be changed. A row has to be
            changed in the same way, whatever other rows there are.

        Returns
        -------
        array of float, shape (count, symbols + 1)
            Numbers from 0 on. In each row one at least is above 0, and the sum is finite.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method change")

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
        if rows.undefined is None or not rows.undefined.any():
            changed = self.change_defined(rows, states)
            if self.cuts and rows.width - 1 > SPARSE_ABOVE:
                changed = changed.to_sparse()  # few of many symbols are left
        else:
            places = (~rows.undefined).nonzero()[0]
            part, here = rows.take(places), None if states is None else states[places]
            part.undefined = None
            try:
                changed = self.change_rows(part, here).spread(places, len(rows))
            except UnchangeableError as error:
                bad = np.zeros(len(rows), dtype=bool)
                bad[places] = error.bad
                raise UnchangeableError(str(error), bad) from error
        changed.outside = rows.outside
        return changed

    def change_defined(self, rows: Rows, states: States | None) -> Rows:
        """Return what becomes of rows of which none is undefined, dense or sparse as they are."""
        if rows.is_sparse and not self._reads_lists:
            self._refuse_undecided(rows, rows.is_open)
            impossible = np.ones((len(rows), rows.width - 1), dtype=bool)
            impossible[rows.list_possible()] = False
            rows = Rows.dense(rows.to_dense(), impossible=impossible)
        values = np.maximum(rows.values, 0.0)  # a copy, without what rounding left below 0
        columns = rows.columns
        if columns is not None:  # the last cell stands for all that is filled up
            values, columns = np.append(values, 0.0), np.append(columns, 0)
        kept = np.ones(values.shape if self.cuts else 0, dtype=bool)
        undecided, is_empty = np.zeros((2, len(rows)), dtype=bool)
        rests, ceilings = np.where(rows.is_open, rows.rests, 0.0), rows.ceilings
        for places, cells in _cut_cells(rows):
            part = Part(
                values[cells],
                None if columns is None else columns[cells],
                None if states is None else states[places],
                rests[places],
                ceilings[places],
            )
            kept_here, undecided[places] = self._weigh(part)
            if kept_here is not None:
                kept[cells] = kept_here
            is_empty[places] = _divide(part.table)
            if columns is not None:  # of dense rows the part is a view
                values[cells] = part.table
        self._refuse_undecided(rows, undecided)
        if is_empty.any():
            raise UnchangeableError(self._nothing_left, is_empty)
        if rows.is_sparse:
            columns, offsets = rows.listing
            listed = kept[:-1] | (columns == 0) if self.cuts else np.ones(len(columns), dtype=bool)
            ends = np.append(0, np.cumsum(listed))[offsets]
            return Rows(rows.width, values[:-1][listed], columns[listed], ends)
        impossible = rows.impossible
        if self.cuts:
            impossible = ~kept[:, 1:] if impossible is None else ~kept[:, 1:] | impossible
        return Rows.dense(values, impossible=impossible)

    def _refuse_undecided(self, rows: Rows, undecided: Flags) -> None:
        try:
            check_decided(rows, undecided, self._remedy)
        except UndecidedError as error:
            raise UnchangeableError(str(error), undecided) from error

    def _cost(self, inner: QueryCost) -> QueryCost:
        """Return what asking costs, given what it costs to ask the model inside."""
        return inner

    def _around(self, inner: LanguageModel) -> OpenedWrapper:
        """Return what answers one run's batches, around the opened model inside."""
        return OpenedWrapper(self, inner)

    def _weigh(self, part: Part) -> tuple[Flags | None, Flags]:
        """Change the table in place; return which cells are kept, and which rows list too little.

        What is not kept is 0 then. None stands for everything, where nothing is cut.
        """
        changed = np.asarray(self.change(part.table), dtype=np.float64)
        if changed.shape != part.table.shape:
            raise ModelError(
                f"{type(self).__name__}.change returned an array of shape {changed.shape}, not "
                f"{part.table.shape}: a row for each distribution"
            )
        # NaN makes a sum that nothing can be divided by, so that the word is named.
        part.table[...] = np.where(changed >= 0, changed, np.nan)
        return None, part.rests > 0


def _cut_cells(rows: Rows) -> Iterator[tuple[Integers, slice | Integers]]:
    """Cut rows into parts: yield the places of some rows, and those of their cells, as a table.

    Sparse rows come longest first, so that little has to be filled up; -1 stands for that.
    """
    if not rows.is_sparse:
        step = max(1, CELLS_AT_ONCE // rows.width)
        for begin in range(0, len(rows), step):
            end = min(begin + step, len(rows))
            yield np.arange(begin, end), slice(begin, end)
        return
    offsets = rows.listing[1]
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    while len(order):
        width = max(1, int(lengths[order[0]]))
        places, order = np.split(order, [max(1, CELLS_AT_ONCE // width)])
        cells = offsets[places, None] + np.arange(width)
        yield places, np.where(np.arange(width) < lengths[places, None], cells, -1)


def _divide(table: Floats) -> Flags:
    """Divide every row of a table by its sum, in place; return which rows have nothing to divide.

    Sums are added up from the left, so that columns of zeros do not change them: they are the same
    for dense rows and for sparse ones.
    """
    sums = np.cumsum(table, axis=1)[:, -1:]
    is_right = (sums > 0) & (sums < np.inf)
    np.divide(table, sums, out=table, where=is_right)
    return np.asarray(~is_right[:, 0])


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

    _reads_lists = True
    _remedy = "a temperature changes all probabilities; let the model list every symbol"

    def __init__(self, model: PDFA | LanguageModel, temperature: float) -> None:
        super().__init__(model)
        self.temperature = checked_number(temperature, "temperature", 1e-6, 1e6)
        self.parameters = repr(self.temperature)

    def change(self, probabilities: Floats) -> Floats:
        """Raise to the power, with the largest probability of every row as 1.

        So the sum of a row is never too small to divide by.
        """
        largest = probabilities.max(axis=1, keepdims=True)
        np.divide(probabilities, largest, out=probabilities, where=largest > 0)
        return np.power(probabilities, 1 / self.temperature, out=probabilities)


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
    named = shortened(alphabet.decode(word))
    return ModelError(f"the model's answer to the word {named}: {fault}")
