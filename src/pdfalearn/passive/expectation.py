"""Fit automata that need not be deterministic to recorded words, by expectation-maximisation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.checks import check_integer
from pdfalearn.corpora import PrefixTree
from pdfalearn.models import PFA
from pdfalearn.passive.training import encode_training_words
from pdfalearn.typing import Floats, Singles

# Every move counts as if it had been seen this often, so that none becomes impossible.
_PRIOR = 1e-6
_LEAST = np.float32(1e-30)
# Rounds end when one raises the mean log-probability of a word by less than this.
_CONVERGED = 1e-5


class Weights(NamedTuple):
    """The numbers of a PFA while it is being fitted."""

    initial: Floats
    matrices: Floats
    ends: Floats

    @property
    def emissions(self) -> Floats:
        """The distribution of every state, the terminal first."""
        return np.column_stack((self.ends, self.matrices.sum(axis=2).T))


def fit_pfa(
    words: Iterable[Word],
    states: int,
    *,
    alphabet: Alphabet | Iterable[Symbol] | None = None,
    rounds: int = 200,
    seed: int = 0,
) -> PFA:
    """Fit a PFA to words by expectation-maximisation (Baum and Welch).

    Parameters
    ----------
    words : iterable of words
        What was recorded.
    states : int
        How many states the automaton has.
    alphabet : Alphabet or iterable of symbols, optional
        The symbols; those of the words, sorted, if not given.
    rounds : int
        At most this many rounds; fewer where the words' probability hardly rises any more.
    seed : int
        Seed of the automaton to begin with.

    Returns
    -------
    PFA
        A local optimum: another seed may find a better one.

    Notes
    -----
    A round passes once down and once up the tree of the words' prefixes, all prefixes of a length
    and a last symbol at once. Its time is that of prefixes · states², however often words occur.

    Examples
    --------
    >>> pfa = fit_pfa(["ab"] * 50 + ["b"] * 50, 3, seed=1)
    >>> [round(pfa.probability(word), 2) for word in ("ab", "b", "a")]
    [0.5, 0.5, 0.0]
    """
    symbols, batch = encode_training_words(words, alphabet)
    tree = PrefixTree.of(batch, len(symbols))
    states = check_integer(states, "states", 1)
    weights = draw_weights(
        states, len(symbols), np.random.default_rng(check_integer(seed, "seed", 0))
    )
    before = -np.inf
    for _ in range(check_integer(rounds, "rounds", 1)):
        weights, score = improve(weights, tree)
        if score < before + _CONVERGED:
            break
        before = score
    return make_pfa(weights, symbols)


def draw_weights(states: int, symbols: int, random: np.random.Generator) -> Weights:
    """Draw an automaton to begin with."""
    tables = random.dirichlet(np.full(states * symbols + 1, 0.5), size=states)
    matrices = tables[:, 1:].reshape(states, symbols, states).transpose(1, 0, 2)
    return Weights(random.dirichlet(np.ones(states)), matrices.copy(), tables[:, 0].copy())


def make_pfa(weights: Weights, alphabet: Alphabet) -> PFA:
    """Make a PFA of what was fitted."""
    return PFA(alphabet, initial=weights.initial, matrices=weights.matrices, ends=weights.ends)


def forward_vectors(weights: Weights, tree: PrefixTree) -> tuple[Singles, Singles]:
    """Return where the automaton may be after every prefix, and each last symbol's probability.

    Each vector is divided by its sum, which is the probability of the last symbol.
    """
    vectors = np.empty((len(tree), len(weights.initial)), dtype=np.float32)
    vectors[0] = weights.initial
    shares = np.ones(len(tree), dtype=np.float32)
    matrices = weights.matrices.astype(np.float32)
    for level in tree.levels[1:]:
        for begin, end, symbol in tree.runs(level):
            np.matmul(vectors[tree.parents[begin:end]], matrices[symbol], out=vectors[begin:end])
        shares[level] = np.maximum(vectors[level].sum(axis=1), _LEAST)
        vectors[level] /= shares[level, None]
    return vectors, shares


def improve(weights: Weights, tree: PrefixTree) -> tuple[Weights, float]:
    """Do one round; also return the mean log-probability of a word before it.

    Going up, ``later`` sums over the words through a prefix what each says about the state there:
    its probability from the state on, divided by that from the forward vector on. The product of
    both vectors is then the expected number of words that are in each state (the E-step).
    """
    vectors, shares = forward_vectors(weights, tree)
    ends, matrices = weights.ends.astype(np.float32), weights.matrices.astype(np.float32)
    ending = np.maximum(vectors @ ends, _LEAST)
    logs = np.log(shares, dtype=np.float64)
    total = float(tree.passes @ logs + tree.ends @ np.log(ending, dtype=np.float64))
    later: Singles = (tree.ends / ending).astype(np.float32)[:, None] * ends
    ended = np.einsum("ij,ij->j", vectors, later, dtype=np.float64)
    moves = np.zeros_like(weights.matrices)
    for level in tree.levels[:0:-1]:
        later[level] /= shares[level, None]
        for begin, end, symbol in tree.runs(level):
            # Within a run every parent has one child: nothing is added to the same row twice.
            parents = tree.parents[begin:end]
            moves[symbol] += vectors[parents].T @ later[begin:end]
            later[parents] += later[begin:end] @ matrices[symbol].T
    moves = moves * weights.matrices + _PRIOR
    ended += _PRIOR
    visits = ended + moves.sum(axis=(0, 2))
    begun = vectors[0] * later[0].astype(np.float64)
    new = Weights(begun / begun.sum(), moves / visits[None, :, None], ended / visits)
    return new, total / float(tree.passes[0])


def predict_rows(weights: Weights, tree: PrefixTree) -> Floats:
    """Return the distribution after every prefix of a tree."""
    rows = forward_vectors(weights, tree)[0].astype(np.float64) @ weights.emissions
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
