"""What a language model has to offer to be learnt from, and what asking it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import check_number
from pdfalearn.models.batch import Batch
from pdfalearn.rows import Rows
from pdfalearn.typing import Integers


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
    is_free: bool = field(init=False, repr=False, compare=False)
    """Whether nothing costs anything."""

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            object.__setattr__(self, name, check_number(given, f"cost of a {name}", 0, 1e15))
        object.__setattr__(self, "is_free", not any(vars(self).values()))

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


class LanguageModel:
    """Anything that can say how words may go on, asked in batches.

    A model needs an alphabet and one method, `answer`. What it returns is checked by whoever asks.

    A model that keeps something between batches, such as hidden states, does so in what `open`
    returns: one object for one run. It is a cache only: a freshly opened model answers any batch.
    What `open` has returned is closed in the end, and after an error it is not asked again.

    Examples
    --------
    >>> import numpy as np
    >>> class Coin(LanguageModel):
    ...     alphabet = Alphabet(["heads", "tails"])
    ...
    ...     def answer(self, batch):
    ...         return [[0.5, 0.25, 0.25] for word in batch.words]
    >>> from pdfalearn import learn
    >>> learn(Coin()).pdfa
    PDFA(1 state, alphabet=('heads', 'tails'), initial=0)
    """

    alphabet: Alphabet
    """The symbols, in the order of the columns of a distribution after the terminal."""

    fingerprint: str | None = None
    """All that decides the model's answers, in one text; None if the model cannot say."""

    cost: QueryCost = EVERY_WORD
    """What asking costs. If a prefix costs nothing, the distributions on the way are read."""

    full_support: bool = False
    """Whether everything is possible after every word, and costs a good deal to ask, as with an
    LLM. A guide that leaves one possibility then does not ask."""

    needs_prefixes: bool = False
    """Whether only the row before a symbol tells if a word goes on with it, as with top-k. Words
    are then asked for after their prefixes, and never beyond a symbol that is impossible."""

    is_constrained: bool = False
    """Whether most words are undefined, as with a guide: words to test are then drawn from what a
    hypothesis allows."""

    def answer(self, batch: Batch) -> Rows:
        """Return the distribution after each wanted word, one a row, terminal first.

        A model with a method `open` of its own needs this one only there: where it is not
        overridden, the model is opened for the batch.

        Parameters
        ----------
        batch : Batch
            The words: ``batch.words`` are the wanted ones as lists of positions in the alphabet.

        Returns
        -------
        Rows, or array-like of float, shape (wanted words, symbols + 1)
            The rows in the order of the wanted words. In a list, None says that a word is
            undefined; so does a row of NaN.

        Raises
        ------
        BaseException
            Whatever goes wrong, Ctrl-C included. What was answered before can be attached to it
            with `attach_answers`, so that it is not lost.
        """
        opened = self.open()
        if getattr(opened.answer, "__func__", None) is LanguageModel.answer:
            raise NotImplementedError(f"{type(self).__name__} has no method answer")
        try:
            return opened.answer(batch)
        finally:
            opened.close()

    def open(self) -> LanguageModel:
        """Return what answers the batches of one run: the model itself if it keeps nothing."""
        return self

    def close(self) -> None:
        """Let go of what `open` has taken. A model that is its own is not closed after a run."""

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        """Return what each copy of the model answers to a word, by its name.

        An audit asks for this when a word has two answers. A model without copies returns nothing.
        """
        return {}


class PartialAnswers(NamedTuple):
    """Answers to some words of a batch that has failed."""

    ids: Integers
    """The numbers of the words."""
    rows: Rows
    """Their rows."""


def attach_answers(error: BaseException, ids: Integers, rows: Rows) -> None:
    """Attach the answers that there are to an error that ends a batch.

    Parameters
    ----------
    error : BaseException
        What is about to be raised.
    ids : array of int
        The numbers of the words that were answered, as in ``batch.ids``.
    rows : Rows
        Their rows.

    Examples
    --------
    >>> import numpy as np
    >>> error = ConnectionError("the server is gone")
    >>> attach_answers(error, np.array([3]), Rows.dense(np.array([[0.5, 0.5]])))
    >>> attached_answers(error).ids
    array([3])
    """
    error._pdfalearn_answers = PartialAnswers(ids, rows)  # type: ignore[attr-defined]


def attached_answers(error: BaseException) -> PartialAnswers | None:
    """Return the answers that are attached to an error, if there are any."""
    return getattr(error, "_pdfalearn_answers", None)
