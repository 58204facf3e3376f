"""The likeliest words of an automaton, and the likeliest beginnings of words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.analysis.probabilities import Product
from pdfalearn.chains import WordGraph, heaviest_words
from pdfalearn.checks import checked_integer
from pdfalearn.languages import HasLength, LanguageLike, language_dfa
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.typing import Floats


@dataclass(frozen=True)
class LikelyWord:
    """A word and its probability.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> (likeliest,) = most_likely(figure_1(), 1)
    >>> likeliest.word, likeliest.probability, round(likeliest.log_probability, 6)
    (('a',), 0.5, -0.693147)
    """

    word: tuple[Symbol, ...]
    probability: float
    log_probability: float


def most_likely(
    pdfa: PDFA, count: int | None = None, language: LanguageLike | None = None
) -> Iterator[LikelyWord]:
    """Find the likeliest words in exact order, each one when it is asked for.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.
    count : int, optional
        How many words at most; all of them, however many, if not given.
    language : str, DFA, Language, or iterable of words, optional
        Only words in it.

    Returns
    -------
    iterator of LikelyWord
        From the likeliest on. Of words that are equally likely but for rounding (1e-12) the
        shorter comes first, then the one that is first in the order of the alphabet.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> [("".join(one.word), one.probability) for one in most_likely(figure_1(), 3)]
    [('a', 0.5), ('aa', 0.25), ('aaa', 0.125)]
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    everything = HasLength() if language is None else language
    product = Product.of(pdfa, language_dfa(everything, pdfa.alphabet))
    return _find_words(product, product.successes, count)


def most_likely_prefixes(pdfa: PDFA, length: int, count: int | None = None) -> Iterator[LikelyWord]:
    """Find the likeliest beginnings of a length in exact order, each one when it is asked for.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.
    length : int
        How many symbols the beginnings have.
    count : int, optional
        How many beginnings at most; all of them if not given.

    Returns
    -------
    iterator of LikelyWord
        The probability is that of all words with this beginning, endless ones included.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> list(most_likely_prefixes(figure_1(), 2))
    [LikelyWord(word=('a', 'a'), probability=0.5, log_probability=-0.6931471805599453)]
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    length = checked_integer(length, "length", 0)
    product = Product.of(pdfa, language_dfa(HasLength(length, length), pdfa.alphabet))
    return _find_words(product, product.accepting.astype(np.float64), count)


def _find_words(product: Product, ends: Floats, count: int | None) -> Iterator[LikelyWord]:
    """Search for the heaviest ways to an end, of which some have these weights."""
    most = None if count is None else checked_integer(count, "count", 0)
    walk, alphabet = product.walk, product.pdfa.alphabet
    graph = WordGraph(walk.sources, walk.symbols, walk.successors, product.weights, ends)
    return (
        LikelyWord(alphabet.decode(way.codes), way.weight, 0.0 - way.cost)
        for way in islice(heaviest_words(graph), most)
    )
