"""Does a model answer the same when it is asked in other batches?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pdfalearn.alphabet import Symbol, Word
from pdfalearn.checks import checked_generator, checked_integer
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import LanguageModel, as_model, ask_words
from pdfalearn.pdfa import PDFA
from pdfalearn.testing._runs import Answer, read_answers
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
        codes = _random_words(len(model.alphabet), count, max_length, seed)
    else:
        codes = [model.alphabet.encode(word).tolist() for word in words]
    if not codes:
        raise InputError("there are no words to ask for")
    first = _ask(model, codes, len(codes))
    largest, word = 0.0, codes[0]
    for size in _BATCHES:
        again = _ask(model, codes, size)
        for asked, (one, *_), (other, *_) in zip(codes, first, again, strict=True):
            if (one is None) != (other is None):
                shown = model.alphabet.decode(asked)
                raise ModelError(f"the word {shown} is undefined in one batch only")
            if one is not None and other is not None:
                difference = float(np.abs(one - other).max())
                if difference > largest:
                    largest, word = difference, asked
    return Stability(largest, model.alphabet.decode(word), len(codes))


def _ask(model: LanguageModel, words: list[list[int]], size: int) -> list[Answer]:
    """Ask for words in batches of a size."""
    parts = [words[begin : begin + size] for begin in range(0, len(words), size)]
    return [answer for part in parts for answer in read_answers(ask_words(model, Words.of(part)))]


def _random_words(symbols: int, count: int, max_length: int, seed: int) -> list[list[int]]:
    random = checked_generator(seed)
    count = checked_integer(count, "count", 1)
    max_length = checked_integer(max_length, "max_length", 0)
    lengths = random.integers(0, max_length + 1, count).tolist()
    return [random.integers(0, symbols, length).tolist() for length in lengths]
