"""When two states may be merged: the criteria of ALERGIA, MDI and the likelihood ratio."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from scipy.special import chdtrc

from pdfalearn.corpora import PrefixTree
from pdfalearn.passive.losses import bound_losses, measure_losses
from pdfalearn.passive.red_blue import Merging, Subtree
from pdfalearn.typing import Codes, Flags, Floats, Integers

# At most this many pairs of nodes are compared in one array pass.
_MOST_PAIRS = 2**20
# Where the first red that fits is taken, this many are tried at once to begin with.
_FIRST_REDS = 32
# Losses of likelihood are exact to this, in nats.
_ROUNDING = 1e-6
# Losses that are nearer to a bound than this share of it are equal to it.
_TIE = 1e-8


class HoeffdingCriterion:
    """ALERGIA's: the shares of all symbols agree within Hoeffding's bound, here and further on.

    Parameters
    ----------
    epsilon : float
        The bound is (1/√n + 1/√m) · √(½ ln(2/epsilon)) where n and m words pass.
    tree : PrefixTree, optional
        Compare what was recorded after two prefixes, not the merged states.
    """

    def __init__(self, epsilon: float, tree: PrefixTree | None = None) -> None:
        self._scale = sqrt(0.5 * log(2 / epsilon))
        self._recorded = None if tree is None else Merging(tree)

    def __call__(self, merging: Merging, blue: int) -> int:
        """Return the first red node that agrees with a blue one; -1 if there is none."""
        compared = self._recorded or merging
        reds = np.array(merging.reds)
        step = max(1, _MOST_PAIRS // (16 * merging.counts.shape[1]))
        for begin in range(0, len(reds), step):
            agreeing = self._find_agreeing(compared, reds[begin : begin + step], blue)
            if agreeing >= 0:
                return agreeing
        return -1

    def _find_agreeing(self, compared: Merging, reds: Integers, blue: int) -> int:
        table, passes = compared.table, compared.passes
        nodes, states = np.array([blue]), reds[:, None].astype(np.int32)
        while True:
            agree = ~self._differ(compared, states, nodes).any(axis=1)
            reds, states = reds[agree], states[agree]
            if not len(reds):
                return -1
            children = table[nodes]
            # Shares of so few words agree with any others, and so do all that follow.
            children[self._scale * np.sqrt(1 / passes[children]) >= 1] = -1
            places, symbols = np.nonzero(children >= 0)
            states = table[states[:, places], symbols]
            nodes = children[places, symbols].astype(np.int64)
            reached = (states >= 0).any(axis=0)
            nodes, states = nodes[reached], states[:, reached]
            if not len(nodes):
                return int(reds[0])

    def _differ(self, compared: Merging, states: Codes, nodes: Integers) -> Flags:
        """Return which states differ from which nodes; each column has the states of one node."""
        counts, passes = compared.counts, compared.passes
        differ = np.zeros(states.shape, dtype=bool)
        places, columns = np.nonzero(states >= 0)
        shares = counts[nodes] / passes[nodes, None]
        step = max(1, _MOST_PAIRS // shares.shape[1])
        for begin in range(0, len(places), step):
            here, there = places[begin : begin + step], columns[begin : begin + step]
            lefts, rights = states[here, there], nodes[there]
            gaps = np.abs(counts[lefts] / passes[lefts, None] - shares[there]).max(axis=1)
            bounds = (np.sqrt(1 / passes[lefts]) + np.sqrt(1 / passes[rights])) * self._scale
            differ[here, there] = gaps > bounds
        return differ


class MDICriterion:
    """MDI's: the divergence from the words rises by little for each state that is saved.

    Parameters
    ----------
    alpha : float
        The divergence, in bits a word, may rise by less than this for each state.
    words : int
        How many words there are.
    """

    def __init__(self, alpha: float, words: int) -> None:
        self._alpha, self._words = alpha, words

    def __call__(self, merging: Merging, blue: int) -> int:
        """Return the first red node that a blue one may be merged into; -1 if there is none."""
        tree = merging.subtree(blue)
        reds = np.array(merging.reds)
        price = self._alpha * self._words * log(2)  # in nats of all words, for a state
        # At most all nodes of the tree are saved: most reds need not be tried.
        least = bound_losses(merging, reds, blue)
        reds = reds[least <= price * len(tree.nodes) + _ROUNDING]
        begin, size = 0, _FIRST_REDS
        while begin < len(reds):
            size = max(1, min(size, _MOST_PAIRS // len(tree.nodes)))
            some = reds[begin : begin + size]
            losses = measure_losses(merging, some, tree)
            fits = np.flatnonzero(losses.likelihood < (1 - _TIE) * price * losses.states)
            if len(fits):
                return int(some[fits[0]])
            begin, size = begin + size, 4 * size
        return -1


class LikelihoodRatioCriterion:
    """The likelihood ratio's: of the reds that pass the test, the one that passes it best.

    Parameters
    ----------
    alpha : float
        The least p-value of a merge.
    least : float
        States that fewer words pass are not compared.
    """

    def __init__(self, alpha: float, least: float) -> None:
        self._alpha, self._least = alpha, least

    def __call__(self, merging: Merging, blue: int) -> int:
        """Return the red node whose merge with a blue one is likeliest; -1 if there is none."""
        tree = merging.subtree(blue, self._least)
        reds = np.array(merging.reds)
        step = max(1, _MOST_PAIRS // len(tree.nodes))
        parts = [reds[begin : begin + step] for begin in range(0, len(reds), step)]
        values = np.concatenate([self._values(merging, part, tree) for part in parts])
        best = int(values.argmax())
        return int(reds[best]) if values[best] >= self._alpha else -1

    def _values(self, merging: Merging, reds: Integers, tree: Subtree) -> Floats:
        losses = measure_losses(merging, reds, tree, self._least)
        ratios = np.maximum(2 * losses.likelihood, 0.0)
        return np.asarray(chdtrc(np.maximum(losses.parameters, 1), ratios))
