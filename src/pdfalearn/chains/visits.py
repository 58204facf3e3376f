"""Pairs of states that words drawn from a target visit, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.special import rel_entr

from pdfalearn.arrays import reaching
from pdfalearn.chains.systems import solve_system
from pdfalearn.chains.walks import MOST_PAIRS, normalise_rows, walk_pairs
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats, Integers

_STEPS = 500
"""Probability is passed on symbol by symbol for this many steps; then the rest is solved for."""
_MOST_WORK = 2**33
"""Transitions passed through before it is given up."""
_NOTHING = 2.0**-60
"""Probabilities below this count as 0."""
_MOST_CELLS = 2**20
"""Rows are compared in parts of about this many numbers."""


@dataclass(frozen=True, eq=False)
class Chain:
    """The Markov chain of pairs of states, the target's and the candidate's, that words visit.

    Pair 0 is the initial one. Only symbols that the target finds possible are followed.
    """

    target: PDFA
    candidate: PDFA
    columns: NDArray[np.int32]
    """The place of each of the target's symbols among the candidate's."""
    lefts: Integers
    rights: Integers
    """The states of every pair; -1 where the candidate is undefined."""
    sources: Integers
    symbols: Integers
    successors: Integers
    """The transitions: from which pair, with which symbol, to which pair."""

    @classmethod
    def of(cls, target: PDFA, candidate: PDFA, *, most: int | None = None) -> Chain:
        """Walk through the pairs that words reach; refuse more than ``most``."""
        columns = target.alphabet.positions_in(candidate.alphabet)
        possible = target.probabilities[:, 1:] > 0
        walk = walk_pairs(
            (target.table, target.initial),
            (candidate.table.take(columns, axis=1), candidate.initial),
            lambda lefts, _: possible[lefts],
            most=most or MOST_PAIRS,
            remedy="evaluate on drawn words instead",
        )
        return cls(target, candidate, columns, *vars(walk).values())

    def __len__(self) -> int:
        return len(self.lefts)

    @cached_property
    def target_rows(self) -> Floats:
        """The target's distribution in every pair."""
        return self.target.probabilities[self.lefts]

    @cached_property
    def candidate_rows(self) -> Floats:
        """The candidate's, its symbols in the target's order; NaN where it is undefined."""
        rows = self.candidate.probabilities[self.rights][:, [0, *self.columns + 1]]
        rows[self.rights < 0] = np.nan
        return rows

    @cached_property
    def shares(self) -> Floats:
        """The target's distributions, divided by their sums: these are 1 but for rounding."""
        return normalise_rows(self.target.probabilities)[self.lefts]

    def divergences(self) -> Floats:
        """Return the divergence of the normalised rows of every pair."""
        rows = normalise_rows(self.target.probabilities)
        others = normalise_rows(self.candidate.probabilities)[:, [0, *self.columns + 1]]
        values, part = np.empty(len(self)), max(1, _MOST_CELLS // rows.shape[1])
        for begin in range(0, len(self), part):
            places = slice(begin, begin + part)
            terms = rel_entr(rows[self.lefts[places]], others[self.rights[places]])
            values[places] = terms.sum(axis=1)
        values[self.rights < 0] = np.inf
        return np.maximum(values, 0.0)

    @property
    def start(self) -> Floats:
        """All probability in the initial pair."""
        start = np.zeros(len(self))
        start[0] = 1.0
        return start

    @cached_property
    def probabilities(self) -> Floats:
        """The probability of every transition."""
        return np.asarray(
            normalise_rows(self.target.probabilities)[self.lefts[self.sources], self.symbols + 1]
        )

    @property
    def moves(self) -> csr_array[np.float64]:
        """The matrix Pᵀ that passes probability on by one symbol."""
        return self.moves_along(np.ones(len(self.sources), dtype=bool))

    def moves_where(self, allowed: NDArray[np.bool_]) -> csr_array[np.float64]:
        """Return the same matrix without the symbols that are not allowed in a pair."""
        return self.moves_along(allowed[self.sources, self.symbols + 1])

    def moves_along(self, kept: NDArray[np.bool_]) -> csr_array[np.float64]:
        """Return the same matrix of some of the transitions only."""
        places = (self.successors[kept], self.sources[kept])
        return csr_array((self.probabilities[kept], places), shape=(len(self), len(self)))

    @cached_property
    def components(self) -> Integers:
        """The number of every pair's component that words never leave nor end in; -1 for others."""
        ending = self.target.probabilities[self.lefts, 0] > 0
        if ending.all():
            return np.full(len(self), -1)
        ones = np.ones(len(self.sources), dtype=np.int8)
        graph = csr_array((ones, (self.sources, self.successors)), shape=(len(self), len(self)))
        count, labels = connected_components(graph, connection="strong")
        closed = np.ones(count, dtype=bool)
        closed[labels[ending]] = False
        begins, ends = labels[self.sources], labels[self.successors]
        closed[begins[begins != ends]] = False
        numbers = np.where(closed, np.cumsum(closed) - 1, -1)
        return np.asarray(numbers[labels], dtype=np.int64)

    def first_endless(self) -> int | None:
        """Return the first pair from which no word ends; None if there is none."""
        ending = self.target.probabilities[self.lefts, 0] > 0
        endless = ~reaching(self.sources, self.successors, ending)
        return int(endless.argmax()) if endless.any() else None

    def word(self, pair: int) -> list[int]:
        """Return a shortest word that leads to a pair, as the codes of its symbols."""
        # Transitions stand in the order of the walk: the first into a pair is the one it came by.
        reached, firsts = np.unique(self.successors, return_index=True)
        codes = []
        while pair:
            edge = firsts[np.searchsorted(reached, pair)]
            codes.append(int(self.symbols[edge]))
            pair = int(self.sources[edge])
        return codes[::-1]


def visits_and_weights(chain: Chain) -> tuple[Floats, Floats]:
    """Return the expected visits of pairs that words leave, and all pairs' shares of positions."""
    components = chain.components
    passing = components < 0
    if passing.all():
        visits = expected_visits(chain.moves, chain.start)
        return visits, visits / visits.sum()
    inside = passing[chain.sources] & passing[chain.successors]
    visits = np.zeros(len(chain))
    if passing[0]:
        visits = expected_visits(chain.moves_along(inside), chain.start)
    return visits, _long_run(chain, chain.start + chain.moves @ visits)


def _long_run(chain: Chain, reached: Floats) -> Floats:
    """Return the share of every pair among the positions of words that never end.

    In each component these are the visits between two visits of one of its pairs.
    """
    components = chain.components
    kept = components >= 0
    entered = np.bincount(components[kept], weights=reached[kept])
    _, anchors = np.unique(np.where(kept, components, -1), return_index=True)
    anchors = anchors[-len(entered) :]
    start = np.zeros(len(chain))
    start[anchors] = 1.0
    returning = np.isin(chain.successors, anchors)
    rounds = expected_visits(chain.moves_along(kept[chain.sources] & ~returning), start)
    sizes = np.bincount(components[kept], weights=rounds[kept])
    weights = np.zeros(len(chain))
    weights[kept] = (rounds[kept] / sizes[components[kept]]) * entered[components[kept]]
    return np.asarray(weights / weights.sum())


def expected_visits(moves: csr_array[np.float64], start: Floats) -> Floats:
    """Return how often a word is expected to visit each pair: Σ movesⁱ·start over i = 0, 1, ….

    Probability is passed on symbol by symbol until it is used up. Where words are long, the rest of
    the sum is solved for: by elimination, or where there are many pairs by GMRES, as what is left
    soon takes a form that hardly changes.
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
    """Solve for the visits from a start on; None if no way reaches the accuracy."""
    visits = solve_system((eye_array(len(start)) - moves).tocsr(), start)
    if visits is None or visits.min() < -1e-9 * visits.max():
        return None
    return np.maximum(visits, 0.0)
