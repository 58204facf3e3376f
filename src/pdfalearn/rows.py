"""Distributions after many words, one a row: dense, or sparse with the mass of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.words import offsets_of

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Columns = NDArray[np.int32]
Flags = NDArray[np.bool_]


class Rows:
    """Distributions, one a row, the terminal's probability in column 0.

    *Dense* rows are a table with a column for every symbol. *Sparse* rows list some columns, the
    terminal's always among them, in ascending order. For the symbols that it does not list, a
    sparse row says how much probability they have together (``rest``) and how much one of them
    can have at most (``ceiling``). Where the rest is 0, the symbols that are not listed are
    undefined: no word goes on with them. A symbol listed with probability 0 is not undefined.

    Make rows with `Rows.dense` or `Rows.sparse`. Nothing is checked here: the observation tree,
    which alone knows the words, checks every row and names the word of a bad one.

    Examples
    --------
    >>> rows = Rows.sparse(5, [0, 2, 3], [0, 3, 0], [0.25, 0.75, 1.0])
    >>> len(rows), rows.width, rows.is_sparse
    (2, 5, True)
    >>> rows.to_dense()
    array([[0.25, 0.  , 0.  , 0.75, 0.  ],
           [1.  , 0.  , 0.  , 0.  , 0.  ]])
    """

    __slots__ = ("ceiling", "columns", "offsets", "outside", "rest", "undefined", "values", "width")

    def __init__(
        self,
        width: int,
        values: Floats,
        columns: Columns | None = None,
        offsets: Numbers | None = None,
        rest: Floats | None = None,
        ceiling: Floats | None = None,
        undefined: Flags | None = None,
        outside: Floats | None = None,
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

    @classmethod
    def dense(
        cls, values: Floats, *, undefined: Flags | None = None, outside: Floats | None = None
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
        """
        return cls(values.shape[1], values, undefined=undefined, outside=outside)

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
    def is_sparse(self) -> bool:
        """Whether rows list only some of their columns."""
        return self.offsets is not None

    def is_plain(self, count: int, width: int) -> bool:
        """Return whether these are dense rows of a shape, with nothing beside them."""
        values = self.values
        return (
            self.offsets is None
            and self.undefined is None
            and self.outside is None
            and self.width == width
            and isinstance(values, np.ndarray)
            and values.shape == (count, width)
            and values.dtype == np.float64
        )

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
        arrays = (getattr(self, name) for name in self.__slots__ if name != "width")
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def row_numbers(self) -> Numbers:
        """The row of each value, for sparse rows."""
        return np.repeat(np.arange(len(self)), np.diff(self._offsets))

    @property
    def _offsets(self) -> Numbers:
        if self.offsets is None:
            raise TypeError("dense rows have no offsets")
        return self.offsets

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
            for part in (self.rest, self.ceiling, self.undefined, self.outside)
        ]
        if self.offsets is None or self.columns is None:
            return Rows(self.width, self.values[places], None, None, *beside)
        begins = self.offsets[:-1][places]
        lengths = self.offsets[1:][places] - begins
        offsets = offsets_of(lengths)
        here = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], lengths)
        return Rows(self.width, self.values[here], self.columns[here], offsets, *beside)

    def pieces(self, most: int) -> Iterator[Rows]:
        """Cut rows into pieces of at most this many rows, in their order."""
        for begin in range(0, len(self), most):
            yield self.take(np.arange(begin, min(begin + most, len(self))))

    def to_dense(self) -> Floats:
        """Return a table with a column for every symbol.

        What a sparse row does not list shares its rest evenly: one of the distributions that the
        row allows, as no symbol has more than the ceiling.
        """
        if self.offsets is None or self.columns is None:
            return self.values
        lengths = np.diff(self.offsets)
        table = np.zeros((len(self), self.width))
        if self.rest is not None:
            table += (self.rest / np.maximum(self.width - lengths, 1))[:, None]
        table[self.row_numbers, self.columns] = self.values
        return table

    def to_sparse(self) -> Rows:
        """Return rows that list what is not 0, and the terminal.

        That loses which symbols of probability 0 are not undefined, so it is only for keeping rows.
        """
        if self.offsets is not None:
            return self
        listed = self.values != 0
        listed[:, 0] = True
        rows, columns = listed.nonzero()
        offsets = offsets_of(listed.sum(axis=1))
        return Rows(
            self.width,
            self.values[rows, columns],
            columns.astype(np.int32),
            offsets,
            undefined=self.undefined,
            outside=self.outside,
        )

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Put parts of the same width one below the other; sparse if one of them is."""
        if len(parts) == 1:
            return parts[0]
        if any(part.is_sparse for part in parts):
            parts = [part.to_sparse() for part in parts]
        beside = [_joined(parts, name) for name in ("rest", "ceiling", "undefined", "outside")]
        values = np.concatenate([part.values for part in parts])
        width = parts[0].width
        if not parts[0].is_sparse:
            return cls(width, values, None, None, *beside)
        columns = np.concatenate([part.columns for part in parts if part.columns is not None])
        lengths = np.concatenate([np.diff(part._offsets) for part in parts])
        return cls(width, values, columns, offsets_of(lengths), *beside)


def _joined(parts: Sequence[Rows], name: str) -> NDArray[Any] | None:
    """Join what stands beside rows; where a part has nothing, it is 0, or the rest as ceiling."""
    given = [getattr(part, name) for part in parts]
    if all(array is None for array in given):
        return None
    kind = bool if name == "undefined" else np.float64
    return np.concatenate(
        [
            (part.rests if name == "ceiling" else np.zeros(len(part), kind))
            if array is None
            else array
            for part, array in zip(parts, given, strict=True)
        ]
    )
