"""What a language model has to offer to be learnt from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.models.cost import EVERY_WORD, QueryCost
from pdfalearn.rows import Rows
from pdfalearn.words import Words

Handles = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Session:
    """One run's conversation with a model that can go on from a word.

    Words that the model has been led to have integer *handles*, from 0 on. The observation tree is
    the only caller: it keeps the handles, counts, and checks every answer, so a session need not.
    Sessions of one model may take turns; each is used by one thread.

    Handles are *shared* or *owned*. Shared ones are states, as of an automaton: words may have the
    same handle, equal handles have equal answers, and none is ever released. Owned ones belong to
    one word each, as a row of hidden state of a network does; such a handle is valid until it is
    released.

    Examples
    --------
    >>> from pdfalearn import AutomatonModel, figure_1
    >>> session = AutomatonModel(figure_1()).open()
    >>> handles = session.extend(np.array([session.start()]), Words.of([[0, 0]]))
    >>> session.shared, session.read(handles).to_dense().tolist()
    (True, [[0.5, 0.5], [0.5, 0.5]])
    >>> session.close()
    """

    shared: bool = False
    """Whether handles are shared by words."""
    room: int | None = None
    """The most owned handles that may be alive at once, at least 3; None if any number may."""
    positive: bool = False
    """Whether everything is possible after every word, and costs a good deal to ask, as with an
    LLM. A guide that leaves one possibility then does not ask."""

    def start(self) -> int:
        """Return a handle of the empty word."""
        raise NotImplementedError

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Continue the word of each handle with a word of its own.

        Returns
        -------
        array of int, shape (len(words.symbols),)
            A handle for every symbol, so that every prefix has one; -1 from the first symbol on
            that makes the word undefined.
        """
        raise NotImplementedError

    def read(self, handles: Handles) -> Rows:
        """Return the distribution after the word of each handle, one a row, terminal first."""
        raise NotImplementedError

    def possible(self, handles: Handles) -> Mask | Words | None:
        """Return which symbols may follow each handle's word, as far as that is known for free.

        Returns
        -------
        array of bool, shape (len(handles), symbols), or Words, or None
            False only where `extend` would return -1; True promises nothing. As `Words`, entry i
            lists the symbols that may follow. None where nothing is known.
        """
        return None

    def release(self, handles: Handles) -> None:
        """Take back owned handles that will not be used again."""

    def close(self) -> None:
        """End the conversation: no handle will be used again, whether released or not."""


class LanguageModel:
    """Anything that can say how a word may go on, asked in batches.

    A model defines one of two methods: `answer`, which takes whole words, or `open`,
    for a model that can go on from a word.

    Examples
    --------
    >>> class Coin(LanguageModel):
    ...     alphabet = Alphabet(["heads", "tails"])
    ...
    ...     def answer(self, words):
    ...         return Rows.dense(np.full((len(words), 3), 1 / 3))
    >>> session = Coin().open()
    >>> session.read(np.array([session.start()])).to_dense().round(3)
    array([[0.333, 0.333, 0.333]])
    """

    alphabet: Alphabet
    """The symbols, in the order of the columns of a distribution after the terminal."""

    fingerprint: str | None = None
    """All that decides the model's answers, in one text; None if the model cannot say."""

    cost: QueryCost = EVERY_WORD
    """What asking costs. If the cost of a prefix is 0, the distributions on the way are read."""

    def answer(self, words: Words) -> Rows:
        """Return the distribution after each word, one a row, terminal first."""
        raise NotImplementedError(f"{type(self).__name__} has neither answer nor open")

    def open(self) -> Session:
        """Begin a conversation; without a session of its own the model is asked for whole words."""
        from pdfalearn.models.whole_words import WholeWords

        return WholeWords(self)

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        """Return what each copy of the model answers to a word, by its name.

        An audit asks for this when a word has two answers. A model without copies returns nothing.
        """
        return {}
