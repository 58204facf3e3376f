"""Which distributions a state's class allows: an interval for every probability, as a chain."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from pdfalearn.analysis.products import Product
from pdfalearn.chains import IntervalChain
from pdfalearn.equivalence import Exact, Quantization, Relation, Rounded, Tolerance, check_relation
from pdfalearn.errors import InputError
from pdfalearn.files import write_named
from pdfalearn.io import write_intervals
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.typing import Floats

_MARGIN = 2.0**-49
"""More than the shift by 2⁻⁵⁰ and all rounding can move a probability across a boundary."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """The least and the greatest value of every probability of every state, the terminal first.

    All distributions of a state's class lie in its box. What is undefined has probability 0.
    """

    lows: Floats
    highs: Floats

    @classmethod
    def of(cls, pdfa: PDFA, equivalence: Relation) -> Boxes:
        """Return the boxes of an automaton's rows, each closed and a little too wide.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> Boxes.of(figure_1(), Quantization(4)).highs.tolist()
        [[0.25, 1.0], [0.75, 0.75]]
        """
        lows, highs = _box(pdfa.probabilities, equivalence)
        lows, highs = np.clip(lows, 0.0, 1.0), np.clip(highs, 0.0, 1.0)
        highs[:, 1:][pdfa.transitions < 0] = 0.0
        lows[:, 1:][pdfa.transitions < 0] = 0.0
        empty = (lows.sum(axis=1) > 1 + 1e-12) | (highs.sum(axis=1) < 1 - 1e-12)
        if empty.any():
            raise InputError(
                f"state {int(empty.argmax())}: no distribution that sums to 1 is in its class by "
                f"{equivalence!r}, as its own row does not; divide the rows by their sums"
            )
        return cls(lows, highs)

    @property
    def widths(self) -> Floats:
        """How much each state's box leaves open: the sum over its probabilities."""
        return np.asarray((self.highs - self.lows).sum(axis=1))


def _box(rows: Floats, equivalence: Relation, margin: float = _MARGIN) -> tuple[Floats, Floats]:
    if isinstance(equivalence, Quantization):
        intervals = equivalence.intervals(rows)
        # The last interval has no end, as it takes what rounding leaves above 1.
        highs = np.where(
            intervals == equivalence.kappa - 1, 1.0, (intervals + 1) / equivalence.kappa
        )
        return intervals / equivalence.kappa - margin, highs + (margin - _MARGIN)
    if isinstance(equivalence, Rounded):
        return _box(
            np.round(rows, equivalence.decimals),
            equivalence.equivalence,
            margin + 0.5 * 10.0**-equivalence.decimals,
        )
    if isinstance(equivalence, Tolerance):
        return rows - equivalence.limit - margin, rows + equivalence.limit + margin
    if isinstance(equivalence, Exact):
        return rows - margin, rows + margin
    raise InputError(
        f"equivalence={equivalence!r} does not say how far the members of a class are apart; "
        "bounds need Quantization(kappa), Rounded, Tolerance or Exact"
    )


def interval_chain(product: Product, boxes: Boxes) -> IntervalChain:
    """Return the chain of a product: words of the language end in ``yes``, others in ``no``."""
    walk, size = product.walk, len(product)
    places = np.arange(size)
    lefts = walk.lefts[walk.sources]
    lows, highs = (
        np.concatenate(
            (table[lefts, walk.symbols + 1], table[walk.lefts, 0], product.sum_lost(table))
        )
        for table in (boxes.lows, boxes.highs)
    )
    ends_in = np.where(product.accepting, size, size + 1)
    sources = np.concatenate((walk.sources, places, places))
    targets = np.concatenate((walk.successors, ends_in, np.full(size, size + 1)))
    rounding = boxes.lows.shape[1] * 2.0**-51
    return IntervalChain.of_cells(size, sources, targets, lows, highs, rounding)


def save_intervals(pdfa: PDFA, path: str | os.PathLike[str], *, equivalence: Relation) -> None:
    """Write an automaton with the interval of every probability, as an interval Markov chain.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    path : str or os.PathLike
        A file whose name ends with ``.drn``.
    equivalence : Equivalence or Tolerance
        The classes of the states, such as ``Quantization(1000)``.

    Notes
    -----
    Storm solves such chains if every interval begins above 0; `probability_bounds` needs no such
    thing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pdfalearn import Quantization
    >>> from pdfalearn.datasets import figure_1
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_intervals(figure_1(), pathlib.Path(folder, "x.drn"), equivalence=Quantization(4))
    ...     text = pathlib.Path(folder, "x.drn").read_text()
    >>> text.splitlines()[1], text.splitlines()[14].strip()
    ('@value_type: double-interval', '2 : [0.0, 0.25]')
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    boxes = Boxes.of(pdfa, check_relation(equivalence))

    def write(pdfa: PDFA, stream: BinaryIO) -> None:
        write_intervals(pdfa, boxes.lows, boxes.highs, stream)

    write_named(pdfa, path, {".drn": write})
