"""Wrappers that keep some symbols of a distribution, by their probabilities, and cut the others."""

from __future__ import annotations

from pdfalearn.models.constrained._rules import Rule
from pdfalearn.models.constrained._selection_session import SelectionSession
from pdfalearn.models.constrained.wrapper import Wrapper
from pdfalearn.models.cost import QueryCost
from pdfalearn.models.protocol import Session


class Selection(Wrapper):
    """A model of which some symbols are kept after each word; the others have probability 0.

    Words through a symbol of probability 0 are undefined. Whether a word is, only the distributions
    of its prefixes tell: so these are asked for on the way, symbol by symbol, and the model inside
    is never led beyond what is kept.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    """

    _rule: Rule
    """What is kept."""

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

    def _around(self, inner: Session) -> Session:
        return SelectionSession(inner, len(self.alphabet), self._rule)
