"""Rows without zeros, for automata that were learnt from words."""

from __future__ import annotations

import numpy as np

from pdfalearn.checks import check_number
from pdfalearn.corpora import CorpusLike, count_steps
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Floats, Integers


def smooth_rows(pdfa: PDFA, words: CorpusLike, *, weight: float = 1.0) -> PDFA:
    """Count words in the states of an automaton, and leave no probability at 0.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. The words must be possible in it: those it was learnt from are.
    words : Corpus or iterable of words
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
    counts = count_steps(pdfa, words).table
    totals = counts.sum(axis=0) + 0.5
    rows = counts + weight * totals / totals.sum()
    usual = _usual_targets(pdfa, counts[:, 1:])
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=np.where(pdfa.transitions < 0, usual, pdfa.transitions),
        probabilities=rows / rows.sum(axis=1, keepdims=True),
        initial=pdfa.initial,
    )


def _usual_targets(pdfa: PDFA, counts: Floats) -> Integers:
    """Return where each symbol leads most often; the initial state if nowhere."""
    targets: Floats = np.zeros((len(pdfa.alphabet), len(pdfa)))
    states, symbols = np.nonzero(counts)
    np.add.at(targets, (symbols, pdfa.transitions[states, symbols]), counts[states, symbols])
    return np.where(targets.any(axis=1), targets.argmax(axis=1), pdfa.initial)
