"""Merge the segments of several writers into one, without repeating words or rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.numbering import numbered_rows
from pdfalearn.packed_rows import packed
from pdfalearn.rows import Rows
from pdfalearn.stores.segments import Segment
from pdfalearn.words import offsets_of

Numbers = NDArray[np.int64]


class ConflictError(ValueError):
    """Two writers have stored different answers to one word, given by the codes of its symbols."""

    def __init__(self, codes: list[int]) -> None:
        super().__init__(codes)
        self.codes = codes


def merged(segments: Sequence[Segment], alphabet_size: int) -> Segment:
    """Merge segments; words get new numbers, the shortest first.

    Parameters
    ----------
    segments : sequence of Segment
        At least one.
    alphabet_size : int
        The number of symbols.

    Raises
    ------
    ConflictError
        If a word has two answers.

    Examples
    --------
    >>> one = Segment.of([0], [0], [0, 1], [0, -1], [[1.0, 0.0]], alphabet_size=1)
    >>> two = Segment.of([0, 1], [0, 0], [1, 0], [-1, 0], [[1.0, 0.0]], alphabet_size=1)
    >>> both = merged([one, two], 1)
    >>> both.parents.tolist(), both.nodes.tolist(), both.numbers.tolist(), both.rows
    ([0, 1], [0, 1], [0, -1], Rows(1 dense rows of 2))
    """
    new_nodes, parents, last_symbols = _merged_words(segments, alphabet_size)
    new_rows, rows = _merged_rows(segments)
    begins = offsets_of([len(segment.parents) + 1 for segment in segments])
    answered = _joined([s.nodes for s in segments], begins)
    begins = offsets_of([len(segment.rows) for segment in segments])
    given = np.concatenate([segment.numbers for segment in segments])
    numbers = np.where(given < 0, -1, _joined([s.numbers for s in segments], begins))
    # The last entry of the new numbers is for -1, which stays as it is.
    whole = Segment(
        parents.astype(np.int32),
        last_symbols.astype(np.int32),
        new_nodes[answered].astype(np.int32),
        np.append(new_rows, -1)[numbers].astype(np.int32),
        rows,
    )
    return _without_repetition(whole)


def _joined(arrays: Sequence[NDArray[np.int32]], begins: Numbers) -> Numbers:
    """Put arrays of numbers one after the other, each shifted to where its own numbers begin."""
    shifts = np.repeat(begins[:-1], [len(array) for array in arrays])
    return np.concatenate(arrays).astype(np.int64) + shifts


def _merged_words(
    segments: Sequence[Segment], alphabet_size: int
) -> tuple[Numbers, Numbers, Numbers]:
    """Return new numbers of all words, equal words the same; also the new parents and symbols."""
    root = np.zeros(1, dtype=np.int32)
    begins = offsets_of([len(segment.parents) + 1 for segment in segments])
    parents = _joined([np.concatenate((root, s.parents)) for s in segments], begins)
    last_symbols = np.concatenate([np.concatenate((root, s.symbols)) for s in segments])
    depths = _depths(parents)
    order = np.argsort(depths, kind="stable")
    numbers = np.zeros(len(parents), dtype=np.int64)
    different = [np.zeros(0, dtype=np.int64)]
    size = 1
    for begin, end in pairwise(np.cumsum(np.bincount(depths)).tolist()):
        level = order[begin:end]
        keys = numbers[parents[level]] * alphabet_size + last_symbols[level]
        keys, places = np.unique(keys, return_inverse=True)
        numbers[level] = size + places
        size += len(keys)
        different.append(keys)
    parents, last_symbols = np.divmod(np.concatenate(different), alphabet_size)
    return numbers, parents, last_symbols


def _depths(parents: Numbers) -> Numbers:
    """Return the length of every word, doubling the steps towards the roots."""
    ancestors = parents
    depths: Numbers = (parents != np.arange(len(parents))).astype(np.int64)
    while (further := depths[ancestors]).any():
        depths += further
        ancestors = ancestors[ancestors]
    return depths


def _merged_rows(segments: Sequence[Segment]) -> tuple[Numbers, Rows]:
    """Return new numbers of all rows, equal ones the same, and the different rows."""
    rows = Rows.joined([segment.rows for segment in segments])
    if rows.is_sparse:
        known: dict[bytes, int] = {}
        found = [known.setdefault(row, len(known)) for row in packed(rows)]
        numbers = np.array(found, dtype=np.int64)
    else:
        numbers = numbered_rows(rows.values)
    _, firsts = np.unique(numbers, return_index=True)
    return numbers, rows.take(firsts)


def _without_repetition(whole: Segment) -> Segment:
    """Keep the first answer to every word, and refuse others that differ from it."""
    nodes, firsts, places = np.unique(whole.nodes, return_index=True, return_inverse=True)
    numbers = whole.numbers[firsts]
    kept = numbers[places]
    others = (whole.numbers != kept).nonzero()[0]
    for other in others.tolist():
        first, second = int(kept[other]), int(whole.numbers[other])
        # -0.0 and 0.0 differ in their bits only.
        if min(first, second) < 0 or not _are_equal(whole.rows, first, second):
            raise ConflictError(whole.word(int(whole.nodes[other])))
    return Segment(whole.parents, whole.symbols, nodes, numbers, whole.rows)


def _are_equal(rows: Rows, first: int, second: int) -> bool:
    one, two = (rows.take(np.array([place])) for place in (first, second))
    return np.array_equal(one.to_dense(), two.to_dense()) and np.array_equal(one.rests, two.rests)
