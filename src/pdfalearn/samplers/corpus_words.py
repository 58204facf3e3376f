"""Words of a user's own, drawn from a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words

if TYPE_CHECKING:
    from pdfalearn.corpora import Corpus


class CorpusWords:
    """Words of a corpus, all equally likely, drawn with replacement.

    Wherever a sampler is expected, a corpus itself will do.

    Parameters
    ----------
    corpus : Corpus
        The words. They are kept in memory once they are drawn from.

    Raises
    ------
    InputError
        When words are first drawn, if a symbol is not in the alphabet.

    Examples
    --------
    >>> from pdfalearn import Corpus
    >>> sampler = CorpusWords(Corpus(["ab", "abba"]))
    >>> sampler.name, sampler.unreachable_symbols(Alphabet("abc"))
    ('words of a corpus of 2', ['c'])
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._encoded: tuple[Alphabet, Words] | None = None

    @property
    def name(self) -> str:
        """What the words are."""
        return self._corpus.name

    def draw(
        self, count: int, hypothesis: PDFA, observations: ObservationTree, random: Generator
    ) -> Words:
        """Draw words; nothing is asked."""
        words = self._over(hypothesis.alphabet)
        return words.take(random.integers(len(words), size=count))

    def unreachable_symbols(self, alphabet: Alphabet) -> list[Symbol]:
        """Return the symbols that are in no word of the corpus."""
        is_there = np.zeros(len(alphabet), dtype=bool)
        is_there[self._over(alphabet).symbols] = True
        return [alphabet.symbols[code] for code in (~is_there).nonzero()[0].tolist()]

    def _over(self, alphabet: Alphabet) -> Words:
        """Encode all words."""
        if self._encoded is None or self._encoded[0] != alphabet:
            self._encoded = alphabet, self._corpus.encode(alphabet)
        return self._encoded[1]
