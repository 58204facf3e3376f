"""Ask a model only along what is kept of its distributions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models.batch import Batch, Ids
from pdfalearn.models.constrained._rows import spread_rows
from pdfalearn.models.constrained.wrapper import OpenedWrapper, Wrapper
from pdfalearn.models.protocol import LanguageModel, attach_answers, attached_answers
from pdfalearn.rows import Flags, Rows, SharedRows


class OpenedSelection(OpenedWrapper):
    """Asks for words after their prefixes, and never beyond a symbol that is cut.

    Parameters
    ----------
    wrapper : Wrapper
        What keeps symbols by their probabilities.
    inner : LanguageModel
        The opened model inside.
    """

    def __init__(self, wrapper: Wrapper, inner: LanguageModel) -> None:
        super().__init__(wrapper, inner)
        self._supports = Supports(len(self.alphabet))

    def answer(self, batch: Batch) -> Rows:
        """Return the rows over what is kept; prefixes that are not known are asked for first."""
        supports = self._supports
        wanted = batch.wanted_ids
        batch = batch.reaching(supports.are_known)
        levels = batch.levels()
        needed = batch.wanted
        if len(levels) > 1:  # some words lie on the way to others
            above = batch.parent_places
            above = above[above >= 0]
            needed = needed.copy()
            needed[above] |= ~supports.are_known(batch.ids[above])
        answered: list[tuple[Ids, Rows]] = []
        for places in levels:
            kept = self._are_kept(batch, places)
            if not kept.all():
                supports.note_nothing(batch.ids[places[~kept]])
            ids = batch.ids[places[kept & needed[places]]]
            if not len(ids):
                continue
            part = Batch.of_ids(ids, np.ones(len(ids), dtype=bool), batch.lineage)
            try:
                rows = self._ask(part)
            except BaseException as error:
                _attach_more(error, answered)
                raise
            supports.note(ids, rows)
            answered.append((ids, rows))
        return self._put_in_order(answered, wanted)

    def _are_kept(self, batch: Batch, places: NDArray[np.int64]) -> Flags:
        """Return which words go on with a symbol that is kept after their parents."""
        parents = batch.parents[places]
        kept = np.ones(len(places), dtype=bool)
        first = int(parents[0] < 0)  # the empty word has no parent
        kept[first:] = self._supports.hold(parents[first:], batch.symbols[places[first:]])
        return kept

    def _put_in_order(self, answered: list[tuple[Ids, Rows]], wanted: Ids) -> Rows:
        """Return the rows of wanted words; those that were not asked for are undefined."""
        if len(answered) == 1 and np.array_equal(answered[0][0], wanted):
            return answered[0][1]
        nothing = Rows.dense(np.empty((0, len(self.alphabet) + 1)))
        ids = np.concatenate([wanted[:0], *(ids for ids, _ in answered)])
        rows = Rows.joined([nothing, *(rows for _, rows in answered)])
        is_wanted = np.isin(ids, wanted, assume_unique=True).nonzero()[0]
        places = np.searchsorted(wanted, ids[is_wanted])
        return spread_rows(rows.take(is_wanted), places, len(wanted))


def _attach_more(error: BaseException, answered: list[tuple[Ids, Rows]]) -> None:
    """Attach the answers of earlier levels to an error, beside those that it has."""
    partial = attached_answers(error)
    parts = answered if partial is None else [*answered, partial]
    if parts:
        ids = np.concatenate([ids for ids, _ in parts])
        attach_answers(error, ids, Rows.joined([rows for _, rows in parts]))


class Supports:
    """Remembers of every word which symbols are kept after it; equal lists only once.

    Parameters
    ----------
    symbols : int
        The size of the alphabet.

    Examples
    --------
    >>> supports = Supports(3)
    >>> supports.note(np.array([7]), Rows.sparse(4, [0, 3], [0, 1, 3], [0.5, 0.25, 0.25]))
    >>> supports.hold(np.array([7, 7]), np.array([0, 1])), supports.are_known(np.array([7, 8]))
    (array([ True, False]), array([ True, False]))
    """

    def __init__(self, symbols: int) -> None:
        self._symbols = symbols
        self._type = np.min_scalar_type(symbols)
        self._support_of: dict[int, bytes] = {}
        self._different: dict[bytes, bytes] = {}

    def are_known(self, ids: Ids) -> Flags:
        """Return of which words the support is known."""
        known = self._support_of
        return np.array([word in known for word in ids.tolist()], dtype=bool)

    def note(self, ids: Ids, rows: Rows) -> None:
        """Remember the supports of words, which their rows show."""
        lists = self._list_kept(rows)
        if rows.undefined is not None:
            pairs = zip(lists, rows.undefined.tolist(), strict=True)
            lists = [b"" if is_undefined else kept for kept, is_undefined in pairs]
        once = self._different
        for word, kept in zip(ids.tolist(), lists, strict=True):
            self._support_of[word] = once.setdefault(kept, kept)

    def note_nothing(self, ids: Ids) -> None:
        """Remember that words are undefined, so that nothing follows."""
        self._support_of.update(dict.fromkeys(ids.tolist(), b""))

    def hold(self, ids: Ids, symbols: NDArray[np.integer]) -> Flags:
        """Return for each word, whose support is known, whether a symbol is in it."""
        different, places = np.unique(ids, return_inverse=True)
        lists = [self._support_of[word] for word in different.tolist()]
        lengths = [len(kept) // self._type.itemsize for kept in lists]
        listed = np.frombuffer(b"".join(lists), dtype=self._type)
        keys = np.repeat(np.arange(len(different)), lengths) * self._symbols + listed
        return np.isin(places * self._symbols + symbols, keys)

    def _list_kept(self, rows: Rows) -> list[bytes]:
        """Return the symbols that are kept in each row."""
        if isinstance(rows, SharedRows):
            _, first, places = np.unique(rows.numbers, return_index=True, return_inverse=True)
            lists = self._list_kept(rows.take(first).to_sparse())
            return [lists[place] for place in places.tolist()]
        rows = rows.to_sparse()  # which lists all that is not impossible
        if rows.columns is None or rows.offsets is None:
            raise TypeError("sparse rows have columns")
        is_symbol = rows.columns > 0
        data = (rows.columns[is_symbol] - 1).astype(self._type).tobytes()
        ends = np.append(0, np.cumsum(is_symbol))[rows.offsets] * self._type.itemsize
        return [data[begin:end] for begin, end in pairwise(ends.tolist())]
