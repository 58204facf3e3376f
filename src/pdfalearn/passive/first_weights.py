"""The automaton that fitting begins with: prefixes that go on alike share a state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdfalearn.corpora import PrefixTree
from pdfalearn.typing import Floats, Integers

# Prefixes of fewer words say too little on how they go on; of the others the most frequent count.
_LEAST_WORDS, _MOST_PREFIXES = 15, 2000
# The next two symbols are compared where that takes at most this many figures, else the next one.
_MOST_FIGURES = 1024
# The share of weights drawn by chance, without which EM could not leave the clusters.
_CHANCE = 0.3
_CLUSTER_ROUNDS = 8
# Added to all weights, so that none is 0.
FLOOR = 1e-12


class Weights(NamedTuple):
    """The numbers of a PFA while it is being fitted."""

    initial: Floats
    matrices: Floats
    ends: Floats

    @property
    def emissions(self) -> Floats:
        """The distribution of every state, the terminal first."""
        return np.column_stack((self.ends, self.matrices.sum(axis=2).T))


def normalise(initial: Floats, matrices: Floats, ends: Floats) -> Weights:
    """Divide the weights of each state by their sum."""
    initial, matrices, ends = initial + FLOOR, matrices + FLOOR, ends + FLOOR
    visits = ends + matrices.sum(axis=(0, 2))
    return Weights(initial / initial.sum(), matrices / visits[None, :, None], ends / visits)


def draw_weights(states: int, symbols: int, random: np.random.Generator) -> Weights:
    """Draw an automaton by chance."""
    tables = random.dirichlet(np.full(states * symbols + 1, 0.5), size=states)
    matrices = tables[:, 1:].reshape(states, symbols, states).transpose(1, 0, 2)
    return normalise(random.dirichlet(np.ones(states)), matrices, tables[:, 0])


def cluster_weights(tree: PrefixTree, states: int, random: np.random.Generator) -> Weights:
    """Make an automaton of clusters of prefixes, mixed with one drawn by chance.

    Half as many rounds of EM lead as far from there as from chance alone.
    """
    classes = _classify(tree, states, random)
    moves = np.zeros((tree.width, states, states))
    parents, symbols = tree.parents[1:], tree.symbols[1:]
    np.add.at(moves, (symbols, classes[parents], classes[1:]), tree.passes[1:])
    begins = np.bincount(classes[:1], minlength=states).astype(np.float64)
    ends: Floats = np.bincount(classes, tree.ends, minlength=states).astype(np.float64)
    drawn = draw_weights(states, tree.width, random)
    pairs = zip(normalise(begins, moves, ends), drawn, strict=True)
    return Weights(*((1 - _CHANCE) * found + _CHANCE * chance for found, chance in pairs))


def _classify(tree: PrefixTree, states: int, random: np.random.Generator) -> Integers:
    """Return a state for every prefix: of frequent ones the cluster, of others the likeliest."""
    places = np.flatnonzero(tree.passes >= min(_LEAST_WORDS, tree.passes[0]))
    if len(places) > _MOST_PREFIXES:
        # Lengths ascend, so that a prefix that is kept comes after its parent.
        kept = np.argsort(-tree.passes[places], kind="stable")[:_MOST_PREFIXES]
        places = np.sort(places[kept])
    classes = np.full(len(tree), -1)
    classes[places] = _cluster(
        _describe(tree, places), np.sqrt(tree.passes[places]), states, random
    )
    later = places[places > 0]
    moves = np.zeros((tree.width, states, states))
    np.add.at(
        moves,
        (tree.symbols[later], classes[tree.parents[later]], classes[later]),
        tree.passes[later],
    )
    # The successor that most words take; where none does, the one of the symbol after any state.
    usual = moves.sum(axis=1).argmax(axis=1)[:, None]
    successors = np.where(moves.any(axis=2), moves.argmax(axis=2), usual)
    for level in tree.levels[1:]:
        rest = level.start + np.flatnonzero(classes[level] < 0)
        classes[rest] = successors[tree.symbols[rest], classes[tree.parents[rest]]]
    return classes


def _describe(tree: PrefixTree, places: Integers) -> Floats:
    """Return how words go on after prefixes: square roots of the shares of the next symbols.

    Euclidean distances of such rows are Hellinger's.
    """
    near, children, owners = _count_next(tree, places)
    passes = tree.passes[places, None]
    if near.shape[1] ** 2 > _MOST_FIGURES:
        return np.asarray(np.sqrt(near / passes))
    far = np.zeros((len(places), tree.width, near.shape[1]))
    far[owners, tree.symbols[children]] = _count_next(tree, children)[0] / passes[owners]
    return np.sqrt(np.hstack((near / passes, far.reshape(len(places), -1))))


def _count_next(tree: PrefixTree, nodes: Integers) -> tuple[Floats, Integers, Integers]:
    """Return how often words end or go on after nodes; the nodes below these, and their places."""
    numbers = np.full(len(tree), -1)
    numbers[nodes] = np.arange(len(nodes))
    children = 1 + np.flatnonzero(numbers[tree.parents[1:]] >= 0)
    owners = numbers[tree.parents[children]]
    counts = np.zeros((len(nodes), tree.width + 1))
    counts[:, 0] = tree.ends[nodes]
    counts[owners, tree.symbols[children] + 1] = tree.passes[children]
    return counts, children, owners


def _cluster(rows: Floats, weights: Floats, count: int, random: np.random.Generator) -> Integers:
    """Return clusters of rows by k-means; centres are drawn far from each other (k-means++)."""
    centres = rows[random.choice(len(rows), size=1, p=weights / weights.sum())]
    distances = ((rows - centres[0]) ** 2).sum(axis=1)
    while len(centres) < count and (chances := distances * weights).sum() > 0:
        chosen = random.choice(len(rows), p=chances / chances.sum())
        centres = np.vstack((centres, rows[chosen]))
        distances = np.minimum(distances, ((rows - rows[chosen]) ** 2).sum(axis=1))
    for _ in range(_CLUSTER_ROUNDS):
        clusters: Integers = ((centres**2).sum(axis=1) - 2 * rows @ centres.T).argmin(axis=1)
        totals = np.bincount(clusters, weights, minlength=len(centres))
        members = np.equal.outer(np.arange(len(centres)), clusters) * weights
        centres = np.where(totals[:, None] > 0, members @ rows / (totals[:, None] + FLOOR), centres)
    return clusters
