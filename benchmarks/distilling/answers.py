"""Words of a model with its answers after all their prefixes, as a tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from pdfalearn import PDFA, Exact, LanguageModel
from pdfalearn.alphabet import Alphabet
from pdfalearn.learners import ObservationTree
from pdfalearn.samplers import Words
from pdfalearn.samplers.drawing import model_words

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LONGEST = 300
"""Words are cut at this length."""
_FIRST, _MOST_WORDS = 32, 2_000_000


@dataclass(frozen=True, eq=False)
class Answers:
    """Distinct prefixes of some words, with the model's answers.

    Parameters
    ----------
    alphabet : Alphabet
        The model's.
    words : Words
        The words; those of `LONGEST` symbols were cut there.
    parents, symbols : arrays of int
        The prefix without its last symbol, an earlier one, and that symbol; -1 for the empty word.
    weights : array of float
        How many words pass each prefix, and were asked there.
    rows : array of float, shape (prefixes, symbols + 1)
        The answers, the terminal's probability first.
    """

    alphabet: Alphabet
    words: Words
    parents: Integers
    symbols: Integers
    weights: Floats
    rows: Floats

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def levels(self) -> list[Integers]:
        """The prefixes of length 1, of length 2, and so on."""
        by_parent = np.argsort(self.parents, kind="stable")
        bounds = np.searchsorted(self.parents[by_parent], np.arange(len(self) + 1))
        found, here = [], np.array([0])
        while len(here := _ranges(bounds[here], bounds[here + 1])):
            here = by_parent[here]
            found.append(here)
        return found

    @cached_property
    def entropies(self) -> Floats:
        """The entropy of each answer, in nats."""
        return np.asarray(entr(self.rows).sum(axis=1))

    def states(self, pdfa: PDFA) -> Integers:
        """Return the state of an automaton after each prefix; -1 where that is undefined."""
        return self.states_in(pdfa.table, pdfa.initial)

    def states_in(self, table: NDArray[np.integer], initial: int) -> Integers:
        """Return the states by a table of transitions with one row more, all -1."""
        states = np.full(len(self), initial)
        for level in self.levels:
            states[level] = table[states[self.parents[level]], self.symbols[level]]
        return states


def _ranges(begins: Integers, ends: Integers) -> Integers:
    """Return the integers from each begin up to its end, one range after the other."""
    lengths = ends - begins
    firsts = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(int(lengths.sum())) + np.repeat(begins - firsts, lengths))


def asked(model: LanguageModel, prefixes: int, seed: int) -> Answers:
    """Draw words of a model until they have exactly this many distinct prefixes together."""
    random = np.random.default_rng(seed)
    with ObservationTree(model, Exact()) as tree:
        words = model_words(_FIRST, LONGEST, tree, random)
        while (found := len(np.unique(tree.path(words)))) < prefixes and len(words) < _MOST_WORDS:
            wanted = int(1.1 * len(words) * (prefixes - found) / found) + 8
            words = _appended(words, model_words(min(wanted, len(words)), LONGEST, tree, random))
        return _collected(tree, _fitting(tree, words, prefixes))


def _appended(words: Words, others: Words) -> Words:
    symbols = np.concatenate((words.symbols, others.symbols))
    return Words(symbols, np.append(words.offsets, others.offsets[1:] + words.offsets[-1]))


def _fitting(tree: ObservationTree, words: Words, prefixes: int) -> Words:
    """Return the first words that have at most this many distinct prefixes; at least one word."""
    firsts = np.unique(tree.path(words), return_index=True)[1]
    new = np.bincount(np.searchsorted(words.ends, firsts), minlength=len(words))
    return words.part(0, max(1, int(np.searchsorted(np.cumsum(new), prefixes, "right"))))


def _collected(tree: ObservationTree, words: Words) -> Answers:
    path = tree.path(words)
    is_asked = np.ones(len(path), dtype=bool)
    is_asked[words.ends[words.lengths == LONGEST]] = False
    nodes, places = np.unique(path[is_asked], return_inverse=True)
    parents = np.searchsorted(nodes, tree.nodes.parents[nodes])
    symbols = tree.nodes.last_symbols[nodes].astype(np.int64)
    parents[0] = symbols[0] = -1
    weights = np.bincount(places).astype(np.float64)
    return Answers(tree.alphabet, words, parents, symbols, weights, tree.rows(nodes))
