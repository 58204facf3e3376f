"""Weighted automata over all of their words: distances, differences, minimal ones, PDFA."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from pdfalearn.alphabet import Symbol
from pdfalearn.checks import SUM_TOLERANCE, check_integer, check_number
from pdfalearn.errors import InputError, LearningError
from pdfalearn.models import PFA, WFA
from pdfalearn.pdfa import PDFA
from pdfalearn.text import described
from pdfalearn.typing import Floats

# Directions that the vectors after words span: what is smaller is rounding, and what is between the
# two is neither certain.
_ROUNDING, _CLEAR = 1e-13, 1e-10
# Sums over words by length are given up after this many lengths.
_LONGEST = 20_000
# The squares of the words that are left out sum to at most this, or this share of the whole.
_LEFT, _SHARE = 1e-20, 1e-6
# Whether that is so is looked at whenever this many lengths are added.
_LOOK = 8
FLOOR = 1e-6
"""Differences count as shares of at least this much of the terms that a first word can have."""


class RankError(LearningError):
    """The rank of a function cannot be decided from numbers of this accuracy.

    Examples
    --------
    >>> issubclass(RankError, LearningError)
    True
    """


class ConvertedPDFA(NamedTuple):
    """A PDFA made of a weighted automaton, and how far the two are apart.

    Examples
    --------
    >>> wfa = WFA("a", initial=[2], matrices=[[[0.5]]], ends=[0.25])
    >>> pdfa, residual = wfa_to_pdfa(wfa)
    >>> pdfa.probabilities.round(9).tolist(), residual < 1e-12
    ([[0.5, 0.5]], True)
    """

    pdfa: PDFA
    residual: float
    """The l2 distance over all words, as `l2_distance` computes it."""


def as_wfa(given: WFA | PDFA, name: str = "it") -> WFA:
    """Return a weighted automaton as it is, and a PDFA as one; refuse anything else."""
    if isinstance(given, PDFA):
        return PFA.from_pdfa(given)
    if not isinstance(given, WFA):
        raise InputError(f"{name} is {described(given)}, neither a WFA nor a PFA nor a PDFA")
    return given


def subtract(first: WFA, second: WFA) -> WFA:
    """Return the automaton whose values are the differences of two others' values."""
    order = first.alphabet.positions_in(second.alphabet)
    count, size = len(first), len(first) + len(second)
    matrices = np.zeros((len(first.alphabet), size, size))
    matrices[:, :count, :count] = first.matrices
    matrices[:, count:, count:] = second.matrices[order]
    return WFA(
        first.alphabet,
        initial=np.concatenate((first.initial, second.initial)),
        matrices=matrices,
        ends=np.concatenate((first.ends, -second.ends)),
    )


def l2_distance(first: WFA | PDFA, second: WFA | PDFA) -> float:
    """Return √Σ (f(w) - g(w))² over all words w; infinite if the sum does not seem to converge.

    Notes
    -----
    Sums of products A_w·e·(A_w·e)ᵀ over the words w of k symbols are kept as L·Lᵀ, so that no
    digits are lost by squaring, and none by subtracting. They are computed for one length after
    the other until what longer words add, extrapolated from what the last quarter of the lengths
    and the one before have added, is less than 10⁻²⁰ or a millionth. Of WFA that are not PFA this
    is not before longer words lead to no new direction, and yet an extrapolation. Where that does
    not shrink, the distance is infinite, unless it is as small as rounding: below 10⁻²⁶ for the
    whole quarter.

    Examples
    --------
    >>> half = WFA("a", initial=[1], matrices=[[[0.5]]], ends=[0.5])
    >>> double = WFA("a", initial=[2], matrices=[[[0.5]]], ends=[0.5])
    >>> round(l2_distance(half, double) ** 2, 4), round(1 / 4 / (1 - 1 / 4), 4)
    (0.3333, 0.3333)
    """
    parts = as_wfa(first, "first"), as_wfa(second, "second")
    wfa = subtract(*parts)
    # Sums of a PFA do not grow; those of others may, behind states that only long words come to.
    least = max((_longest_new(one) for one in parts if not isinstance(one, PFA)), default=0)
    size = float(wfa.initial @ wfa.initial)
    factor, square = wfa.ends[None], 0.0  # its rows are the columns of L
    added: list[float] = []
    for _ in range(_LONGEST):
        if len(factor) > len(wfa):
            factor = np.asarray(np.linalg.qr(factor, mode="r"))
        square += float(((factor @ wfa.initial) ** 2).sum())
        added.append(float((factor**2).sum()))
        if not added[-1] < 1e150:
            return np.inf
        if not added[-1]:
            return float(np.sqrt(square))
        # Halves of a window that grows: sums of a length may rise and fall in long cycles.
        half = max(_LOOK, len(added) // 4)
        if len(added) >= max(2 * half, least) and len(added) % _LOOK == 0:
            newest = sum(added[-half:])
            ratio = newest / sum(added[-2 * half : -half])
            left = size * newest * (ratio / (1 - ratio) if ratio < 1 else np.inf)
            if left <= max(_LEFT, _SHARE * square) or size * newest <= _ROUNDING**2:
                return float(np.sqrt(square))
        factor = (factor @ wfa.matrices.transpose(0, 2, 1)).reshape(-1, len(wfa))
    return np.inf


def _longest_new(wfa: WFA) -> int:
    """Return up to which length words add directions to what the vectors before the end span."""
    basis, new, length = np.zeros((0, len(wfa))), wfa.ends[None], 0
    while len(new := new[new.any(axis=1)]):
        known, length = len(basis), length + 1
        basis, _ = _extend(basis, new / np.linalg.norm(new, axis=1, keepdims=True))
        new = (basis[known:] @ wfa.matrices.transpose(0, 2, 1)).reshape(-1, len(wfa))
    return length


def shortest_difference(
    first: WFA | PDFA, second: WFA | PDFA, *, tolerance: float = 1e-9
) -> tuple[Symbol, ...] | None:
    """Return a shortest word on which two functions differ; None if there is none.

    Parameters
    ----------
    first, second : WFA or PDFA
        The automata, over the same symbols.
    tolerance : float
        Values differ if they do by more than this share of the terms that they are sums of; of
        very unlikely words, of a millionth of the terms of the likeliest, as errors do not shrink
        as fast as they.

    Notes
    -----
    Tzeng's method (1992), breadth first: of the words of each length, only those are extended
    whose forward vectors are not in the span of earlier ones, at most as many as both have states.
    Vectors are scaled to size 1, and chosen by QR with column pivoting.

    Examples
    --------
    >>> one = WFA("ab", initial=[1], matrices=[[[0.25]], [[0.25]]], ends=[0.5])
    >>> other = WFA("ab", initial=[1], matrices=[[[0.25]], [[0.3]]], ends=[0.45])
    >>> shortest_difference(one, other), shortest_difference(one, one) is None
    ((), True)
    """
    check_number(tolerance, "tolerance", 0, 1)
    wfa = subtract(as_wfa(first, "first"), as_wfa(second, "second"))
    basis = np.zeros((0, len(wfa)))
    words: list[tuple[int, ...]] = [()]
    vectors, scales, least = wfa.initial[None], np.ones(1), FLOOR * most_terms(wfa)
    while len(vectors):
        sizes = np.abs(vectors).sum(axis=1)
        alive = sizes.nonzero()[0]
        vectors = vectors[alive] / sizes[alive, None]
        with np.errstate(over="ignore"):  # values may grow beyond all bounds
            scales = scales[alive] * sizes[alive]
        words = [words[place] for place in alive]
        terms = np.maximum(np.abs(vectors) @ np.abs(wfa.ends), least / np.maximum(scales, 1e-300))
        excess = np.abs(vectors @ wfa.ends) - tolerance * terms
        if (excess > 0).any():
            return wfa.alphabet.decode(words[int((excess / terms).argmax())])
        basis, kept = _extend(basis, vectors)
        words = [(*words[place], symbol) for symbol in range(len(wfa.alphabet)) for place in kept]
        vectors = (vectors[kept] @ wfa.matrices).reshape(-1, len(wfa))
        scales = np.tile(scales[kept], len(wfa.alphabet))
    return None


def most_terms(wfa: WFA) -> float:
    """Return the largest that the terms of the empty word could be, with ends in any state."""
    return float(np.abs(wfa.initial).sum() * np.abs(wfa.ends).max())


def _extend(basis: Floats, vectors: Floats) -> tuple[Floats, list[int]]:
    """Add what vectors span beside an orthonormal basis; return which of them were needed."""
    rest = _beside(basis, vectors)
    if not len(rest) or len(basis) == basis.shape[1]:
        return basis, []
    directions, triangle, order = qr(rest.T, mode="economic", pivoting=True)
    count = min(int((np.abs(np.diag(triangle)) > _CLEAR).sum()), basis.shape[1] - len(basis))
    # A weak direction is not quite orthogonal to the basis: without this it would come back.
    new = _beside(basis, np.asarray(directions.T[:count], np.float64))
    new = np.asarray(np.linalg.qr(new.T)[0], np.float64).T
    return np.vstack((basis, new)), sorted(order[:count].tolist())


def _beside(basis: Floats, vectors: Floats) -> Floats:
    """Return what vectors have beside an orthonormal basis."""
    for _ in range(2):  # once more for what rounding has left
        vectors = vectors - (vectors @ basis.T) @ basis
    return vectors


def minimise_wfa(wfa: WFA | PDFA) -> WFA:
    """Return the automaton of fewest states with the same values: as many as the Hankel rank.

    Raises
    ------
    RankError
        If a direction of the forward or backward vectors is too weak to be told from rounding.

    Notes
    -----
    Schützenberger's method with orthonormal bases: the space that forward vectors span is found
    by multiplying a basis, and not vectors of words, with the matrices, until it does not grow;
    then the same is done backwards.

    Examples
    --------
    >>> same = WFA("a", initial=[0.5, 0.5], matrices=[[[0.5, 0], [0, 0.5]]], ends=[0.5, 0.5])
    >>> minimise_wfa(same)
    WFA(1 state, alphabet=('a',))
    """
    wfa = as_wfa(wfa, "wfa")
    initial, matrices, ends = wfa.initial, wfa.matrices, wfa.ends
    for _ in range(2):
        basis = _invariant_space(initial, matrices)
        # The next time around everything is the other way, as the backward vectors are those
        # of the transposed automaton.
        initial, ends = basis @ ends, basis @ initial
        matrices = (basis @ matrices @ basis.T).transpose(0, 2, 1)
    return WFA(wfa.alphabet, initial=initial, matrices=matrices, ends=ends)


def _invariant_space(vector: Floats, matrices: Floats) -> Floats:
    """Return an orthonormal basis of what a vector and all its products with matrices span."""
    size = float(np.linalg.norm(vector))
    if not size:
        return np.zeros((1, len(vector)))
    norm = max(float(np.abs(matrices).max()), 1e-300)
    basis = new = vector[None] / size
    while len(new):
        rest = _beside(basis, (new @ (matrices / norm)).reshape(-1, len(vector)))
        _, strengths, directions = np.linalg.svd(rest, full_matrices=False)
        if ((strengths > _ROUNDING * len(vector)) & (strengths <= _CLEAR)).any():
            weakest = strengths[strengths > _ROUNDING * len(vector)].min()
            raise RankError(
                f"the rank cannot be decided: a direction of strength {weakest:.3g} is neither "
                f"clearly there, above {_CLEAR:g}, nor rounding"
            )
        new = directions[strengths > _CLEAR]
        basis = np.vstack((basis, new))
    return basis


def wfa_to_pdfa(
    wfa: WFA | PDFA, *, tolerance: float = 1e-6, max_states: int = 1000
) -> ConvertedPDFA:
    """Make a PDFA with the values of a weighted automaton, if there is one.

    Parameters
    ----------
    wfa : WFA
        The automaton; its values have to be probabilities of words.
    tolerance : float
        Words lead to the same state if their forward vectors, divided by the probability of the
        prefix, differ by no more than this in any coordinate of the minimal automaton.
    max_states : int
        Most automata are not deterministic with any number of states: this many are tried.

    Raises
    ------
    InputError
        If values are not probabilities, or there would be more states.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> found = wfa_to_pdfa(figure_3())
    >>> found.pdfa, found.residual < 1e-12
    (PDFA(4 states, alphabet=('0', '1'), initial=0), True)
    """
    check_number(tolerance, "tolerance", 0, 1)
    check_integer(max_states, "max_states", 1)
    small = minimise_wfa(wfa)
    if abs(small.total - 1) > SUM_TOLERANCE:
        raise InputError(f"the values of all words sum to {small.total:.9g}, not to 1")
    weights, width = small.prefix_weights, len(small.alphabet)
    states = small.initial[None] / (small.initial @ weights)
    rows: list[Floats] = []
    transitions: list[list[int]] = []
    while len(rows) < len(states):
        row = small.make_rows(states[len(rows)][None])[0][0]
        if (row < 0).any():
            raise InputError(
                f"the value {row.min():.3g} times that of its prefix is negative: the values are "
                "not probabilities of words"
            )
        successors = [-1] * width
        for symbol in row[1:].nonzero()[0].tolist():
            vector = states[len(rows)] @ small.matrices[symbol] / row[symbol + 1]
            near = np.abs(states - vector).max(axis=1)
            if near.min() > tolerance:
                states = np.vstack((states, vector))
                near = np.append(near, 0.0)
            successors[symbol] = int(near.argmin())
        if len(states) > max_states:
            raise InputError(
                f"there is no PDFA of {max_states:,} states; it is a LanguageModel, and distill "
                "finds the best PDFA of each size"
            )
        rows.append(row / row.sum())
        transitions.append(successors)
    pdfa = PDFA(alphabet=small.alphabet, transitions=transitions, probabilities=np.array(rows))
    return ConvertedPDFA(pdfa, l2_distance(wfa, pdfa))
