"""Words of a user's own, from a file or a list."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.random import Generator

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.errors import InputError
from pdfalearn.io import WordLines
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words, prefixes_of


class Corpus:
    """Words of a file or a list, all equally likely, drawn with replacement.

    Parameters
    ----------
    words : str, os.PathLike, or iterable of words
        A path, or the words themselves. A file has one word a line, as ``pdfalearn sample`` prints
        them: the symbols side by side if each is one character, and else with blanks between them.
        An empty line is the empty word; the mark of a word that was cut is left out.

    Raises
    ------
    InputError
        If there is no word; when words are first drawn, also if a symbol is not in the alphabet.
        `FileFormatError`, if that is a file's fault.

    Examples
    --------
    >>> corpus = Corpus(["ab", "abba"])
    >>> corpus.name, corpus.unreachable_symbols(Alphabet("abc"))
    ('words of a corpus of 2', ['c'])
    """

    def __init__(self, words: str | os.PathLike[str] | Iterable[Word] | WordLines) -> None:
        self._words: WordLines | list[Word]
        if isinstance(words, WordLines):
            self._words = words
        elif isinstance(words, str | os.PathLike):
            self._words = WordLines.read(words)
        elif isinstance(words, Iterable):
            self._words = list(words)
        else:
            raise InputError(f"a corpus is a path or a list of words, not {words!r}")
        if not len(self._words):
            raise InputError(f"there are no {self.name}: a corpus needs a word at least")
        self._encoded: tuple[Alphabet, Words] | None = None

    @property
    def name(self) -> str:
        """What the words are."""
        if isinstance(self._words, WordLines):
            return f"words of the corpus {self._words.name}"
        return f"words of a corpus of {len(self._words)}"

    def draw(
        self, count: int, hypothesis: PDFA, observations: ObservationTree, random: Generator
    ) -> Words:
        """Draw words; nothing is asked."""
        words = self._over(hypothesis.alphabet)
        places = random.integers(len(words), size=count)
        return prefixes_of(words, places, words.lengths[places])

    def unreachable_symbols(self, alphabet: Alphabet) -> list[Symbol]:
        """Return the symbols that are in no word of the corpus."""
        is_there = np.zeros(len(alphabet), dtype=bool)
        is_there[self._over(alphabet).symbols] = True
        return [alphabet.symbols[code] for code in (~is_there).nonzero()[0].tolist()]

    def _over(self, alphabet: Alphabet) -> Words:
        """Encode all words."""
        if self._encoded is None or self._encoded[0] != alphabet:
            if isinstance(self._words, WordLines):
                words = self._words.encoded(alphabet)
            else:
                words = alphabet.encode_words(self._words)
            self._encoded = alphabet, words
        return self._encoded[1]
