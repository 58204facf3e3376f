"""Witten-Bell n-grams of several orders, in array passes."""

from __future__ import annotations

import numpy as np

from pdfalearn.typing import Flags, Floats, Integers
from pdfalearn.words import Words


def predict_by_ngrams(learnt: Words, asked: Words, width: int, orders: range) -> dict[int, Floats]:
    """Return ln P of every word by n-grams of each order.

    The share of a symbol after a context is that of the counts, mixed with its share after a
    context of one symbol less: this counts as much as there are different symbols after the
    context (Witten and Bell). Without a context, it is mixed with all symbols alike. Before a word
    there is a mark, any number of times.

    Examples
    --------
    >>> learnt, asked = Words.of([(0, 1), (0,)]), Words.of([(0,)])
    >>> found = predict_by_ngrams(learnt, asked, 2, range(1, 3))
    >>> {order: np.exp(values).round(4).tolist() for order, values in found.items()}
    {1: [0.1406], 2: [0.3464]}
    """
    shares = ngram_shares(learnt, asked, width, orders)
    starts = asked.offsets[:-1] + np.arange(len(asked))
    return {order: np.add.reduceat(np.log(each), starts) for order, each in shares.items()}


def ngram_shares(learnt: Words, asked: Words, width: int, orders: range) -> dict[int, Floats]:
    """Return the probability of every symbol and end of words, by n-grams of each order."""
    count = len(learnt)
    columns = _join_columns(learnt, asked)
    is_learnt = np.arange(len(columns)) < len(learnt.symbols) + count
    begins = np.concatenate((learnt.offsets[:-1], asked.offsets[:-1] + len(learnt.symbols)))
    begins += np.arange(len(begins))
    contexts = np.zeros(len(columns), dtype=np.int64)
    shares = np.full(len(columns), 1 / (width + 1))
    found = {}
    for order in range(1, max(orders) + 1):
        shares = _mix(contexts, columns, is_learnt, shares, width)
        if order in orders:
            found[order] = shares[~is_learnt]
        contexts = _lengthen(contexts, columns, begins, width)
    return found


def _join_columns(first: Words, second: Words) -> Integers:
    """Return what follows every prefix of some words, then of others: 1 + a symbol, or 0."""
    return np.concatenate((first.next_columns(), second.next_columns())).astype(np.int64)


def _lengthen(contexts: Integers, columns: Integers, begins: Integers, width: int) -> Integers:
    """Number the contexts of one symbol more: that before a place, and its symbol."""
    pairs = np.empty(len(columns), dtype=np.int64)
    pairs[1:] = contexts[:-1] * (width + 1) + columns[:-1]
    pairs[begins] = -1  # the mark before a word; no symbol makes such a pair
    return np.asarray(np.unique(pairs, return_inverse=True)[1])


def _mix(
    contexts: Integers, columns: Integers, is_learnt: Flags, shorter: Floats, width: int
) -> Floats:
    """Return the share of each place's column after its context, given those after shorter ones."""
    pairs = contexts * (width + 1) + columns
    kinds, places = np.unique(pairs, return_inverse=True)
    counts = np.bincount(places[is_learnt], minlength=len(kinds))
    totals = np.bincount(contexts[is_learnt], minlength=contexts.max() + 1)
    # How many different columns follow each context.
    followers = np.bincount(kinds[counts > 0] // (width + 1), minlength=len(totals))
    weights = followers[contexts]
    sums = totals[contexts] + weights
    mixed = (counts[places] + weights * shorter) / np.maximum(sums, 1)
    return np.where(sums > 0, mixed, shorter)
