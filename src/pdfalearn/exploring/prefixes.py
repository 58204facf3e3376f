"""Tables of prefixes: those that are open, what models tell of them, and what settles something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import shorten
from pdfalearn.arrays import grown
from pdfalearn.errors import ModelError
from pdfalearn.exploring.readings import Kinds, StateMap
from pdfalearn.models import Batch, LanguageModel
from pdfalearn.rows import Rows
from pdfalearn.typing import Codes, Flags, Floats, Integers

# At most this many settled prefixes are kept of each kind.
_MOST_FOUND = 2**15

Opened = tuple[Integers, Integers, Floats]
"""Numbers of rows, places of what follows them, and its masses, by model."""
# This many numbers are compared at once, which fit into the processor's cache.
_AT_ONCE = 2**16
_LEAST = 5e-324
"""The least number above 0."""


class Found:
    """The likeliest prefixes with which something was settled."""

    def __init__(self, models: int) -> None:
        self.floor = 0.0
        """All that are likelier than this are kept."""
        self.nodes = np.zeros(0, dtype=np.int64)
        self.symbols = np.zeros(0, dtype=np.int32)
        """The last symbol; -1 where it is the end."""
        self.labels = np.zeros(0, dtype=np.int16)
        self.masses = np.zeros((0, models))

    def note(
        self, nodes: Integers, columns: Integers, labels: Kinds, masses: Floats, here: Flags
    ) -> None:
        """Add those that are likely enough, and forget the least likely ones if they are many."""
        here = here & (masses.max(axis=1) > self.floor)
        self.nodes = np.concatenate([self.nodes, nodes[here]])
        self.symbols = np.concatenate([self.symbols, columns[here].astype(np.int32) - 1])
        self.labels = np.concatenate([self.labels, labels[here]])
        self.masses = np.concatenate([self.masses, masses[here]])
        if len(self.nodes) > _MOST_FOUND:
            top = self.masses.max(axis=1)
            kept = np.argpartition(-top, _MOST_FOUND // 2)
            self.floor = float(top[kept[_MOST_FOUND // 2]])
            kept = kept[: _MOST_FOUND // 2]
            for name in ("nodes", "symbols", "labels", "masses"):
                setattr(self, name, getattr(self, name)[kept])


class Items:
    """Prefixes that are open, in no order."""

    _NAMES = ("parents", "symbols", "states", "prompts", "masses", "tops")

    def __init__(self, models: int) -> None:
        self.size = 0
        self._parents = np.zeros(64, dtype=np.int64)
        self._symbols = np.zeros(64, dtype=np.int32)
        self._states = np.zeros(64, dtype=np.int32)
        self._prompts = np.zeros(64, dtype=np.int32)
        self._masses = np.zeros((64, models))
        self._tops = np.zeros(64)
        self._show()

    def _show(self) -> None:
        size = self.size
        self.parents, self.symbols = self._parents[:size], self._symbols[:size]
        self.states, self.prompts = self._states[:size], self._prompts[:size]
        self.masses = self._masses[:size]
        self.tops = self._tops[:size]
        """The most that one prefix has, by the model that holds it for likeliest."""

    def __len__(self) -> int:
        return self.size

    def add(self, *columns: Integers | Codes | Floats) -> None:
        """Add items, given by all their columns."""
        begin = self.size
        self.size += len(columns[0])
        for name, column in zip(self._NAMES, columns, strict=True):
            table = grown(getattr(self, f"_{name}"), self.size, 0)
            table[begin : self.size] = column
            setattr(self, f"_{name}", table)
        self._show()

    def take(self, places: Integers) -> Items:
        """Return some items."""
        part = Items(self.masses.shape[1])
        part.add(*(getattr(self, name)[places] for name in self._NAMES))
        return part

    def remove(self, places: Integers) -> None:
        """Remove items at ascending places; the last ones take them."""
        left = self.size - len(places)
        last = np.arange(left, self.size)
        last = np.setdiff1d(last, places[places >= left], assume_unique=True)
        for name in self._NAMES:
            table = getattr(self, f"_{name}")
            table[places[places < left]] = table[last]
        self.size = left
        self._show()


class Told(NamedTuple):
    """What a model tells of prefixes, a row for each."""

    columns: Floats
    """How likely each column is."""
    rests: Floats | None
    """What other columns have in all that are not listed, by what they settle; None if all are."""
    untold: Floats

    @classmethod
    def of(cls, rows: Rows) -> Told:
        """Return rows as dense ones."""
        if not rows.is_sparse:
            return cls(np.asarray(rows.values), None, rows.rests)
        table = np.zeros((len(rows), rows.width))
        table[rows.row_numbers, rows.listing[0]] = rows.values
        return cls(table, None, rows.rests)

    def take(self, places: Integers) -> Told:
        """Return some rows."""
        rests = None if self.rests is None else self.rests[places]
        return Told(self.columns[places], rests, self.untold[places])

    @property
    def rest_sums(self) -> Floats:
        """What rows have besides their columns."""
        return self.untold if self.rests is None else self.untold + self.rests.sum(axis=1)


def ask_model(model: LanguageModel, batch: Batch) -> Told:
    """Return what a model tells of words that it found possible before."""
    rows = model.answer(batch)
    if rows.undefined is not None and rows.undefined.any():
        word = model.alphabet.decode(batch.word(int(rows.undefined.argmax())))
        raise ModelError(
            f"the model says that the word {shorten(word)} is undefined, and before that "
            "it gave it a probability; mend the model, or wrap it in Guided"
        )
    return Told.of(rows)


def sum_kinds(
    tables: Sequence[Floats], settled: Kinds, kinds: int, here: Integers, listed: Floats
) -> Floats:
    """Return what columns of rows settle in all, by kind; the last is what they leave open.

    Most columns are of one kind, which has what the others leave of the sum of a row.
    """
    most = int(np.bincount(settled).argmax())
    others = (settled != most).nonzero()[0]
    is_kind = (settled[others, None] == np.arange(kinds)).astype(np.float64)
    sums = np.stack([table[np.ix_(here, others)] @ is_kind for table in tables], axis=1)
    sums[:, :, most] = np.maximum(listed[here] - sums.sum(axis=2), 0.0)
    return sums


def find_likely(told: list[Told], scales: Floats, floor: float) -> tuple[Opened, Floats]:
    """Return rows and columns that are at least so likely in any model, and their masses.

    Also how likely one of the others may be, for each row.
    """
    least = np.divide(floor, scales, out=np.full_like(scales, np.inf), where=scales > 0)
    least = np.maximum(least, _LEAST)[:, :, None]
    count, width = told[0].columns.shape
    parts, beyond = list[tuple[Integers, Integers]](), np.zeros(count)
    few = max(1, _AT_ONCE // width)
    for begin in range(0, count, few):
        here = slice(begin, begin + few)
        rows = [one.columns[here] for one in told]
        is_likely = np.any([row >= least[here, n] for n, row in enumerate(rows)], axis=0)
        for model, row in enumerate(rows):
            tops = np.where(is_likely, 0.0, row).max(axis=1) * scales[here, model]
            np.maximum(beyond[here], tops, out=beyond[here])
        numbers, columns = is_likely.nonzero()
        parts.append((begin + numbers, columns))
    places, columns = map(np.concatenate, zip(*parts, strict=True))
    masses = np.stack([one.columns[places, columns] for one in told], axis=1) * scales[places]
    return (places, columns, masses), beyond


def keep_likely(children: Floats, floor: float) -> tuple[Opened, Floats]:
    """Return the rows and places of children that are likely, and their masses.

    If all behind a row are unlikely, those are the likeliest. Also how likely one of the others is.
    """
    tops = children.max(axis=1)
    least = np.minimum(floor, tops.max(axis=1, initial=0.0))
    is_likely = (tops >= least[:, None]) & (tops > 0)
    rows, places = is_likely.nonzero()
    tops[is_likely] = 0.0
    return (rows, places, children[rows, :, places]), tops.max(axis=1, initial=0.0)


def add_likeliest(
    opened: Opened,
    told: list[Told],
    here: Integers,
    scales: Floats,
    after: StateMap,
    floor: float,
    beyond: Floats,
) -> Opened:
    """Add the likeliest children of rows of which nothing is opened, however unlikely they are."""
    (alone,) = (np.bincount(opened[0], minlength=len(here)) == 0).nonzero()
    if not len(alone) or not len(after.live):
        return opened
    where = here[alone]
    children = tell_children(told, where, after) * scales[where, :, None]
    (rows, places, masses), beyond[alone] = keep_likely(children, floor)
    return (
        np.concatenate([opened[0], alone[rows]]),
        np.concatenate([opened[1], places]),
        np.concatenate([opened[2], masses]),
    )


def tell_children(told: list[Told], rows: Integers, after: StateMap) -> Floats:
    """Return what models tell of the symbols that leave rows open."""
    return np.stack([one.columns[np.ix_(rows, 1 + after.live)] for one in told], axis=1)
