"""A Python function as a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.models.protocol import Handles
from pdfalearn.words import Words

_Link = tuple["_Link", int] | None
"""A word as its last symbol and the word before it; None is the empty word."""


class FunctionModel:
    """A function from a batch of words to an array of distributions, as a language model.

    Parameters
    ----------
    function : callable
        Takes a list of words, each a tuple of symbols, and gives one distribution a row: the
        terminal's probability first, then those of the symbols in the order of the alphabet.
    alphabet : iterable of hashable, or Alphabet
        The symbols.
    terminal : hashable
        The terminal symbol, unless the alphabet has one already.

    Examples
    --------
    >>> model = FunctionModel(lambda words: [[0.5, 0.5] for word in words], "a")
    >>> model.distributions(np.array([model.start()]))
    array([[0.5, 0.5]])
    """

    fingerprint = None
    capacity = None
    prefixes_free = False

    def __init__(
        self,
        function: Callable[[list[tuple[Symbol, ...]]], ArrayLike],
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
    ) -> None:
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        self.alphabet = alphabet
        self._function = function
        self._links: dict[int, _Link] = {}
        self._next = 0

    def start(self) -> int:
        """Give a handle of the empty word."""
        return self._add(None)

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Note down the longer words; nothing is asked before `distributions`."""
        symbols, offsets = words.symbols.tolist(), words.offsets.tolist()
        longer = []
        for place, handle in enumerate(handles.tolist()):
            link = self._links[handle]
            for symbol in symbols[offsets[place] : offsets[place + 1]]:
                link = (link, symbol)
                longer.append(self._add(link))
        return np.array(longer, dtype=np.int64)

    def distributions(self, handles: Handles) -> NDArray[np.float64]:
        """Call the function with all the words at once."""
        words = [self.alphabet.decode(_codes(self._links[handle])) for handle in handles.tolist()]
        answer = self._function(words)
        try:
            return np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            return np.asarray(answer, dtype=object)  # the observation tree names the word

    def release(self, handles: Handles) -> None:
        """Forget words."""
        for handle in handles.tolist():
            del self._links[handle]

    def _add(self, link: _Link) -> int:
        self._links[self._next] = link
        self._next += 1
        return self._next - 1


def _codes(link: _Link) -> Sequence[int]:
    codes = []
    while link is not None:
        link, symbol = link
        codes.append(symbol)
    return codes[::-1]
