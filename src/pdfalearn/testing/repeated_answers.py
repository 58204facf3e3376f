"""Does a model answer the same when it is asked in other batches?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pdfalearn.alphabet import Symbol, Word
from pdfalearn.checks import check_integer, make_generator
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import LanguageModel, as_model, ask_words
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats
from pdfalearn.words import Words

# The sizes of the batches that are compared with all words at once.
_BATCHES = (1, 7)


@dataclass(frozen=True)
class Stability:
    """How much a model's answers to the same words differed.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> found = stability(figure_3(), count=10)
    >>> found.largest_difference, found.words
    (0.0, 10)
    """

    largest_difference: float
    """The largest difference of a probability."""
    word: tuple[Symbol, ...]
    """A word where it differed that much."""
    words: int
    """How many words were asked, each of them in several batches."""


def stability(
    model: PDFA | LanguageModel,
    *,
    words: Iterable[Word] | None = None,
    count: int = 64,
    max_length: int = 16,
    seed: int = 0,
) -> Stability:
    """Ask a model for words in batches of several sizes, and report the largest difference.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model.
    words : iterable of words, optional
        The words to ask; random ones if they are not given.
    count, max_length : int
        How many random words, and their largest length.
    seed : int
        Seed of the random words.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.models import AutomatonModel
    >>> stability(AutomatonModel(figure_3())).largest_difference
    0.0
    """
    model = as_model(model)
    if words is None:
        random, count = make_generator(seed), check_integer(count, "count", 1)
        longest = check_integer(max_length, "max_length", 0)
        lengths = random.integers(0, longest + 1, count).tolist()
        codes = [random.integers(0, len(model.alphabet), length).tolist() for length in lengths]
    else:
        codes = [model.alphabet.encode(word).tolist() for word in words]
    if not codes:
        raise InputError("there are no words to ask for")
    first, apart = _ask(model, codes, len(codes)), np.zeros(len(codes))
    for size in _BATCHES:
        again = _ask(model, codes, size)
        odd = np.isnan(first[:, 0]) != np.isnan(again[:, 0])
        if odd.any():
            shown = model.alphabet.decode(codes[int(odd.argmax())])
            raise ModelError(f"the word {shown} is undefined in one batch only")
        apart = np.fmax(apart, np.abs(first - again).max(axis=1))
    largest = int(apart.argmax())
    return Stability(float(apart[largest]), model.alphabet.decode(codes[largest]), len(codes))


def _ask(model: LanguageModel, words: list[list[int]], size: int) -> Floats:
    """Ask for words in batches of a size; the rows of undefined ones are NaN."""
    tables = []
    for begin in range(0, len(words), size):
        rows = ask_words(model, Words.of(words[begin : begin + size]))
        tables.append(np.array(rows.to_dense()))
        if rows.undefined is not None:
            tables[-1][rows.undefined] = np.nan
    return np.concatenate(tables)
