"""When two distributions count as the same, or as similar (§2.1 and §2.3 of the paper)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.arrays import numbered_rows
from pdfalearn.checks import check_integer
from pdfalearn.equivalence.sparse import SparseKeys as SparseKeys
from pdfalearn.equivalence.sparse import different_keys, keys_by_tables, pieces_of, without_zeros
from pdfalearn.equivalence.tolerance import Tolerance as Tolerance
from pdfalearn.errors import InputError
from pdfalearn.row_checks import UndecidedError, check_decided
from pdfalearn.rows import Rows
from pdfalearn.typing import Flags, Floats

# Beyond it the shift by 2⁻⁵⁰ is no longer small against an interval.
_LARGEST_KAPPA = 2**40


class Equivalence(ABC):
    """An equivalence on distributions: everything that maps a distribution to a key.

    Equal keys mean the same class, and nothing else does. A relation that is not transitive, such
    as `Tolerance`, is not an equivalence.

    Where a distribution does not list all symbols, an equivalence decides only if the probabilities
    of the others cannot change the class; as long as it does not know better, if they have none.

    Examples
    --------
    >>> class SameLikeliest(Equivalence):
    ...     def keys(self, rows):
    ...         return rows.argmax(axis=1)[:, None]
    >>> SameLikeliest().classes(np.array([[0.2, 0.8], [0.3, 0.7], [0.9, 0.1]])).tolist()
    [1, 1, 0]
    """

    @abstractmethod
    def keys(self, rows: Floats) -> NDArray[np.generic]:
        """Return the key of every row: two rows are in the same class iff their keys are equal.

        Parameters
        ----------
        rows : array of float, shape (count, symbols + 1)
            Distributions, the terminal's probability first.

        Returns
        -------
        array, shape (count, width)
            One key a row, in a dtype where equal values have equal bytes.
        """

    def sparse_keys(self, rows: Rows) -> SparseKeys:
        """Return the keys of rows, whether dense or sparse, without what all rows have in common.

        Two rows are in the same class iff their columns and keys are equal.

        Raises
        ------
        UndecidedError
            If a row leaves open what decides on its class.
        """
        reason = f"{self!r} needs every probability; let the model list every symbol"
        check_decided(rows, rows.is_open, reason)
        return keys_by_tables(rows, lambda table: checked_keys(self, table))

    def classes(self, rows: Floats) -> NDArray[np.int64]:
        """Number the classes of many distributions 0, 1, … (in no particular order).

        Examples
        --------
        >>> rows = np.array([[0.5, 0.5], [0.1, 0.9], [0.55, 0.45]])
        >>> ids = Quantization(5).classes(rows)
        >>> bool(ids[0] == ids[2]), bool(ids[0] == ids[1])
        (True, False)
        """
        return numbered_rows(checked_keys(self, rows))


@dataclass(frozen=True)
class Exact(Equivalence):
    """Distributions are the same when they are equal: the paper's ≡.

    What is not listed must not have any probability.

    Examples
    --------
    >>> Exact().classes(np.array([[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]])).tolist()
    [0, 1, 0]
    """

    def keys(self, rows: Floats) -> NDArray[np.generic]:
        """Return the probabilities themselves, with -0.0 as 0.0."""
        return np.asarray(rows, dtype=np.float64) + 0.0

    def sparse_keys(self, rows: Rows) -> SparseKeys:
        """Return the probabilities that are not 0."""
        reason = f"{self!r} needs every probability; let the model list every symbol, or quantize"
        check_decided(rows, rows.is_open, reason)
        return without_zeros(rows, self.keys(rows.values))


@dataclass(frozen=True)
class Quantization(Equivalence):
    """Distributions are the same when κ equal intervals cannot tell them apart: the paper's =_κ.

    What is not listed has to be in the first interval: the ceiling lies there, or nothing is left.

    Parameters
    ----------
    kappa : int
        The number κ of intervals that [0, 1] is cut into, each closed on the left and open on the
        right, the last one closed.

    Examples
    --------
    >>> Quantization(10).intervals([0.1, 0.3, 0.6])
    array([1, 3, 6])
    >>> Quantization(100).intervals(0.29), Quantization(5).intervals(1.0)
    (array(29), array(4))
    """

    kappa: int

    def __post_init__(self) -> None:
        kappa = check_integer(self.kappa, "kappa", 1, _LARGEST_KAPPA)
        object.__setattr__(self, "kappa", kappa)

    def intervals(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the number of the interval, 0 to κ - 1, that each probability is in.

        Notes
        -----
        The decision is that of exact arithmetic on the decimal that a float stands for: 0.29 is in
        interval 29 of 100, although the float lies below it. ⌊κ·(x + 2⁻⁵⁰)⌋, clamped, does that;
        1.0000000000000002 and -1e-17, as rounding leaves them, count as 1 and 0.
        """
        numbers = np.asarray(values)
        if numbers.dtype.kind not in "iuf":
            raise InputError(f"{values!r} are not probabilities from 0 to 1")
        if numbers.size and not (numbers.min() >= -1e-6 and numbers.max() <= 1 + 1e-6):
            wrong = numbers[~((numbers >= -1e-6) & (numbers <= 1 + 1e-6))].flat[0]
            raise InputError(f"{wrong} is not a probability from 0 to 1")
        return self._scaled(numbers).astype(np.int64)

    def _scaled(self, numbers: NDArray[np.number]) -> Floats:
        """Return numbers whose integer parts are those of the intervals."""
        scaled: Floats = np.asarray(numbers + 2.0**-50)
        scaled *= self.kappa
        np.minimum(scaled, self.kappa - 1, out=scaled)
        return np.maximum(scaled, 0, out=scaled)

    def boundary_distances(self, values: ArrayLike) -> Floats:
        """Return how far each probability is from the nearest boundary between two intervals.

        Examples
        --------
        >>> Quantization(10).boundary_distances([0.25, 0.75001, 1.0]).round(5).tolist()
        [0.05, 0.04999, 0.1]
        >>> Quantization(1).boundary_distances(0.5)
        array(inf)
        """
        numbers = np.asarray(values, dtype=np.float64)
        if self.kappa == 1:
            return np.full(numbers.shape, np.inf)
        nearest = np.maximum(np.minimum(np.rint(numbers * self.kappa), self.kappa - 1), 1)
        return np.asarray(np.abs(numbers - nearest / self.kappa))

    def keys(self, rows: Floats) -> NDArray[np.generic]:
        """Return the quantization vectors, in the smallest type that holds them."""
        return self._scaled(np.asarray(rows)).astype(np.min_scalar_type(self.kappa - 1))

    def sparse_keys(self, rows: Rows) -> SparseKeys:
        """Return the numbers of the intervals, without those of the first one."""
        undecided = rows.is_open & ~(self._scaled(rows.ceilings) < 1)
        if undecided.any():
            fitting = max(1, int(np.ceil(1 / rows.ceilings[undecided].max())) - 1)
            reason = f"{self!r} tells such shares apart; let the model list more symbols, or take"
            check_decided(rows, undecided, f"{reason} at most {fitting} intervals")
        return without_zeros(rows, self.keys(rows.values))


@dataclass(frozen=True)
class Rounded(Equivalence):
    """Distributions are the same when another equivalence cannot tell them apart once rounded.

    For models that answer a little differently from one batch to the next. What is not listed is
    rounded as well: to nothing at all if the ceiling is, and otherwise to no more than the ceiling.

    Parameters
    ----------
    equivalence : Equivalence
        The equivalence of the rounded distributions.
    decimals : int
        How many decimals of each probability are kept, 1 to 15.

    Examples
    --------
    >>> rows = np.array([[0.5, 0.5], [0.4999999, 0.5000001]])
    >>> Quantization(10).classes(rows).tolist()
    [1, 0]
    >>> Rounded(Quantization(10), decimals=6).classes(rows).tolist()
    [0, 0]
    """

    equivalence: Equivalence
    decimals: int

    def __post_init__(self) -> None:
        check_equivalence(self.equivalence)
        object.__setattr__(self, "decimals", check_integer(self.decimals, "decimals", 1, 15))

    def keys(self, rows: Floats) -> NDArray[np.generic]:
        """Return the other equivalence's keys of the rounded rows."""
        return self.equivalence.keys(np.round(rows, self.decimals))

    def sparse_keys(self, rows: Rows) -> SparseKeys:
        """Return the other equivalence's keys of the rounded rows."""
        values = np.round(rows.values, self.decimals)
        if not rows.is_open.any():
            return self.equivalence.sparse_keys(
                Rows(rows.width, values, rows.columns, rows.offsets)
            )
        # Rounding keeps the order, so that nothing unlisted gets above the rounded ceiling. The
        # rest says here only whether there is one.
        ceiling = np.where(rows.is_open, np.round(rows.ceilings, self.decimals), 0.0)
        rest = np.where(ceiling == 0, 0.0, np.maximum(rows.rests, ceiling))
        rounded = Rows(rows.width, values, rows.columns, rows.offsets, rest, ceiling)
        return self.equivalence.sparse_keys(rounded)


def checked_keys(equivalence: Equivalence, rows: Floats) -> NDArray[np.generic]:
    """Ask an equivalence for keys, and refuse what cannot be compared byte by byte."""
    keys = np.asarray(equivalence.keys(rows))
    if keys.ndim != 2 or len(keys) != len(rows) or not keys.shape[1] or keys.dtype.kind in "OUS":
        raise InputError(
            f"the keys of {equivalence!r} are an array of {keys.dtype} of shape {keys.shape}; they "
            f"have to be numbers, {len(rows)} rows of one or more columns"
        )
    return keys


def check_equivalence(equivalence: object) -> Equivalence:
    """Refuse what is not an equivalence, with the reason."""
    if isinstance(equivalence, Equivalence):
        return equivalence
    if isinstance(equivalence, Tolerance):
        raise InputError(
            f"{equivalence!r} is a similarity, not an equivalence: it is not transitive, so it has "
            "no classes; use Quantization(kappa) or Exact()"
        )
    raise InputError(
        f"equivalence={equivalence!r} is not an equivalence; use Quantization(kappa) or Exact()"
    )


Relation = Equivalence | Tolerance
"""When two distributions are the same, or similar."""


def different_rows(equivalence: Relation, rows: Floats | Rows, others: Floats | Rows) -> Flags:
    """Return for each pair of rows, dense or sparse, whether they are not the same or similar.

    Where a row leaves open what decides, the `UndecidedError` has the place of the pair.

    Examples
    --------
    >>> rows = Rows.sparse(4, [0, 2], [0, 3], [0.45, 0.54], rest=[0.01])
    >>> different_rows(Quantization(10), rows, np.array([[0.45, 0.0, 0.0, 0.55]]))
    array([False])
    """
    left, right = (part if isinstance(part, Rows) else Rows.dense(part) for part in (rows, others))
    if left.is_sparse and right.is_sparse:
        return _different_sparse(equivalence, left, right)
    if left.is_sparse or right.is_sparse:
        return _different_mixed(equivalence, left, right)
    if isinstance(equivalence, Tolerance):
        return ~equivalence.similar(left.values, right.values)
    keys = checked_keys(equivalence, left.values), checked_keys(equivalence, right.values)
    return np.asarray((keys[0] != keys[1]).any(axis=1))


def _different_sparse(equivalence: Relation, rows: Rows, others: Rows) -> Flags:
    if isinstance(equivalence, Tolerance):
        return equivalence.different_sparse(rows.to_sparse(), others.to_sparse())
    return different_keys(equivalence.sparse_keys(rows), equivalence.sparse_keys(others))


def _different_mixed(equivalence: Relation, rows: Rows, others: Rows) -> Flags:
    """Compare dense rows with sparse ones, in pieces: what is dense is large."""
    different = np.zeros(len(rows), dtype=bool)
    for (begin, left), (_, right) in zip(pieces_of(rows), pieces_of(others), strict=True):
        try:
            different[begin : begin + len(left)] = _different_sparse(equivalence, left, right)
        except UndecidedError as error:
            error.place += begin
            raise
    return different


def check_relation(equivalence: object) -> Relation:
    """Refuse what is neither an equivalence nor a similarity."""
    return equivalence if isinstance(equivalence, Tolerance) else check_equivalence(equivalence)


def check_tolerance(equivalence: object) -> Tolerance:
    """Refuse what is not a similarity."""
    if isinstance(equivalence, Tolerance):
        return equivalence
    raise InputError(
        f"equivalence={equivalence!r} is not a similarity, and wlstar joins what is similar; use "
        "Tolerance(t), such as Tolerance(0.001), or lpstar, which takes both"
    )


def relation_text(equivalence: object) -> str:
    """Write a κ or a tolerance.

    Examples
    --------
    >>> relation_text(Quantization(10)), relation_text(Tolerance(0.01))
    ('κ = 10', 'tolerance 0.01')
    """
    if isinstance(equivalence, Quantization):
        return f"κ = {equivalence.kappa}"
    return (
        f"tolerance {equivalence.tolerance:g}"
        if isinstance(equivalence, Tolerance)
        else str(equivalence)
    )


def is_own(thing: object) -> bool:
    """Return whether a user has written the class of something."""
    return not type(thing).__module__.startswith("pdfalearn.")


def full_text(equivalence: object) -> str:
    """Write an equivalence as it is made; one of a user's that cannot be written, by its class.

    Examples
    --------
    >>> full_text(Quantization(10)), full_text(object())
    ('Quantization(kappa=10)', 'object')
    """
    text = repr(equivalence)
    return type(equivalence).__name__ if text.startswith("<") else text


def check_own_keys(equivalence: Relation, rows: Floats) -> None:
    """Refuse an equivalence of a user that gives a row another key alone than among others."""
    if isinstance(equivalence, Tolerance) or not is_own(equivalence):
        return
    keys = checked_keys(equivalence, rows)
    for row, key in zip(rows, keys, strict=True):
        alone = checked_keys(equivalence, row[None])[0]
        if alone.tobytes() != key.tobytes():
            raise InputError(
                f"{equivalence!r} gives the row {row.tolist()} the key {alone.tolist()} alone and "
                f"{key.tolist()} among others; the key of a row must not depend on other rows"
            )
