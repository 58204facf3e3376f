"""Distributions after many words, one a row: dense, or sparse with the mass of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.typing import Codes, Flags, Floats, Integers
from pdfalearn.words import offsets_of


class Rows:
    """Distributions, one a row, the terminal's probability in column 0.

    *Dense* rows are a table with a column for every symbol. *Sparse* rows list some columns, the
    terminal's always among them, in ascending order. For the symbols that it does not list, a
    sparse row says how much probability they have together (``rest``) and how much one of them
    can have at most (``ceiling``). Where the rest is 0, the symbols that are not listed are
    impossible: no word goes on with them. A symbol with probability 0 is not impossible by that
    alone; dense rows say with ``impossible`` which symbols are.

    Make rows with `Rows.dense`, `Rows.sparse` or `Rows.shared`. Nothing is checked here: every row
    is checked where a model's answer enters (`pdfalearn.models.opened`).

    Examples
    --------
    >>> rows = Rows.sparse(5, [0, 2, 3], [0, 3, 0], [0.25, 0.75, 1.0])
    >>> len(rows), rows.width, rows.is_sparse
    (2, 5, True)
    >>> rows.to_dense()
    array([[0.25, 0.  , 0.  , 0.75, 0.  ],
           [1.  , 0.  , 0.  , 0.  , 0.  ]])
    """

    def __init__(
        self,
        width: int,
        values: Floats,
        columns: Codes | None = None,
        offsets: Integers | None = None,
        rest: Floats | None = None,
        ceiling: Floats | None = None,
        undefined: Flags | None = None,
        outside: Floats | None = None,
        impossible: Flags | None = None,
    ) -> None:
        self.width = width
        """The number of symbols, and one for the terminal."""
        self.values = values
        """A table for dense rows, a flat array for sparse ones."""
        self.columns = columns
        """Of sparse rows: the columns of the values."""
        self.offsets = offsets
        """Of sparse rows: row i has the values from ``offsets[i]`` to ``offsets[i + 1]``."""
        self.rest = rest
        """Of sparse rows: the mass of all that is not listed; None where it is 0 in every row."""
        self.ceiling = ceiling
        """The most that a symbol that is not listed can have; None where only the rest is known."""
        self.undefined = undefined
        """Which rows are not distributions, but say that the word is undefined; None if none is."""
        self.outside = outside
        """The mass beside each row that is outside of the alphabet, as of an LLM; NaN where it is
        not known, None if there is none."""
        self.impossible = impossible
        """Of dense rows: with which symbols no word goes on, a column less than there are values;
        None if nothing is said about that."""
        self.is_sparse = offsets is not None
        """Whether rows list only some of their columns."""

    @classmethod
    def dense(
        cls,
        values: Floats,
        *,
        undefined: Flags | None = None,
        outside: Floats | None = None,
        impossible: Flags | None = None,
    ) -> Rows:
        """Make dense rows of a table.

        Parameters
        ----------
        values : array of float, shape (count, symbols + 1)
            The distributions.
        undefined : array of bool, shape (count,), optional
            Which words are undefined; what their rows hold does not matter.
        outside : array of float, shape (count,), optional
            The mass outside of the alphabet, beside each row.
        impossible : array of bool, shape (count, symbols), optional
            With which symbols, all of probability 0, no word goes on.
        """
        values = np.asanyarray(values)  # a masked array stays one, and is refused as an answer
        width = values.shape[1] if values.ndim == 2 else 0
        return cls(width, values, undefined=undefined, outside=outside, impossible=impossible)

    @classmethod
    def shared(
        cls,
        table: Floats,
        numbers: Integers,
        *,
        impossible: Flags | None = None,
        undefined: Flags | None = None,
    ) -> Rows:
        """Make dense rows of a table in which many words share a row, as those of a state do.

        Parameters
        ----------
        table : array of float, shape (states, symbols + 1)
            The distributions. A model that gives the same array in each answer has it checked
            and classified only once.
        numbers : array of int, shape (count,)
            Which row of the table each word has.
        impossible : array of bool, shape (states, symbols), optional
            With which symbols no word goes on, for each row of the table.
        undefined : array of bool, shape (count,), optional
            Which words are undefined; their numbers have to be those of any row.

        Examples
        --------
        >>> Rows.shared(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1, 0, 1])).to_dense()
        array([[1. , 0. ],
               [0.5, 0.5],
               [1. , 0. ]])
        """
        return SharedRows(table, numbers, impossible, undefined)

    @classmethod
    def sparse(
        cls,
        width: int,
        offsets: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
        *,
        rest: ArrayLike | None = None,
        ceiling: ArrayLike | None = None,
        undefined: Flags | None = None,
        outside: Floats | None = None,
    ) -> Rows:
        """Make sparse rows.

        Parameters
        ----------
        width : int
            The number of symbols, and one for the terminal.
        offsets : array of int, shape (count + 1,)
            Where the values of each row begin, and where the last ones end.
        columns : array of int
            The columns of the values: 0 for the terminal, which every row lists, then 1, 2, … for
            the symbols; ascending in each row.
        values : array of float
            The probabilities.
        rest : array of float, shape (count,), optional
            The mass of what is not listed; 0 if not given.
        ceiling : array of float, shape (count,), optional
            The most that one of these symbols can have; the rest if not given.
        undefined, outside
            As for dense rows.
        """
        return cls(
            width,
            np.asarray(values, dtype=np.float64),
            np.asarray(columns, dtype=np.int32),
            np.asarray(offsets, dtype=np.int64),
            None if rest is None else np.asarray(rest, dtype=np.float64),
            None if ceiling is None else np.asarray(ceiling, dtype=np.float64),
            undefined,
            outside,
        )

    def __len__(self) -> int:
        return len(self.values) if self.offsets is None else len(self.offsets) - 1

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return f"Rows({len(self)} {kind} rows of {self.width})"

    @property
    def rests(self) -> Floats:
        """The mass of what each row does not list; 0 for dense rows."""
        return np.zeros(len(self)) if self.rest is None else self.rest

    @property
    def ceilings(self) -> Floats:
        """The most that a symbol can have which a row does not list."""
        rests = self.rests
        return rests if self.ceiling is None else np.minimum(self.ceiling, rests)

    @property
    def is_open(self) -> Flags:
        """Which rows leave open how some mass is shared among symbols that they do not list."""
        if self.rest is None or self.offsets is None:
            return np.zeros(len(self), dtype=bool)
        return ~(self.rest <= 0) & (np.diff(self.offsets) < self.width)

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the arrays take."""
        return sum(array.nbytes for array in vars(self).values() if isinstance(array, np.ndarray))

    @property
    def row_numbers(self) -> Integers:
        """The row of each value, for sparse rows."""
        return np.repeat(np.arange(len(self)), np.diff(self.listing[1]))

    @property
    def listing(self) -> tuple[Codes, Integers]:
        """Of sparse rows: the columns and the offsets, for code that knows that they are sparse."""
        if self.columns is None or self.offsets is None:
            raise TypeError("dense rows do not list their columns")
        return self.columns, self.offsets

    def take(self, places: NDArray[np.integer]) -> Rows:
        """Return the rows at some places.

        Examples
        --------
        >>> Rows.sparse(3, [0, 1, 3], [0, 0, 2], [1, 0.5, 0.5]).take(np.array([1, 1])).to_dense()
        array([[0.5, 0. , 0.5],
               [0.5, 0. , 0.5]])
        """
        beside = [
            None if part is None else part[places]
            for part in (self.rest, self.ceiling, self.undefined, self.outside, self.impossible)
        ]
        if not self.is_sparse:
            return Rows(self.width, self.values[places], None, None, *beside)
        columns, all_offsets = self.listing
        begins = all_offsets[:-1][places]
        lengths = all_offsets[1:][places] - begins
        offsets = offsets_of(lengths)
        here = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], lengths)
        return Rows(self.width, self.values[here], columns[here], offsets, *beside)

    def spread(self, places: NDArray[np.integer], count: int) -> Rows:
        """Return ``count`` rows with these at some places; the words at the others are undefined.

        Examples
        --------
        >>> spread = Rows.dense(np.array([[0.5, 0.5]])).spread(np.array([1]), 2)
        >>> spread.undefined.tolist(), spread.to_dense()[1].tolist()
        ([True, False], [0.5, 0.5])
        """
        numbers = np.full(count, len(self))
        numbers[places] = np.arange(len(self))
        spread = self._add_row().take(numbers)
        spread.undefined = np.ones(count, dtype=bool)
        spread.undefined[places] = False if self.undefined is None else self.undefined
        return spread

    def _add_row(self) -> Rows:
        """Return the rows and one more, for words that are undefined."""
        outside = None if self.outside is None else np.full(1, np.nan)
        row = Rows.dense(np.eye(1, self.width), outside=outside)
        return Rows.join([self, row.to_sparse() if self.is_sparse else row])

    def list_possible(self) -> tuple[Integers, Integers]:
        """Return what may follow, as pairs of a row and a symbol; sparse rows list all of it."""
        if self.columns is not None:
            listed = self.columns > 0
            return self.row_numbers[listed], self.columns[listed].astype(np.int64) - 1
        impossible = self.impossible
        possible = np.ones((len(self), self.width - 1)) if impossible is None else ~impossible
        rows, symbols = possible.nonzero()
        return rows, symbols

    def to_dense(self) -> Floats:
        """Return a table with a column for every symbol.

        What a sparse row does not list shares its rest evenly: one of the distributions that the
        row allows, as no symbol has more than the ceiling.
        """
        if not self.is_sparse:
            return self.values
        columns, offsets = self.listing
        table = np.zeros((len(self), self.width))
        if self.rest is not None:
            table += (self.rest / np.maximum(self.width - np.diff(offsets), 1))[:, None]
        table[self.row_numbers, columns] = self.values
        return table

    def to_signed(self) -> Rows:
        """Return rows in which a zero with a sign, -0.0, marks what dense rows say is impossible.

        So one array of bytes holds all that a row says.
        """
        if self.impossible is None or not self.impossible.any():
            return self
        values = self.values.copy()
        values[:, 1:][self.impossible] = -0.0
        return Rows.dense(values, undefined=self.undefined, outside=self.outside)

    def from_signed(self) -> Rows:
        """Return rows that say by a mask what zeros with a sign have marked as impossible."""
        if self.is_sparse or not (signs := np.signbit(self.values[:, 1:])).any():
            return self
        return Rows.dense(
            self.values + 0.0, undefined=self.undefined, outside=self.outside, impossible=signs
        )

    def to_sparse(self) -> Rows:
        """Return rows that list what is not impossible, and the terminal.

        Where nothing is said about that, what has probability 0 looks impossible afterwards: so
        that is only for keeping rows.
        """
        if self.offsets is not None:
            return self
        listed = self.values != 0
        if self.impossible is not None:
            listed[:, 1:] = ~self.impossible
        listed[:, 0] = True
        rows, columns = listed.nonzero()
        offsets, values = offsets_of(listed.sum(axis=1)), self.values[rows, columns]
        beside = (None, None, self.undefined, self.outside)
        return Rows(self.width, values, columns.astype(np.int32), offsets, *beside)

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """Put parts of the same width one below the other; sparse if one of them is."""
        if len(parts) == 1:
            return parts[0]
        if any(part.is_sparse for part in parts):
            parts = [part.to_sparse() for part in parts]
        whole = cls(parts[0].width, np.concatenate([part.values for part in parts]))
        for name in ("rest", "ceiling", "undefined", "outside"):
            setattr(whole, name, _join_arrays(parts, name))
        if parts[0].is_sparse:
            lengths = np.concatenate([np.diff(part.listing[1]) for part in parts])
            whole.columns = np.concatenate([part.listing[0] for part in parts])
            whole.offsets, whole.is_sparse = offsets_of(lengths), True
        else:
            whole.impossible = _join_arrays(parts, "impossible")
        return whole


def _join_arrays(parts: Sequence[Rows], name: str) -> NDArray[Any] | None:
    """Join what stands beside rows; where a part has nothing, it is 0, or the rest as ceiling."""
    given = [getattr(part, name) for part in parts]
    shown = next((array for array in given if array is not None), None)
    if shown is None:
        return None
    for place, part in enumerate(parts):
        if given[place] is None:
            zeros = np.zeros((len(part), *shown.shape[1:]), shown.dtype)
            given[place] = part.rests if name == "ceiling" else zeros
    return np.concatenate(given)


class SharedRows(Rows):
    """Dense rows of a table, given by their numbers; made by `Rows.shared`."""

    def __init__(
        self,
        table: Floats,
        numbers: Integers,
        impossible: Flags | None = None,
        undefined: Flags | None = None,
    ) -> None:
        self.width = table.shape[1]
        self.table = table
        self.numbers = numbers
        self.impossible_after = impossible
        """Of every row of the table: with which symbols no word goes on."""
        self.undefined = undefined
        self.is_sparse = False
        self.columns = self.offsets = self.rest = self.ceiling = self.outside = None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def values(self) -> Floats:  # type: ignore[override]
        """The rows, written out."""
        return self.table[self.numbers]

    @property
    def impossible(self) -> Flags | None:  # type: ignore[override]
        """With which symbols no word goes on, written out."""
        after = self.impossible_after
        return None if after is None else after[self.numbers]

    def take(self, places: NDArray[np.integer]) -> Rows:
        """Return the rows at some places."""
        undefined = None if self.undefined is None else self.undefined[places]
        return SharedRows(self.table, self.numbers[places], self.impossible_after, undefined)

    def _add_row(self) -> Rows:
        return SharedRows(self.table, np.append(self.numbers, 0), self.impossible_after)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the rows and not the table, which may be larger."""
        return Rows, (self.width, self.values, *[None] * 4, self.undefined, None, self.impossible)
