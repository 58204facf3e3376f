"""Only the most probable symbols: top-k, top-p, and what is above a threshold."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.models.batch import Batch
from pdfalearn.models.constrained.opened_wrapper import OpenedWrapper
from pdfalearn.models.constrained.wrapper import Part, Wrapper
from pdfalearn.models.protocol import LanguageModel, QueryCost, attach_answers, attached_answers
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Rows
from pdfalearn.typing import Flags, Floats, Integers

# A mass may fall short of p by this much, as adding up leaves it.
_ROUNDING = 1e-12


class Selection(Wrapper):
    """A model of which some symbols are kept after each word; the others have probability 0.

    Words through a symbol of probability 0 are undefined. Whether a word is, only the distributions
    of its prefixes tell: so these are asked for on the way, symbol by symbol, and the model inside
    is never asked beyond what is kept.
    """

    cuts = True
    _reads_lists = True

    def __init__(self, model: PDFA | LanguageModel) -> None:
        super().__init__(model)
        self.needs_prefixes = True
        # A symbol leads to a word that is read once, on the way or at the end; what that costs is
        # part of the symbol's cost, and reading it is free then. It is asked for by itself, before
        # anyone knows how the word goes on: so it costs as much as a word, even where a prefix
        # costs less beside the word that it is a prefix of.
        cost = self.model.cost
        symbol = cost.symbol + max(cost.word, cost.prefix)
        self.cost = QueryCost(call=cost.call, symbol=symbol, cached_symbol=cost.cached_symbol)

    def _around(self, inner: LanguageModel) -> OpenedSelection:
        return OpenedSelection(self, inner)

    def _weigh(self, part: Part) -> tuple[Flags, Flags]:
        kept = self._keep(part.table, part.rests)
        undecided = part.rests > 0
        if undecided.any():
            enough = self._are_enough(part.table, kept, part.rests)
            least = np.where(kept, part.table, np.inf).min(axis=1)
            undecided &= ~(enough & (least > part.ceilings))
        np.multiply(part.table, kept, out=part.table)
        return kept, undecided

    def _keep(self, table: Floats, rests: Floats) -> Flags:
        """Return what is kept of distributions; what has probability 0 is not in any case.

        They are given as a table of what they list, in the order of the columns, and the mass of
        what they do not list. The answer is right if everything that is kept is more probable than
        what is not listed.
        """
        raise NotImplementedError

    def _are_enough(self, table: Floats, kept: Flags, rests: Floats) -> Flags:
        """Return for which rows nothing that is not listed has to be kept as well.

        Not for those in which rounding decides: dense rows might be rounded differently.
        """
        raise NotImplementedError


class TopK(Selection):
    """A language model that keeps only the k most probable symbols after each word.

    Symbols of probability 0 are never kept, so that there may be fewer than k. The terminal is a
    symbol like the others. Of equal probabilities the first is kept: the terminal, then the symbols
    in the order of the alphabet. What is kept is divided by its sum; words through other symbols
    are undefined. If the model inside does not list all symbols, it has to list k that are more
    probable than any other can be.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    k : int
        How many, at least 1.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> from pdfalearn.samplers import Words
    >>> from pdfalearn.models.opened import ask_words
    >>> model = TopK(FunctionModel(lambda words: [[0.2, 0.4, 0.2, 0.2]] * len(words), "abc"), 2)
    >>> ask_words(model, Words.of([()])).to_dense().round(3)
    array([[0.333, 0.667, 0.   , 0.   ]])
    """

    def __init__(self, model: PDFA | LanguageModel, k: int) -> None:
        super().__init__(model)
        self.k = check_integer(k, "k", 1)
        self.parameters = str(self.k)
        self._remedy = (
            f"one of them may be among the {self.k} most probable; let the model list more "
            "symbols, or take a smaller k"
        )

    def _keep(self, table: Floats, rests: Floats) -> Flags:
        width = table.shape[1]
        if self.k >= width:
            return table > 0
        least = np.partition(table, width - self.k, axis=1)[:, width - self.k, None]
        above, equal = table > least, table == least
        # Of those that are equal to the least one that is kept, the first fill the places left.
        places_left = self.k - above.sum(axis=1, keepdims=True)
        equal &= np.cumsum(equal, axis=1, dtype=np.int32) <= places_left
        return np.asarray((above | equal) & (table > 0))

    def _are_enough(self, table: Floats, kept: Flags, rests: Floats) -> Flags:
        return np.asarray(np.count_nonzero(kept, axis=1) == self.k)


class TopP(Selection):
    """A language model that keeps the fewest symbols with a mass of at least p.

    The terminal is a symbol like the others. Symbols are taken from the most probable one down;
    of equal probabilities the terminal comes first, then the symbols in the order of the alphabet.
    What is kept is divided by its sum; words through other symbols are undefined. With p = 1
    only symbols of probability 0 are cut. If the model inside does not list all symbols, it has to
    list those that are kept, each more probable than any other symbol can be.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    p : float
        The least mass, above 0 and at most 1. Masses are compared within 1e-12.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> from pdfalearn.samplers import Words
    >>> from pdfalearn.models.opened import ask_words
    >>> model = TopP(FunctionModel(lambda words: [[0.1, 0.2, 0.7, 0.0]] * len(words), "abc"), 0.9)
    >>> ask_words(model, Words.of([()])).to_dense().round(3)
    array([[0.   , 0.222, 0.778, 0.   ]])
    """

    def __init__(self, model: PDFA | LanguageModel, p: float) -> None:
        super().__init__(model)
        self.p = check_number(p, "p", 0, 1)
        if not self.p:
            raise InputError("p is 0, and nothing has that mass; give a number above 0")
        self.parameters = repr(self.p)
        self._remedy = (
            f"one of them may be among those with a mass of {self.p}; let the model list more "
            "symbols, or take a smaller p"
        )

    def _keep(self, table: Floats, rests: Floats) -> Flags:
        order = np.argsort(-table, axis=1, kind="stable")
        ordered = np.take_along_axis(table, order, axis=1)
        masses = np.cumsum(ordered, axis=1)
        enough = self.p * (masses[:, -1] + rests) - _ROUNDING
        is_needed = ordered > 0
        if self.p < 1:  # one is needed if those before it do not have enough mass
            is_needed[:, 1:] &= masses[:, :-1] < enough[:, None]
        kept = np.empty_like(is_needed)
        np.put_along_axis(kept, order, is_needed, axis=1)
        return kept

    def _are_enough(self, table: Floats, kept: Flags, rests: Floats) -> Flags:
        if self.p == 1:
            return np.zeros(len(table), dtype=bool)
        # So much at most does it matter in which order all probabilities are added up.
        rounding = 2.0**-51 * (len(self.alphabet) + 4)
        masses = np.where(kept, table, 0.0).sum(axis=1)
        excess = masses - (self.p * (table.sum(axis=1) + rests) - _ROUNDING)
        least = np.where(kept, table, np.inf).min(axis=1)
        is_alone = np.count_nonzero(kept, axis=1) == 1
        return np.asarray((excess > rounding) & (is_alone | (excess - least < -rounding)))


class Above(Selection):
    """A language model that keeps the symbols whose probability is above a threshold.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    threshold : float
        From 0 to 1, decided as by `Support`. With 0 only symbols of probability 0 are cut.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> from pdfalearn.samplers import Words
    >>> from pdfalearn.models.opened import ask_words
    >>> model = Above(FunctionModel(lambda words: [[0.1, 0.2, 0.6, 0.1]] * len(words), "abc"), 0.1)
    >>> ask_words(model, Words.of([()])).to_dense()
    array([[0.  , 0.25, 0.75, 0.  ]])
    """

    _nothing_left = "nothing is left of it: no symbol is above the threshold; take a smaller one"
    _remedy = (
        "one of them may be above the threshold; let the model list more symbols, or take a larger "
        "threshold"
    )

    def __init__(self, model: PDFA | LanguageModel, threshold: float) -> None:
        from pdfalearn.equivalence import Support  # few runs need it

        super().__init__(model)
        self._support = Support(threshold)
        self.parameters = repr(self._support.threshold)

    def _weigh(self, part: Part) -> tuple[Flags, Flags]:
        kept = self._support.above(part.table)
        np.multiply(part.table, kept, out=part.table)
        return kept, (part.rests > 0) & self._support.above(part.ceilings)


class OpenedSelection(OpenedWrapper):
    """Asks for words after their prefixes, and never beyond a symbol that is cut."""

    def __init__(self, wrapper: Wrapper, inner: LanguageModel) -> None:
        super().__init__(wrapper, inner)
        self._supports = Supports(len(self.alphabet))

    def answer(self, batch: Batch) -> Rows:
        """Return the rows over what is kept; prefixes that are not known are asked for first."""
        if batch.are_possible:
            return self._ask_noting(batch)
        answered: list[tuple[Integers, Rows]] = []
        for level in self._cut_levels(batch):
            part = self._leave_out_cut(level)
            if not part.count:
                continue
            try:
                answered.append((part.ids, self._ask_noting(part)))
            except BaseException as error:
                _attach_more(error, answered)
                raise
        return self._put_in_order(answered, batch.wanted_ids)

    def _cut_levels(self, batch: Batch) -> Iterator[Batch]:
        """Yield words, and what leads to them from known ones, after their parents."""
        are_known = self._supports.are_known
        if are_known(batch.parents).all():
            yield batch
            return
        batch = batch.reaching(are_known)
        above = batch.parent_places
        above = above[above >= 0]
        needed = batch.wanted.copy()
        needed[above] |= ~are_known(batch.ids[above])
        for places in batch.levels():
            yield Batch.of_ids(batch.ids[places], needed[places], batch.lineage)

    def _leave_out_cut(self, batch: Batch) -> Batch:
        """Return the part of a batch that goes on with what is kept; all parents are known."""
        kept = self._supports.hold(batch.parents, batch.symbols) | (batch.parents < 0)
        if kept.all() and batch.count == len(batch.ids):
            return batch
        self._supports.note_nothing(batch.ids[~kept])
        ids = batch.ids[kept & batch.wanted]
        wanted = np.ones(len(ids), dtype=bool)
        return Batch.of_ids(ids, wanted, batch.lineage, is_narrow=batch.is_narrow)

    def _ask_noting(self, batch: Batch) -> Rows:
        """Ask for words, and remember what is kept after them."""
        rows = self._ask(batch)
        self._supports.note(batch.wanted_ids, rows)
        return rows

    def _put_in_order(self, answered: list[tuple[Integers, Rows]], wanted: Integers) -> Rows:
        """Return the rows of wanted words; those that were not asked for are undefined."""
        if len(answered) == 1 and np.array_equal(answered[0][0], wanted):
            return answered[0][1]
        nothing = Rows.dense(np.empty((0, len(self.alphabet) + 1)))
        ids = np.concatenate([wanted[:0], *(ids for ids, _ in answered)])
        rows = Rows.join([nothing, *(rows for _, rows in answered)])
        is_wanted = np.isin(ids, wanted, assume_unique=True).nonzero()[0]
        places = np.searchsorted(wanted, ids[is_wanted])
        return rows.take(is_wanted).spread(places, len(wanted))


def _attach_more(error: BaseException, answered: list[tuple[Integers, Rows]]) -> None:
    """Attach the answers of earlier levels to an error, beside those that it has."""
    partial = attached_answers(error)
    parts = answered if partial is None else [*answered, partial]
    if parts:
        ids = np.concatenate([ids for ids, _ in parts])
        attach_answers(error, ids, Rows.join([rows for _, rows in parts]))


class Supports:
    """Remembers of every word which symbols are kept after it; equal lists only once.

    Examples
    --------
    >>> supports = Supports(3)
    >>> supports.note(np.array([7]), Rows.sparse(4, [0, 3], [0, 1, 3], [0.5, 0.25, 0.25]))
    >>> supports.hold(np.array([7, 7]), np.array([0, 1])), supports.are_known(np.array([7, 8]))
    (array([ True, False]), array([ True, False]))
    """

    def __init__(self, symbols: int) -> None:
        self._type = np.min_scalar_type(symbols)
        self._support_of: dict[int, bytes] = {-1: b""}  # what the empty word has for a parent
        self._different: dict[bytes, bytes] = {}

    def are_known(self, ids: Integers) -> Flags:
        """Return of which words the support is known."""
        known = self._support_of
        return np.array([word in known for word in ids.tolist()], dtype=bool)

    def note(self, ids: Integers, rows: Rows) -> None:
        """Remember the supports of words, which their rows show."""
        places, symbols = rows.list_possible()
        if rows.undefined is not None:
            is_defined = ~rows.undefined[places]
            places, symbols = places[is_defined], symbols[is_defined]
        data = symbols.astype(self._type).tobytes()
        ends = np.searchsorted(places, np.arange(len(rows) + 1)) * self._type.itemsize
        for word, (begin, end) in zip(ids.tolist(), pairwise(ends.tolist()), strict=True):
            kept = data[begin:end]
            self._support_of[word] = self._different.setdefault(kept, kept)

    def note_nothing(self, ids: Integers) -> None:
        """Remember that words are undefined, so that nothing follows."""
        self._support_of.update(dict.fromkeys(ids.tolist(), b""))

    def hold(self, ids: Integers, symbols: NDArray[np.integer]) -> Flags:
        """Return for each word, whose support is known, whether a symbol is in it."""
        found = []
        for word, symbol in zip(ids.tolist(), symbols.tolist(), strict=True):
            kept = array(self._type.char, self._support_of[word])
            place = bisect_left(kept, symbol)
            found.append(place < len(kept) and kept[place] == symbol)
        return np.array(found, dtype=bool)
