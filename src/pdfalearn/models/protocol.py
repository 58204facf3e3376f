"""What a language model has to offer to be learnt from."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.words import Words

Handles = NDArray[np.int64]


class LanguageModel(Protocol):
    """Anything that can say how a word may go on, asked in batches.

    Words that the model has been led to have integer *handles*: a state of an automaton, a row of
    hidden state of a recurrent network, a node with cached keys and values of a transformer, or
    just a word to be sent. A handle is valid until it is released. The observation tree is the only
    caller: it keeps the handles, counts, and checks every answer, so a model need not.
    """

    @property
    def alphabet(self) -> Alphabet:
        """The symbols, in the order of the columns of a distribution after the terminal."""
        ...

    @property
    def fingerprint(self) -> str | None:
        """What tells this model's answers from another's; None if the model cannot say."""
        ...

    @property
    def capacity(self) -> int | None:
        """The most handles that may be alive at once; None if any number may."""
        ...

    @property
    def prefixes_free(self) -> bool:
        """Whether the distributions of a word's prefixes come at no cost with the word's own."""
        ...

    def start(self) -> int:
        """Give a new handle of the empty word."""
        ...

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Continue the word of each handle with a word of its own.

        Returns
        -------
        array of int, shape (len(words.symbols),)
            A new handle for every symbol, so that every prefix has one; -1 from the first symbol on
            that makes the word undefined.
        """
        ...

    def distributions(self, handles: Handles) -> NDArray[np.float64]:
        """Give the distribution after the word of each handle, one a row, terminal first."""
        ...

    def release(self, handles: Handles) -> None:
        """Take back handles that will not be used again."""
        ...


@runtime_checkable
class SaysUndefined(Protocol):
    """What a model may offer besides: to say at no cost after which symbols words are undefined.

    A learner then leaves these symbols out, so that its time and memory follow the support of the
    distributions and not the alphabet.
    """

    def undefined_after(self, handles: Handles) -> NDArray[np.bool_]:
        """Say for each handle and each symbol whether its word is known to be undefined with it.

        Returns
        -------
        array of bool, shape (len(handles), symbols)
            True only where `extend` would give -1; False says nothing.
        """
        ...
