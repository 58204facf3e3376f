"""What asking a model costs."""

from __future__ import annotations

from dataclasses import dataclass

from pdfalearn.checks import checked_number


@dataclass(frozen=True)
class QueryCost:
    """What parts of asking a model cost, relative to each other, in any unit.

    Costs, and never the clock, decide how a learner asks: whether it looks at the distributions on
    the way to a word, how long the words are, and how many words go into a batch.

    Parameters
    ----------
    call : float
        A batch, whatever is in it.
    word : float
        A word whose distribution is asked for.
    prefix : float
        The distribution of a prefix that lies on the way to such a word.
    symbol : float
        A symbol that the model is led through for the first time, or again after it forgot.
    cached_symbol : float
        A symbol at the beginning of a word that the model has seen before, where whole words are
        sent: a server may have cached it.

    Examples
    --------
    >>> QueryCost(call=10, symbol=1).total(calls=2, words=8, symbols=30)
    50.0
    """

    call: float = 0.0
    word: float = 0.0
    prefix: float = 0.0
    symbol: float = 0.0
    cached_symbol: float = 0.0

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            object.__setattr__(self, name, checked_number(given, f"cost of a {name}", 0, 1e15))

    @property
    def is_free(self) -> bool:
        """Whether nothing costs anything."""
        return not any(vars(self).values())

    def total(
        self,
        *,
        calls: float = 0,
        words: float = 0,
        prefixes: float = 0,
        symbols: float = 0,
        cached_symbols: float = 0,
    ) -> float:
        """Return what these numbers of calls, words, prefixes and symbols cost."""
        return (
            self.call * calls
            + self.word * words
            + self.prefix * prefixes
            + self.symbol * symbols
            + self.cached_symbol * cached_symbols
        )


FREE = QueryCost()
"""Nothing costs anything, as with an automaton in memory."""
EVERY_WORD = QueryCost(word=1.0, prefix=1.0)
"""Every distribution is a question of its own, as with a function of whole words."""
EVERY_SYMBOL = QueryCost(symbol=1.0)
"""Nothing but symbols costs, and each gives the distribution after it as well."""
EVERY_STEP = QueryCost(word=20.0, symbol=1.0)
"""A step for every symbol, and words besides: with a network, a step of few words takes nearly as
long as one of many."""
