"""Clark and Thollard's algorithm, which learns automata whose states can be told apart well."""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.arrays import IntMap
from pdfalearn.checks import check_integer, check_number, check_share
from pdfalearn.corpora import CorpusLike, PrefixTree, count_prefixes
from pdfalearn.errors import InputError
from pdfalearn.passive.red_blue import Merging
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats, Integers


class _Suffixes(NamedTuple):
    """A multiset of words that follow a node: their numbers, ascending, and their shares."""

    numbers: Integers
    shares: Floats

    def shares_of(self, numbers: Integers) -> Floats:
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[places] == numbers, self.shares[places], 0.0)

    def is_near(self, other: _Suffixes, most: float) -> bool:
        """Return whether no word's shares differ by more than this (the L∞ distance).

        Shares differ by more only where one of them is greater: few words have to be looked at.
        """
        frequent = [suffixes.numbers[suffixes.shares > most] for suffixes in (self, other)]
        numbers = np.concatenate(frequent)
        gaps = np.abs(self.shares_of(numbers) - other.shares_of(numbers))
        return not (gaps > most).any()


def clark_thollard(
    words: CorpusLike,
    *,
    mu: float,
    minimum: int | None = None,
    states: int | None = None,
    epsilon: float = 0.1,
    delta: float = 0.1,
    length: float | None = None,
    alphabet: Alphabet | Iterable[Symbol] | None = None,
) -> PDFA:
    """Learn an automaton from words by Clark and Thollard's algorithm.

    Parameters
    ----------
    words : Corpus or iterable of words
        What was recorded.
    mu : float
        How well states can be told apart: from any two of them, the probabilities of some word
        differ by at least this.
    minimum : int, optional
        How many words must pass a prefix before it is compared, m₀ in the paper. If not given, it
        follows from the other numbers as in the proof, and is then very large.
    states : int, optional
        The most states that the source may have, n in the paper; needed if there is no ``minimum``.
    epsilon, delta : float
        The divergence from the source is to be below ``epsilon`` but for a chance of ``delta``.
    length : float, optional
        A bound on the expected length of words from any state, L in the paper; the mean length of
        the words if not given.
    alphabet : Alphabet or iterable of symbols, optional
        The symbols; those of the words, sorted, if not given.

    Returns
    -------
    PDFA
        The last state, the ground, stands for all that was not seen often enough; it is left out
        if every transition was. Every row is smoothed: with m symbols, a share p becomes
        p · (1 - (m + 1) · γ) + γ where γ = epsilon / (4 · (length + 1) · (m + 1)).

    Notes
    -----
    A. Clark, F. Thollard, PAC-learnability of probabilistic deterministic finite state automata,
    Journal of Machine Learning Research 5 (2004). The paper draws new words for each step; here all
    steps use the same ones.

    Examples
    --------
    >>> words = ["a" * (i % 4) for i in range(400)]
    >>> clark_thollard(words, mu=0.2, minimum=50).transitions.tolist()
    [[1], [2], [3], [4], [4]]
    """
    symbols, tree = count_prefixes(words, alphabet)
    mu = check_number(mu, "mu", 1e-9, 1)
    epsilon, delta = check_share(epsilon, "epsilon"), check_share(delta, "delta")
    if length is None:
        length = float(tree.passes[1:].sum() / tree.passes[0])
    length = check_number(length, "length", 0, 1e9)
    if minimum is None and states is None:
        raise InputError("clark_thollard needs minimum, or states to compute it from; give one")
    if minimum is None:
        states = check_integer(states, "states", 1)
        least = _sample_bound(mu, epsilon, delta, states, len(symbols), length)
    else:
        least = check_integer(minimum, "minimum", 1)
    merging = _build_graph(tree, mu, least)
    gamma = epsilon / (4 * (length + 1) * (len(symbols) + 1))
    columns = np.zeros(len(symbols) + 1)
    np.add.at(columns, tree.symbols[1:] + 1, tree.passes[1:])
    columns[0] = tree.ends.sum()
    return _add_ground(merging, symbols, columns, gamma)


def _sample_bound(
    mu: float, epsilon: float, delta: float, states: int, symbols: int, length: float
) -> float:
    """Return m₀ of the paper: how many words make a multiset good enough."""
    delta /= 2 * (states * symbols + 2)
    near = epsilon**2 / (16 * (symbols + 1) * (length + 1) ** 2)
    apart = 8 / mu**2 * log(96 * states * symbols / (delta * mu))
    rows = log(24 * states * symbols * (symbols + 1) * (symbols + 2) / delta) / (2 * near**2)
    return max(apart, rows)


def _build_graph(tree: PrefixTree, mu: float, least: float) -> Merging:
    """Merge or promote blue nodes that enough words pass, the largest first; leave the others."""
    merging = Merging(tree)
    numbers = IntMap()
    known = {0: _count_suffixes(merging, 0, numbers)}
    while (blue := merging.take_largest()) >= 0 and merging.passes[blue] >= least:
        suffixes = _count_suffixes(merging, blue, numbers)
        near = (red for red in merging.reds if suffixes.is_near(known[red], mu / 2))
        red = next(near, -1)
        if red >= 0:
            merging.fold(red, blue)
        else:
            known[blue] = suffixes
            merging.promote(blue)
    return merging


def _count_suffixes(merging: Merging, node: int, numbers: IntMap) -> _Suffixes:
    """Count the words that follow a node that is not red yet; equal words have equal numbers."""
    tree = merging.subtree(node)
    width = merging.table.shape[1]
    symbols = merging.symbols[tree.nodes]
    codes = np.zeros(len(tree.nodes), dtype=np.int64)
    for begin, end in zip(tree.borders[1:-1], tree.borders[2:], strict=True):
        here = slice(begin, end)
        # A word's number is that of the word before its last symbol and of this symbol, plus 1.
        codes[here] = numbers.get_or_add(codes[tree.ups[here]] * width + symbols[here]) + 1
    ends = merging.counts[tree.nodes, 0]
    order = np.argsort(codes)
    order = order[ends[order] > 0]
    return _Suffixes(codes[order], ends[order] / merging.passes[node])


def _add_ground(merging: Merging, alphabet: Alphabet, columns: Floats, gamma: float) -> PDFA:
    """Make an automaton of the red nodes, and of one state for all that is below blue ones."""
    reds = np.array(merging.reds)
    numbers = np.full(len(merging.table), len(reds), dtype=np.int32)
    numbers[reds] = np.arange(len(reds), dtype=np.int32)
    transitions = np.vstack((numbers[merging.table[reds]], np.full(len(alphabet), len(reds))))
    counts = merging.counts[reds]
    counts = np.vstack((counts, columns - counts.sum(axis=0)))
    if (transitions[:-1] < len(reds)).all():
        transitions, counts = transitions[:-1], counts[:-1]
    elif not counts[-1].any():
        counts[-1] = 1.0
    shares = counts / counts.sum(axis=1, keepdims=True)
    return PDFA(
        alphabet=alphabet,
        transitions=transitions,
        probabilities=shares * (1 - (len(alphabet) + 1) * gamma) + gamma,
    )
