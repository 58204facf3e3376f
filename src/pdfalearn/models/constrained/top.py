"""Only the most probable symbols: top-k and top-p."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from pdfalearn.checks import checked_integer, checked_number
from pdfalearn.errors import InputError
from pdfalearn.models.constrained._rows import blocks_of, refuse_undecided
from pdfalearn.models.constrained._selection import OpenedSelection
from pdfalearn.models.constrained.wrapper import States, Wrapper
from pdfalearn.models.protocol import LanguageModel, QueryCost
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Flags, Floats, Rows

_ROUNDING = 1e-12
"""A mass may fall short of p by this much, as adding up leaves it."""


class Selection(Wrapper):
    """A model of which some symbols are kept after each word; the others have probability 0.

    Words through a symbol of probability 0 are undefined. Whether a word is, only the distributions
    of its prefixes tell: so these are asked for on the way, symbol by symbol, and the model inside
    is never asked beyond what is kept.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    """

    cuts = True

    def __init__(self, model: PDFA | LanguageModel) -> None:
        super().__init__(model)
        self.needs_prefixes = True

    def _cost(self, inner: QueryCost) -> QueryCost:
        """Return what asking costs if every prefix is read, each by itself."""
        # A symbol leads to a word that is read once, on the way or at the end; what that costs is
        # part of the symbol's cost, and reading it is free then. It is asked for by itself, before
        # anyone knows how the word goes on: so it costs as much as a word, even where a prefix
        # costs less beside the word that it is a prefix of.
        read = max(inner.word, inner.prefix)
        return QueryCost(
            call=inner.call, symbol=inner.symbol + read, cached_symbol=inner.cached_symbol
        )

    def _around(self, inner: LanguageModel) -> OpenedSelection:
        return OpenedSelection(self, inner)

    def _weigh(self, table: Floats, states: States | None) -> Flags:
        kept = self._keep(table, np.zeros(len(table)))
        table *= kept
        return kept

    def _list_kept(self, table: Floats, states: States | None) -> Rows:
        kept = self._keep(table, np.zeros(len(table)))
        table[:, 0] *= kept[:, 0]
        return Rows.dense(table, impossible=~kept[:, 1:]).to_sparse()

    def _weigh_listed(self, rows: Rows, states: States | None) -> tuple[Floats, Flags]:
        kept = np.empty(len(rows.values), dtype=bool)
        undecided = rows.is_open
        rests = np.where(undecided, rows.rests, 0.0)
        for places, table, inside, entries in blocks_of(rows):
            kept_here = self._keep(table, rests[places])
            kept[entries] = kept_here[inside]
            if undecided[places].any():
                enough = self._are_enough(table, kept_here, rests[places])
                least = np.where(kept_here, table, np.inf).min(axis=1)
                undecided[places] &= ~(enough & (least > rows.ceilings[places]))
        refuse_undecided(rows, undecided, self._remedy)
        return np.maximum(rows.values, 0.0) * kept, kept

    @abstractmethod
    def _keep(self, table: Floats, rests: Floats) -> Flags:
        """Return what is kept of distributions; what has probability 0 is not in any case.

        They are given as a table of what they list, in the order of the columns, and the mass of
        what they do not list. The answer is right if everything that is kept is more probable than
        what is not listed.
        """

    @abstractmethod
    def _are_enough(self, table: Floats, kept: Flags, rests: Floats) -> Flags:
        """Return for which rows nothing that is not listed has to be kept as well.

        Not for those in which rounding decides: dense rows might be rounded differently.
        """

    @property
    @abstractmethod
    def _remedy(self) -> str:
        """What rows that list too little leave open, and what to do about it."""


class TopK(Selection):
    """A language model that keeps only the k most probable symbols after each word.

    The terminal is a symbol like the others. Of equal probabilities the first is kept: the
    terminal, then the symbols in the order of the alphabet. What is kept is divided by its sum;
    words through other symbols are undefined. If the model inside does not list all symbols, it has
    to list k that are more probable than any other can be.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    k : int
        How many, at least 1.

    Examples
    --------
    >>> from pdfalearn import FunctionModel, Words
    >>> from pdfalearn.models.opened import ask_words
    >>> model = TopK(FunctionModel(lambda words: [[0.2, 0.4, 0.2, 0.2]] * len(words), "abc"), 2)
    >>> ask_words(model, Words.of([()])).to_dense().round(3)
    array([[0.333, 0.667, 0.   , 0.   ]])
    """

    def __init__(self, model: PDFA | LanguageModel, k: int) -> None:
        super().__init__(model)
        self.k = checked_integer(k, "k", 1)

    def _parameters(self) -> str:
        return str(self.k)

    def _keep(self, table: Floats, rests: Floats) -> Flags:
        width = table.shape[1]
        if self.k >= width:
            return table > 0
        least = np.partition(table, width - self.k, axis=1)[:, width - self.k, None]
        above, equal = table > least, table == least
        places_left = self.k - above.sum(axis=1, keepdims=True)
        equal &= np.cumsum(equal, axis=1, dtype=np.int32) <= places_left
        return np.asarray((above | equal) & (table > 0))

    def _are_enough(self, table: Floats, kept: Flags, rests: Floats) -> Flags:
        return np.asarray(np.count_nonzero(kept, axis=1) == self.k)

    @property
    def _remedy(self) -> str:
        return (
            f"one of them may be among the {self.k} most probable; let the model list more "
            "symbols, or take a smaller k"
        )


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
    >>> from pdfalearn import FunctionModel, Words
    >>> from pdfalearn.models.opened import ask_words
    >>> model = TopP(FunctionModel(lambda words: [[0.1, 0.2, 0.7, 0.0]] * len(words), "abc"), 0.9)
    >>> ask_words(model, Words.of([()])).to_dense().round(3)
    array([[0.   , 0.222, 0.778, 0.   ]])
    """

    def __init__(self, model: PDFA | LanguageModel, p: float) -> None:
        super().__init__(model)
        self.p = checked_number(p, "p", 0, 1)
        if not self.p:
            raise InputError("p is 0, and nothing has that mass; give a number above 0")

    def _parameters(self) -> str:
        return repr(self.p)

    def _keep(self, table: Floats, rests: Floats) -> Flags:
        order = np.argsort(-table, axis=1, kind="stable")
        ordered = np.take_along_axis(table, order, axis=1)
        masses = np.cumsum(ordered, axis=1)
        enough = self.p * (masses[:, -1] + rests) - _ROUNDING
        is_needed = ordered > 0
        if self.p < 1:
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

    @property
    def _remedy(self) -> str:
        return (
            f"one of them may be among those with a mass of {self.p}; let the model list more "
            "symbols, or take a smaller p"
        )
