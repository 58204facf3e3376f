"""Pairs of states that words drawn from a target visit, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import gmres

from pdfalearn.arrays.int_map import IntMap
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_MOST_PAIRS = 4_000_000
_STEPS = 500
"""Probability is passed on symbol by symbol so often before the rest is tried to be solved for."""
_MOST_WORK = 2**33
"""Transitions passed through before it is given up."""
_NOTHING = 2.0**-60
"""So little probability is none."""
_ACCURACY = 1e-12


@dataclass(frozen=True, eq=False)
class Chain:
    """The Markov chain of pairs of states, the target's and the candidate's, that words visit.

    Pair 0 is the initial one. Only symbols that the target finds possible are followed.
    """

    target_rows: Floats
    """The target's distribution in every pair."""
    candidate_rows: Floats
    """The candidate's, its symbols in the target's order; NaN where it is undefined."""
    sources: Indices
    symbols: Indices
    successors: Indices
    """The transitions: from which pair, with which symbol, to which pair."""

    @classmethod
    def of(cls, target: PDFA, candidate: PDFA) -> Chain:
        """Walk through the pairs that words reach."""
        columns = target.alphabet.positions_in(candidate.alphabet)
        lefts, rights, edges = _walked(target, candidate, columns)
        rows = target.probabilities[lefts]
        others = candidate.probabilities[rights][:, [0, *columns + 1]]
        others[rights < 0] = np.nan
        return cls(rows, others, *edges)

    @cached_property
    def shares(self) -> Floats:
        """The target's distributions, divided by their sums: these are 1 but for rounding."""
        return np.asarray(self.target_rows / self.target_rows.sum(axis=1, keepdims=True))

    @property
    def start(self) -> Floats:
        """All probability in the initial pair."""
        start = np.zeros(len(self.target_rows))
        start[0] = 1.0
        return start

    @property
    def moves(self) -> csr_array[np.float64]:
        """The matrix Pᵀ that passes probability on by one symbol."""
        return self.moves_where(np.ones(self.target_rows.shape, dtype=bool))

    def moves_where(self, allowed: NDArray[np.bool_]) -> csr_array[np.float64]:
        """Give the same matrix without the symbols that are not allowed in a pair."""
        kept = allowed[self.sources, self.symbols + 1]
        sources, successors = self.sources[kept], self.successors[kept]
        probabilities = self.shares[sources, self.symbols[kept] + 1]
        size = len(self.target_rows)
        return csr_array((probabilities, (successors, sources)), shape=(size, size))

    def first_endless(self) -> int | None:
        """Give the first pair from which no word ends; None if there is none."""
        size = len(self.target_rows)
        ending = (self.target_rows[:, 0] > 0).nonzero()[0]
        # Backwards from one more place that leads to all pairs in which a word may end.
        begins = np.concatenate((self.successors, np.full(len(ending), size)))
        ends = np.concatenate((self.sources, ending))
        ones = np.ones(len(begins), dtype=np.int8)
        graph = csr_array((ones, (begins, ends)), shape=(size + 1, size + 1))
        endless = np.ones(size + 1, dtype=bool)
        endless[breadth_first_order(graph, size, return_predecessors=False)] = False
        return int(endless.argmax()) if endless.any() else None

    def word(self, pair: int) -> list[int]:
        """Give a shortest word that leads to a pair, as the codes of its symbols."""
        # Transitions stand in the order of the walk: the first into a pair is the one it came by.
        reached, firsts = np.unique(self.successors, return_index=True)
        codes = []
        while pair:
            edge = firsts[np.searchsorted(reached, pair)]
            codes.append(int(self.symbols[edge]))
            pair = int(self.sources[edge])
        return codes[::-1]


def _walked(
    target: PDFA, candidate: PDFA, columns: NDArray[np.int32]
) -> tuple[Indices, Indices, list[Indices]]:
    """Give the states of all pairs, breadth first, and the transitions between pairs."""
    numbers, width = IntMap(), len(candidate) + 1
    lefts, rights = np.array([target.initial]), np.array([candidate.initial])
    numbers.get_or_add(lefts * width + rights + 1)
    pairs, edges = [(lefts, rights)], []
    while len(lefts):
        begin, known = len(numbers) - len(lefts), len(numbers)
        places, symbols = (target.probabilities[lefts, 1:] > 0).nonzero()
        lefts = target.transitions[lefts[places], symbols].astype(np.int64)
        rights = candidate.table[rights[places], columns[symbols]].astype(np.int64)
        successors = numbers.get_or_add(lefts * width + rights + 1)
        if len(numbers) > _MOST_PAIRS:
            raise InputError(
                f"words visit more than {_MOST_PAIRS:,} pairs of states of the two automata; "
                "evaluate on drawn words instead"
            )
        edges.append((begin + places, symbols, successors))
        reached, firsts = np.unique(successors, return_index=True)
        firsts = firsts[reached >= known]
        lefts, rights = lefts[firsts], rights[firsts]
        pairs.append((lefts, rights))
    all_lefts, all_rights = map(np.concatenate, zip(*pairs, strict=True))
    return all_lefts, all_rights, list(map(np.concatenate, zip(*edges, strict=True)))


def expected_visits(moves: csr_array[np.float64], start: Floats) -> Floats:
    """Give how often a word is expected to visit each pair: Σ movesⁱ·start over i = 0, 1, ….

    Probability is passed on symbol by symbol until it is used up. Where words are long, what is
    left soon takes a form that hardly changes, and a few steps of GMRES give the rest of the sum.
    """
    left, visits = start, start.copy()
    steps = _STEPS
    while steps * max(moves.nnz, 1000) <= _MOST_WORK:
        for _ in range(steps):
            left = np.asarray(moves @ left)
            visits += left
            if left.sum() <= _NOTHING:
                return visits
        rest = _rest(moves, np.asarray(moves @ left))
        if rest is not None:
            return np.asarray(visits + rest)
        steps *= 2
    raise InputError("the target's words are too long to evaluate exactly; draw words instead")


def _rest(moves: csr_array[np.float64], start: Floats) -> Floats | None:
    """Solve for the visits from a start on; None if a few steps do not reach the accuracy."""
    system = (eye_array(len(start)) - moves).tocsr()
    visits, _ = gmres(system, start, rtol=_ACCURACY / 100, atol=0.0, restart=100, maxiter=2)
    largest = np.abs(visits).max()
    accurate = np.abs(system @ visits - start).max() <= _ACCURACY * largest
    return np.maximum(visits, 0.0) if accurate and visits.min() >= -1e-9 * largest else None
