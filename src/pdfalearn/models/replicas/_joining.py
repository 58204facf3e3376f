"""Put the answers to the parts of a batch together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import Handles, Mask
from pdfalearn.models.replicas._requests import Failure
from pdfalearn.rows import Rows
from pdfalearn.words import Words


def joined_rows(parts: Sequence[tuple[Handles, Rows | None]]) -> Rows:
    """Return the rows of all parts, each at its place."""
    rows = Rows.joined([part for _, part in parts if part is not None])
    return rows if len(parts) == 1 else rows.take(_order([places for places, _ in parts]))


def joined_possible(
    parts: Sequence[tuple[Handles, Mask | Words | None]], symbols: int
) -> Mask | Words | None:
    """Return what may follow each word; everything where only other copies know something."""
    known = [possible for _, possible in parts]
    if all(possible is None for possible in known):
        return None
    if len(parts) == 1:
        return known[0]
    order = _order([places for places, _ in parts])
    if any(isinstance(possible, Words) for possible in known):
        lists = [_as_words(possible, len(places), symbols) for places, possible in parts]
        lengths = np.concatenate([words.lengths for words in lists])
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        return Words(np.concatenate([words.symbols for words in lists]), offsets).take(order)
    masks = [
        possible if isinstance(possible, np.ndarray) else np.ones((len(places), symbols), bool)
        for places, possible in parts
    ]
    mask: Mask = np.concatenate(masks)[order]
    return mask


def _as_words(possible: Mask | Words | None, count: int, symbols: int) -> Words:
    if isinstance(possible, Words):
        return possible
    mask = np.ones((count, symbols), dtype=bool) if possible is None else possible
    offsets = np.concatenate(([0], np.cumsum(mask.sum(axis=1))))
    return Words(mask.nonzero()[1].astype(np.int32), offsets)


def _order(parts: Sequence[Handles]) -> Handles:
    """Return where each word of the batch stands in the parts, one after the other."""
    order: Handles = np.argsort(np.concatenate(parts))
    return order


def raise_failure(failure: Failure, places: Handles) -> NoReturn:
    """Raise a copy's error as it was; where it names a place of its part, that of the batch."""
    error = failure.error()
    if not isinstance(error, Exception):
        raise ModelError(f"the model failed in {failure.by} with {failure.text}") from error
    place = getattr(error, "place", None)
    if isinstance(place, int) and 0 <= place < len(places):
        error.place = int(places[place])  # type: ignore[attr-defined]
    error.add_note(f"This happened in {failure.by}.")
    raise error
