"""Do two automata compute the same function? A weaker question than ≡ (Corollary 1)."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from pdfalearn.equivalence.differences import over_union
from pdfalearn.pdfa import PDFA, check_pdfa

# Weights count as equal when their logarithms differ by no more than this.
_LOG_TOLERANCE = 1e-9

# A state of each automaton, None for weight 0, and the logarithm of their weights' ratio.
_Vector = tuple[int | None, int | None, float]


def same_function(first: PDFA, second: PDFA) -> bool:
    """Decide whether every word has the same probability in both automata: f_A = f_B.

    Parameters
    ----------
    first, second : PDFA
        The automata. A symbol that one of them does not know has probability 0 there.

    Notes
    -----
    Tzeng's method (1992): the functions are equal iff they agree on a basis of the space that the
    vectors (weights of A's states after s, weights of B's states after s) span over all words s.
    In deterministic automata each side of such a vector has at most one weight, so that only the
    ratio of the two counts, and union-find with ratios tells in near-linear time whether a vector
    is in the span of the earlier ones. Ratios are compared in floating point, within 1e-9.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_2
    >>> same_function(*figure_2())
    True
    """
    first, second = over_union(check_pdfa(first, "first"), check_pdfa(second, "second"))
    if first is second:
        return True
    # Both side by side. Where a transition is undefined its symbol has no weight to pass on.
    offset = len(first)
    rows: list[list[float]] = np.concatenate((first.probabilities, second.probabilities)).tolist()
    successors: list[list[int]] = np.concatenate(
        (first.transitions, second.transitions + offset)
    ).tolist()
    basis = _Span(len(rows))
    queue: deque[_Vector] = deque([(first.initial, second.initial + offset, 0.0)])
    while queue:
        vector = queue.popleft()
        if not basis.grows_by(vector):
            continue
        left, right, ratio = _step(vector, rows, 0)
        # The weights to end have to be equal: both 0, or of ratio 1.
        if (left is None) != (right is None) or (left is not None and abs(ratio) > _LOG_TOLERANCE):
            return False
        for symbol in range(len(first.alphabet)):
            left, right, ratio = _step(vector, rows, symbol + 1)
            left = None if left is None else successors[left][symbol]
            right = None if right is None else successors[right][symbol]
            if left is not None or right is not None:
                queue.append((left, right, ratio))
    return True


def _step(vector: _Vector, rows: list[list[float]], column: int) -> _Vector:
    """Multiply each weight with its state's probability in a column; None where that is 0."""
    left, right, ratio = vector
    left_probability = 0.0 if left is None else rows[left][column]
    right_probability = 0.0 if right is None else rows[right][column]
    if left_probability and right_probability:
        ratio += math.log(left_probability) - math.log(right_probability)
    return left if left_probability else None, right if right_probability else None, ratio


class _Span:
    """The space that vectors of two weights span.

    States joined by vectors are in one class. If all ratios around its cycles agree, the class
    spans its states but for one dimension, and ``potentials`` holds the ratios; otherwise, or once
    a state had a weight alone, it spans all of them: it is full.
    """

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))
        self._potentials = [0.0] * size
        self._full = [False] * size

    def grows_by(self, vector: _Vector) -> bool:
        """Add a vector; return whether it was outside the space so far."""
        left, right, ratio = vector
        if left is None or right is None:
            alone = left if right is None else right
            return alone is not None and self._fill(self._root(alone)[0])
        left_root, left_potential = self._root(left)
        right_root, right_potential = self._root(right)
        # What the ratio is against the one that earlier vectors imply.
        difference = ratio - left_potential + right_potential
        if left_root == right_root:
            return abs(difference) > _LOG_TOLERANCE and self._fill(left_root)
        if self._full[left_root] and self._full[right_root]:
            return False
        self._parents[left_root] = right_root
        self._potentials[left_root] = difference
        self._full[right_root] = self._full[left_root] or self._full[right_root]
        return True

    def _fill(self, root: int) -> bool:
        grows = not self._full[root]
        self._full[root] = True
        return grows

    def _root(self, state: int) -> tuple[int, float]:
        """Return the root of a state's class, and the state's potential against it."""
        path = []
        while self._parents[state] != state:
            path.append(state)
            state = self._parents[state]
        potential = 0.0
        for below in reversed(path):
            potential += self._potentials[below]
            self._parents[below], self._potentials[below] = state, potential
        return state, potential
