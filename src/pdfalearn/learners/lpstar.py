"""L_p* (appendix A of the paper): an observation table, and a tolerance or an equivalence."""

from __future__ import annotations

import numpy as np

from pdfalearn.alphabet import shorten
from pdfalearn.budgets import BudgetReached
from pdfalearn.equivalence import Tolerance
from pdfalearn.errors import LearningError
from pdfalearn.learners._clusters import (
    choose_apart,
    cluster_means,
    deterministic,
    greedy_clusters,
    nearest,
    similar_pairs,
)
from pdfalearn.learners.table_learner import TableLearner
from pdfalearn.observations import UNDEFINED, ObservationTree
from pdfalearn.typing import Flags, Floats, Integers
from pdfalearn.words import Words

# One pass looks for inconsistencies among at most this many differences of cells.
_MOST_DIFFERENCES = 2**22
# Stands for the member of a row that only BLUE prefixes have.
_BLUE = -2


class LPStar(TableLearner):
    """The paper's L_p*, with rows as arrays.

    RED prefixes make the states; BLUE ones are their continuations. The table is *closed* when
    every BLUE row is similar to a RED one, and *consistent* when RED rows that are similar have
    successors that are. Beyond the paper, RED rows that are equal must have equal successors: with
    it, every counterexample adds a row or a suffix, and no target with finitely many states can
    make the table go round in circles.

    With an equivalence rows are similar only if they are equal, and the cells are classes: L* for
    Moore machines. What is learnt is the quotient.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.

    Examples
    --------
    >>> from pdfalearn import Quantization, Tolerance, learn
    >>> from pdfalearn.datasets import tomita
    >>> len(learn(tomita(5), learner=LPStar, equivalence=Tolerance(0.1)).pdfa)
    4
    >>> len(learn(tomita(5), learner=LPStar, equivalence=Quantization(10)).pdfa)
    4
    """

    name = "L_p*"

    def __init__(self, observations: ObservationTree) -> None:
        super().__init__(observations)
        self._symbols = len(observations.alphabet)
        # The places of the RED prefixes, in the order in which they became it; the places of their
        # continuations; and BLUE prefixes that no RED one is known to be similar to.
        self._red = self._unmatched = np.empty(0, dtype=np.int64)
        self._successors = np.empty((0, self._symbols), dtype=np.int64)

    def _begin(self) -> None:
        self._make_red(np.zeros(1, dtype=np.int64))
        self._complete()

    def refine(self, counterexamples: Words) -> None:
        """Make the prefixes of counterexamples RED until the hypothesis agrees with all of them."""
        ends = self._check_counterexamples(counterexamples)
        wrong = np.ones(len(ends), dtype=bool)
        while wrong.any():
            first = int(wrong.argmax())
            self._make_red(self._add_path(int(ends[first])))
            self._complete()
            if self.observations.meter.states_reached:
                return
            wrong = self._are_wrong(counterexamples, ends)
            if wrong[first]:
                word = shorten(self.observations.word(int(ends[first])))
                raise LearningError(
                    f"{self.name} goes round in circles: its table is closed and consistent, but "
                    f"the hypothesis stays wrong after the word {word}, as similarity within "
                    f"t={self.equivalence.tolerance:g} is not transitive; try a smaller tolerance, "
                    "or QuaNT"
                )

    def _make_red(self, places: Integers) -> None:
        """Make prefixes RED, and their continuations BLUE if they are not RED already."""
        new = np.setdiff1d(places, self._red)
        successors = self.table.successors(new)
        self._red = np.append(self._red, new)
        self._successors = np.append(self._successors, successors, axis=0)
        unmatched = np.append(self._unmatched, successors)
        self._unmatched = np.setdiff1d(unmatched[unmatched != UNDEFINED], self._red)

    def _complete(self) -> None:
        """Make the table closed and consistent, and propose a hypothesis."""
        try:
            self._close()
            while suffixes := self._separating_suffixes():
                self.table.add_suffixes(suffixes)
                self._unmatched = np.setdiff1d(np.arange(len(self.table)), self._red)
                self._close()
        except BudgetReached:  # the table is not closed, and yet a hypothesis is wanted
            self._build()
            raise
        self._build()

    def _close(self) -> None:
        """Make BLUE prefixes RED until every BLUE row is similar to a RED one."""
        while len(self._unmatched):
            rows = self.table.rows
            matches = nearest(rows[self._red], rows[self._unmatched], self.equivalence.limit)
            self._unmatched = self._unmatched[matches < 0]
            chosen = choose_apart(rows[self._unmatched], self.equivalence)
            new = self._grant(self._unmatched[chosen])
            if not len(new):
                return
            self._make_red(new)

    def _grant(self, places: Integers) -> Integers:
        """Return the new RED prefixes that may become states under the bound on states."""
        meter = self.observations.meter
        if meter.budget.max_states is None:
            return places
        states = len(np.unique(self.table.numbers()[self._red]))
        return places[: max(0, meter.grant_states(states, len(places)))]

    def _separating_suffixes(self) -> list[tuple[int, int]]:
        """Find suffixes, a symbol and a known one each, that tell inconsistent rows apart."""
        rows, pairs, limits = self.table.rows, *self._alike()
        step = max(1, _MOST_DIFFERENCES // (self._symbols * self.table.width))
        for begin in range(0, len(pairs), step):
            lefts, rights = self._successors[pairs[begin : begin + step]].swapaxes(0, 1)
            apart = np.abs(rows[lefts] - rows[rights]) > limits[begin : begin + step, None, None]
            apart = apart.reshape(len(apart), -1)
            inconsistent = apart[apart.any(axis=1)]
            if len(inconsistent):
                return [divmod(place, self.table.width) for place in _cover(inconsistent)]
        return []

    def _alike(self) -> tuple[Integers, Floats]:
        """Return pairs of RED prefixes with similar rows whose successors' rows are not equal.

        With each pair comes the largest difference that their successors may have.
        """
        numbers = self.table.numbers()
        _, firsts, groups = np.unique(numbers[self._red], return_index=True, return_inverse=True)
        equal = np.column_stack((firsts[groups], np.arange(len(self._red))))
        similar = firsts[similar_pairs(self.table.rows[self._red[firsts]], self.equivalence)]
        limits = np.repeat((0.0, self.equivalence.limit), (len(equal), len(similar)))
        pairs = np.concatenate((equal, similar))
        successors = numbers[self._successors]
        differ = (successors[pairs[:, 0]] != successors[pairs[:, 1]]).any(axis=1)
        return pairs[differ], limits[differ]

    def _build(self) -> None:
        """Propose a hypothesis: its states are clusters of RED rows."""
        members, targets, is_lost = self._members()
        rows = self.table.rows[members]
        clusters = deterministic(targets, greedy_clusters(rows, self.equivalence))
        leads = np.sort(np.unique(clusters, return_index=True)[1])
        access = self.table.nodes[members[leads]]
        self._propose(
            transitions=np.append(clusters, UNDEFINED)[targets[leads]],
            # By an equivalence each cluster has one member.
            probabilities=cluster_means(rows[:, : self._symbols + 1], clusters)
            if isinstance(self.observations.equivalence, Tolerance)
            else self.observations.rows(access),
            access=access,
            unresolved=np.flatnonzero(is_lost[leads]),
        )

    def _members(self) -> tuple[Integers, Integers, Flags]:
        """Return the members of clusters: the first RED prefix with each row.

        With them come the members that their continuations lead to, or -1 where undefined: those
        with the same row, else the nearest. The last say where the nearest is not even similar, as
        in a table that a bound has kept from being closed.
        """
        numbers = self.table.numbers()
        red_numbers = numbers[self._red]
        firsts = np.sort(np.unique(red_numbers, return_index=True)[1])
        member_of = np.full(len(self.table) + 1, _BLUE)
        member_of[red_numbers[firsts]] = np.arange(len(firsts))
        member_of[-1] = UNDEFINED
        members, successors = self._red[firsts], self._successors[firsts]
        targets = member_of[numbers[successors]]
        is_lost = np.zeros(targets.shape, dtype=bool)
        is_blue = targets == _BLUE
        if is_blue.any():
            rows, blue_rows = self.table.rows[members], self.table.rows[successors[is_blue]]
            targets[is_blue] = (
                nearest(rows, blue_rows)
                if isinstance(self.observations.equivalence, Tolerance)
                # Numbers of classes are not near to each other: most equal cells count.
                else [(rows == row).sum(axis=1).argmax() for row in blue_rows]
            )
            is_lost[is_blue] = ~self.equivalence.similar(rows[targets[is_blue]], blue_rows)
        return members, targets, is_lost


def _cover(apart: Flags) -> list[int]:
    """Choose columns, the one that holds for most rows first, until one holds for every row."""
    chosen = []
    while len(apart):
        best = int(apart.sum(axis=0).argmax())
        chosen.append(best)
        apart = apart[~apart[:, best]]
    return chosen
