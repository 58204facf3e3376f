"""Ask a model only along what is kept of its distributions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models.batch import FEW, Batch, Ids
from pdfalearn.models.constrained._rows import spread_rows
from pdfalearn.models.constrained.wrapper import OpenedWrapper, Wrapper
from pdfalearn.models.protocol import LanguageModel, attach_answers, attached_answers
from pdfalearn.rows import Flags, Floats, Rows, SharedRows


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
        if self._supports.are_known(batch.parents).all():
            part = self._leave_out_cut(batch)
            rows = self._ask_noting(part) if part.count else None
            if part is batch and rows is not None:
                return rows
            return self._put_in_order([] if rows is None else [(part.ids, rows)], batch.wanted_ids)
        return self._answer_by_levels(batch)

    def _leave_out_cut(self, batch: Batch) -> Batch:
        """Return the part of a batch that goes on with what is kept; all parents are known."""
        kept = self._supports.hold(batch.parents, batch.symbols) | (batch.parents < 0)
        if kept.all() and batch.count == len(batch.ids):
            return batch
        self._supports.note_nothing(batch.ids[~kept])
        ids = batch.ids[kept & batch.wanted]
        wanted = np.ones(len(ids), dtype=bool)
        return Batch.of_ids(ids, wanted, batch.lineage, is_narrow=batch.is_narrow)

    def _answer_by_levels(self, batch: Batch) -> Rows:
        """Ask for words, and for what leads to them from known ones, after their parents."""
        wanted = batch.wanted_ids
        batch = batch.reaching(self._supports.are_known)
        above = batch.parent_places
        above = above[above >= 0]
        needed = batch.wanted.copy()
        needed[above] |= ~self._supports.are_known(batch.ids[above])
        answered: list[tuple[Ids, Rows]] = []
        for places in batch.levels():
            level = Batch.of_ids(batch.ids[places], needed[places], batch.lineage)
            part = self._leave_out_cut(level)
            if not part.count:
                continue
            try:
                answered.append((part.ids, self._ask_noting(part)))
            except BaseException as error:
                _attach_more(error, answered)
                raise
        return self._put_in_order(answered, wanted)

    def _ask_noting(self, batch: Batch) -> Rows:
        """Ask for words, and remember what is kept after them."""
        rows = self._ask(batch)
        self._supports.note(batch.wanted_ids, rows)
        return rows

    def _put_in_order(self, answered: list[tuple[Ids, Rows]], wanted: Ids) -> Rows:
        """Return the rows of wanted words; those that were not asked for are undefined."""
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
        self._support_of: dict[int, bytes] = {-1: b""}  # what the empty word has for a parent
        self._different: dict[bytes, bytes] = {}
        self._table: Floats | None = None
        self._kept_in: dict[int, bytes] = {}
        """The supports of the rows of a table that words share, by their numbers."""

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
        if len(ids) < FEW:
            lists = (np.frombuffer(self._support_of[word], self._type) for word in ids.tolist())
            pairs = zip(lists, symbols.tolist(), strict=True)
            return np.array([symbol in kept for kept, symbol in pairs], dtype=bool)
        different, places = np.unique(ids, return_inverse=True)
        kept = [self._support_of[word] for word in different.tolist()]
        lengths = [len(data) // self._type.itemsize for data in kept]
        listed = np.frombuffer(b"".join(kept), dtype=self._type)
        keys = np.repeat(np.arange(len(different)), lengths) * self._symbols + listed
        return np.isin(places * self._symbols + symbols, keys)

    def _list_kept(self, rows: Rows) -> list[bytes]:
        """Return the symbols that are kept in each row."""
        if isinstance(rows, SharedRows):
            return self._list_shared(rows)
        rows = rows.to_sparse()  # which lists all that is not impossible
        if rows.columns is None or rows.offsets is None:
            raise TypeError("sparse rows have columns")
        is_symbol = rows.columns > 0
        data = (rows.columns[is_symbol] - 1).astype(self._type).tobytes()
        ends = np.append(0, np.cumsum(is_symbol))[rows.offsets] * self._type.itemsize
        return [data[begin:end] for begin, end in pairwise(ends.tolist())]

    def _list_shared(self, rows: SharedRows) -> list[bytes]:
        """Return the symbols that are kept in each row; every row of the table is listed once."""
        if rows.table is not self._table:
            self._table, self._kept_in = rows.table, {}
        numbers = rows.numbers.tolist()
        new = {number: place for place, number in enumerate(numbers) if number not in self._kept_in}
        if new:
            some = rows.take(np.array(list(new.values()))).to_sparse()
            self._kept_in.update(zip(new, self._list_kept(some), strict=True))
        return [self._kept_in[number] for number in numbers]
