"""Words to try a model with: along what it says may follow, and a little beside that."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pdfalearn.testing._answers import Answer, Codes
from pdfalearn.testing._conversation import Conversation

_LIKELY = 0.7
"""The share of symbols that are drawn from the model; the others are any symbols."""
_TRIES = 8


def walked(
    talk: Conversation, symbols: int, count: int, max_length: int, random: np.random.Generator
) -> dict[Codes, Answer]:
    """Ask for words that get longer by a symbol a batch, and whose prefixes are asked for as well.

    Parameters
    ----------
    talk : Conversation
        The model to ask.
    symbols : int
        The number of symbols.
    count : int
        The most words, the empty one among them.
    max_length : int
        The length of the longest words.
    random : numpy.random.Generator
        Draws them.
    """
    last: list[Codes] = [()]
    answers = dict(zip(last, talk.ask(last), strict=True))
    for length in range(max_length):
        most = -(-(count - len(answers)) // (max_length - length))
        last = _longer(last, answers, symbols, most, random)
        answers.update(zip(last, talk.ask(last), strict=True))
        if not last:
            break
    return answers


def _longer(
    words: list[Codes],
    answers: dict[Codes, Answer],
    symbols: int,
    most: int,
    random: np.random.Generator,
) -> list[Codes]:
    """Draw new words that are longer by a symbol, most of them from words that are defined."""
    defined = [word for word in words if answers[word] is not None]
    new: dict[Codes, None] = {}
    for _ in range(_TRIES * most if words else 0):
        if len(new) >= most:
            break
        some = defined if defined and random.random() < _LIKELY else words
        word = some[random.integers(len(some))]
        new[(*word, _symbol(answers[word], symbols, random))] = None
    return list(new)


def _symbol(answer: Answer, symbols: int, random: np.random.Generator) -> int:
    """Draw a symbol, most often as the model would."""
    if answer is not None and random.random() < _LIKELY:
        chances = np.maximum(answer.to_dense()[0, 1:], 0.0)
        if chances.sum() > 0:
            return int(random.choice(symbols, p=chances / chances.sum()))
    return int(random.integers(symbols))


def long_word(words: Iterable[Codes], answers: dict[Codes, Answer], length: int) -> Codes:
    """Repeat the longest word that is defined until it has a length."""
    defined = [word for word in words if word and answers[word] is not None]
    word = max(defined, key=len, default=(0,))
    return (word * -(-length // len(word)))[:length]
