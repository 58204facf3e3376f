"""What all learners of this room share: words as integers, and rows without zeros."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.checks import check_number
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words, visited_states


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


def smooth_rows(pdfa: PDFA, words: Iterable[Word], *, weight: float = 1.0) -> PDFA:
    """Count words in the states of an automaton, and leave no probability at 0.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. The words must be possible in it: those it was learnt from are.
    words : iterable of words, or Corpus
        The words to count.
    weight : float
        Every row is drawn to the mean row of all states, as if that had been seen this many times
        more; the mean row itself as if every symbol had been seen half a time more.

    Returns
    -------
    PDFA
        With the same states. A transition that was undefined leads to where its symbol leads most
        often in the words, or to the initial state.

    Examples
    --------
    >>> pdfa = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0]])
    >>> smooth_rows(pdfa, ["a", "aa", ""]).probabilities.round(3).tolist()
    [[0.495, 0.495, 0.01]]
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    weight = check_number(weight, "weight", 1e-9, 1e9)
    _, batch = encode_training_words(words, pdfa.alphabet)
    width = len(pdfa.alphabet) + 1
    visited = visited_states(pdfa.table, pdfa.initial, batch).astype(np.int64)
    defined = visited >= 0
    cells = (visited * width + batch.next_columns())[defined]
    counts = np.bincount(cells, minlength=len(pdfa) * width).reshape(-1, width)
    totals = counts.sum(axis=0) + 0.5
    rows = counts + weight * totals / totals.sum()
    usual = _usual_targets(pdfa, counts[:, 1:])
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=np.where(pdfa.transitions < 0, usual, pdfa.transitions),
        probabilities=rows / rows.sum(axis=1, keepdims=True),
        initial=pdfa.initial,
    )


def _usual_targets(pdfa: PDFA, counts: Integers) -> Integers:
    """Return where each symbol leads most often; the initial state if nowhere."""
    targets: Floats = np.zeros((len(pdfa.alphabet), len(pdfa)))
    states, symbols = np.nonzero(counts)
    np.add.at(targets, (symbols, pdfa.transitions[states, symbols]), counts[states, symbols])
    return np.where(targets.any(axis=1), targets.argmax(axis=1), pdfa.initial)
