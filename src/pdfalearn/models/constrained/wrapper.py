"""What all wrappers have in common: how they change rows; temperature, the plainest of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.checks import check_number
from pdfalearn.errors import ModelError
from pdfalearn.models.automaton import as_model
from pdfalearn.models.batch import Batch
from pdfalearn.models.constrained.opened_wrapper import OpenedWrapper, States, UnchangeableError
from pdfalearn.models.opened import ask_batch, close_quietly, open_model
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.pdfa import PDFA
from pdfalearn.row_checks import UndecidedError, check_decided
from pdfalearn.rows import Rows
from pdfalearn.typing import Flags, Floats, Integers

SPARSE_ABOVE = 64
"""Over more symbols than this, what is left of dense rows is listed."""
CELLS_AT_ONCE = 2**20
"""At most about this many probabilities are changed at once, to keep the extra memory small."""


class Part(NamedTuple):
    """Rows that are changed at once, dense or sparse, as a table."""

    table: Floats
    """What the rows list, in the order of the columns; zeros on the right fill short ones up."""
    columns: NDArray[np.integer] | None
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
    # Whether `_weigh` takes sparse rows as lists; else they are written out.
    _reads_lists = False
    # What is wrong where a changed row has no probability left.
    _nothing_left = "nothing is left of it, or what the wrapper returned is NaN or negative"
    # Why a row that lists too little cannot be changed, and what to do about it.
    _remedy = "the wrapper changes all probabilities; let the model list every symbol"

    def __init__(self, model: PDFA | LanguageModel) -> None:
        self.model: LanguageModel = as_model(model)
        self.alphabet = self.model.alphabet
        self.cost = self.model.cost
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
            Numbers from 0 on. In each row one at least is above 0, and the sum is finite. What is
            impossible in the model inside becomes 0 in any case.
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
        is_listed = self.cuts and rows.width - 1 > SPARSE_ABOVE  # few of many symbols are left
        most = max(1, CELLS_AT_ONCE // rows.width)
        if rows.undefined is not None and rows.undefined.any():
            places = (~rows.undefined).nonzero()[0]
            changed = self._change_some(rows, states, places).spread(places, len(rows))
        elif is_listed and not rows.is_sparse and len(rows) > most:
            # All of these rows at once, before they are listed, would take too much memory.
            parts = np.split(np.arange(len(rows)), range(most, len(rows), most))
            changed = Rows.join([self._change_some(rows, states, part) for part in parts])
        else:
            changed = self.change_defined(rows, states)
            changed = changed.to_sparse() if is_listed else changed
        changed.outside = rows.outside
        return changed

    def _change_some(self, rows: Rows, states: States | None, places: Integers) -> Rows:
        """Return what becomes of some rows, none of them undefined."""
        part, here = rows.take(places), None if states is None else states[places]
        part.undefined = None
        try:
            return self.change_rows(part, here)
        except UnchangeableError as error:
            bad = np.zeros(len(rows), dtype=bool)
            bad[places] = error.bad
            raise UnchangeableError(str(error), bad) from error

    def change_defined(self, rows: Rows, states: States | None) -> Rows:
        """Return what becomes of rows of which none is undefined, dense or sparse as they are."""
        if rows.is_sparse and not self._reads_lists:
            self._refuse_undecided(rows, rows.is_open)
            cut = np.ones((len(rows), rows.width - 1), dtype=bool)
            cut[rows.list_possible()] = False
            rows = Rows.dense(rows.to_dense(), impossible=cut)
        values = np.maximum(rows.values, 0.0)  # a copy, without what rounding left below 0
        columns = rows.columns
        if columns is not None:  # the last cell stands for all that is filled up
            values, columns = np.append(values, 0.0), np.append(columns, 0)
        kept = np.ones(values.shape if self.cuts else 0, dtype=bool)
        undecided, is_empty = np.zeros((2, len(rows)), dtype=bool)
        rests, ceilings = np.where(rows.is_open, rows.rests, 0.0), rows.ceilings
        impossible = rows.impossible
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
            elif impossible is not None:  # what no word goes on with has no probability
                part.table[:, 1:][impossible[cells]] = 0.0
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
        if self.cuts:
            impossible = ~kept[:, 1:] if impossible is None else ~kept[:, 1:] | impossible
        return Rows.dense(values, impossible=impossible)

    def _refuse_undecided(self, rows: Rows, undecided: Flags) -> None:
        try:
            check_decided(rows, undecided, self._remedy)
        except UndecidedError as error:
            raise UnchangeableError(str(error), undecided) from error

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
        self.temperature = check_number(temperature, "temperature", 1e-6, 1e6)
        self.parameters = repr(self.temperature)

    def change(self, probabilities: Floats) -> Floats:
        """Raise to the power, with the largest probability of every row as 1.

        So the sum of a row is never too small to divide by.
        """
        largest = probabilities.max(axis=1, keepdims=True)
        np.divide(probabilities, largest, out=probabilities, where=largest > 0)
        return np.power(probabilities, 1 / self.temperature, out=probabilities)
