"""Recorded words as integers: what every learner of this room begins with."""

from __future__ import annotations

from collections.abc import Iterable

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.errors import InputError
from pdfalearn.words import Words


def encode_training_words(
    words: Iterable[Word], alphabet: Alphabet | Iterable[Symbol] | None = None
) -> tuple[Alphabet, Words]:
    """Return the alphabet of words and the words as integers; refuse no words at all.

    The alphabet is that of the corpus, or the symbols of the words, sorted, if none is given.
    """
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise InputError(f"words are a list of words, not {words!r}")
    known = getattr(words, "alphabet", None)
    if isinstance(known, Alphabet) and alphabet is None:  # of a corpus
        symbols, batch = known, words.encode()  # type: ignore[attr-defined]
    else:
        listed = [tuple(word) for word in words]
        if alphabet is None:
            alphabet = sorted({symbol for word in listed for symbol in word}, key=str)
            if listed and not alphabet:
                raise InputError("all words are empty, so that they have no alphabet; give one")
        symbols = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
        batch = symbols.encode_words(listed)
    if not len(batch):
        raise InputError("there are no words to learn from; give one or more")
    return symbols, batch
