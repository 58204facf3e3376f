"""WL* (Weiss, Goldberg and Yahav 2019), after its authors' released program."""

from __future__ import annotations

import time
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np

from pdfalearn.budgets import BudgetReached
from pdfalearn.checks import check_integer, check_number
from pdfalearn.equivalence import check_tolerance
from pdfalearn.errors import LearningError
from pdfalearn.learners._clusters import NOT_IN_P, WeissClusters, cluster_means
from pdfalearn.learners.table_learner import TableLearner
from pdfalearn.observations import UNDEFINED, ObservationTree
from pdfalearn.typing import Flags, Integers
from pdfalearn.words import Words

# At most this many counterexamples in a row may add neither a new row nor a suffix.
_PATIENCE = 50


class WLStar(TableLearner):
    """Learns from the most probable prefixes, and joins similar ones by clustering.

    The prefixes P begin with the empty word. Continuations are looked at in the order of their
    probability; one joins P if no row of P is similar. Where rows of P are similar and those of
    their successors are not, a suffix that tells them apart is added. Where the limits leave
    something out, the best match takes its place.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask; its relation has to be a `Tolerance`.
    max_prefixes, max_suffixes, max_states : int, optional
        Where to stop: the most prefixes in P, suffixes, or states of a hypothesis.
    max_seconds : float, optional
        The time after which the table is not expanded any more.
    prefix_threshold : float
        A continuation whose last symbol is less probable does not join P.
    suffix_threshold : float
        A suffix that is less probable after one of the two prefixes it tells apart is not added.

    Notes
    -----
    Weiss, Goldberg and Yahav (2019), *Learning Deterministic Weighted Automata with Queries and
    Counterexamples*. Reaching a limit is not an error: the certificate says which it was.
    Its parameters are chosen by ``learn(…, learner=lambda tree: WLStar(tree, max_states=100))``.

    Examples
    --------
    >>> from pdfalearn import Tolerance, learn
    >>> from pdfalearn.datasets import tomita
    >>> made = lambda tree: WLStar(tree, max_states=100)
    >>> len(learn(tomita(5), learner=made, equivalence=Tolerance(0.1)).pdfa)
    4
    """

    name = "WL*"

    def __init__(
        self,
        observations: ObservationTree,
        *,
        max_prefixes: int | None = None,
        max_suffixes: int | None = None,
        max_states: int | None = None,
        max_seconds: float | None = None,
        prefix_threshold: float = 0.0,
        suffix_threshold: float = 0.0,
    ) -> None:
        check_tolerance(observations.equivalence)
        super().__init__(observations)
        self._max_prefixes = _check_limit(max_prefixes, "max_prefixes")
        self._max_suffixes = _check_limit(max_suffixes, "max_suffixes")
        self._max_states = _check_limit(max_states, "max_states")
        seconds = np.inf if max_seconds is None else max_seconds
        self._max_seconds = check_number(seconds, "max_seconds", 0, np.inf)
        self._prefix_threshold = check_number(prefix_threshold, "prefix_threshold", 0, 1)
        self._suffix_threshold = check_number(suffix_threshold, "suffix_threshold", 0, 1)
        self._begun = time.monotonic()
        # P, as places in the table.
        self._p = np.empty(0, dtype=np.int64)
        # The probability of every prefix in P or queued, by its place.
        self._weights = {0: 1.0}
        # Up to which suffix two prefixes need not be compared any more.
        self._ignored: dict[tuple[int, int], int] = {}
        self._progress = 0, 0
        # How many counterexamples in a row have added neither a new row nor a suffix.
        self._fruitless = 0

    def _begin(self) -> None:
        self._begun = time.monotonic()
        self._p = np.zeros(1, dtype=np.int64)
        self._expand()
        self._build()

    def refine(self, counterexamples: Words) -> None:
        """Let the first counterexample and all its prefixes join P, and expand again."""
        end = int(self._check_counterexamples(counterexamples)[0])
        self._check_limits()
        path = self._add_path(end)
        for parent, child in pairwise(path.tolist()):
            self._weights[child] = self._weights[parent] * self._last_probability(child)
        self._p = np.append(self._p, np.setdiff1d(path, self._p))
        self._expand()
        self._build()
        self._check_progress()

    def _check_progress(self) -> None:
        """Raise an error if learning makes no progress."""
        progress = len(np.unique(self.table.numbers()[self._p])), self.table.width
        self._fruitless = self._fruitless + 1 if progress == self._progress else 0
        self._progress = progress
        if self._fruitless >= _PATIENCE:
            raise LearningError(
                f"{self.name} goes round in circles: {_PATIENCE} counterexamples in a row have "
                "added neither a new row nor a suffix, as similarity within "
                f"t={self.equivalence.tolerance:g} is not transitive; try a smaller tolerance, "
                "or QuaNT"
            )

    def _check_limits(self) -> None:
        """Stop where the authors' program would not have asked for a counterexample."""
        for name, have, limit in (
            ("max_prefixes", len(self._p), self._max_prefixes),
            ("max_suffixes", self.table.width, self._max_suffixes),
            ("max_states", self.size, self._max_states),
            ("max_seconds", self._seconds(), self._max_seconds),
        ):
            if have >= limit:
                raise BudgetReached(name, limit)

    def _expand(self) -> None:
        """Look at prefixes until there is no new one and no new suffix, or a limit is reached."""
        while (suffix := self._expand_until_apart()) is not None:
            self.table.add_suffixes([suffix])

    def _expand_until_apart(self) -> tuple[int, int] | None:
        """Let prefixes join P, the most probable first, until a suffix is found to be missing."""
        queue = [(-self._weights[place], place) for place in self._p.tolist()]
        heapify(queue)
        queued = set(self._p.tolist())
        is_in_p = set(queued)
        while queue and len(self._p) < self._max_prefixes and self._seconds() < self._max_seconds:
            _, place = heappop(queue)
            if place not in is_in_p:
                # A prefix joins P if its row is its own and it is probable enough after its parent.
                is_likely = self._last_probability(place) >= self._prefix_threshold
                if len(self._similar_to(place)) or not is_likely:
                    continue
                self._p = np.append(self._p, place)
                is_in_p.add(place)
            for child in self.table.successors(np.array([place]))[0].tolist():
                if child != UNDEFINED and child not in queued:
                    self._weights[child] = self._weights[place] * self._last_probability(child)
                    heappush(queue, (-self._weights[child], child))
                    queued.add(child)
            if self.table.width < self._max_suffixes and len(self._p) < self._max_prefixes:
                suffix = self._separating_suffix(place)
                if suffix is not None:
                    return suffix
        return None

    def _seconds(self) -> float:
        return time.monotonic() - self._begun

    def _last_probability(self, place: int) -> float:
        """Return the probability of a prefix's last symbol, after the rest of it."""
        node = self.table.nodes[place : place + 1]
        row = self.observations.rows(self.observations.nodes.parents[node])[0]
        return float(row[int(self.observations.nodes.last_symbols[node][0]) + 1])

    def _similar_to(self, place: int) -> Integers:
        """Return the prefixes in P whose rows are similar to that of a prefix."""
        rows = self.table.rows
        found: Integers = self._p[self.equivalence.similar(rows[self._p], rows[place])]
        return found

    def _separating_suffix(self, place: int) -> tuple[int, int] | None:
        """Find a suffix that tells a prefix from one with a similar row and other successors.

        The most probable such prefix comes first. Of all suffixes that tell it apart, it is the one
        whose smaller probability after the two prefixes is the largest.
        """
        similar = self._similar_to(place)
        similar = similar[similar != place]
        weights = np.array([self._weights[other] for other in similar.tolist()])
        similar = similar[np.argsort(-weights, kind="stable")]
        successors, rows = self.table.successors(np.append(place, similar)), self.table.rows
        apart = np.abs(rows[successors[1:]] - rows[successors[0]]) > self.equivalence.limit
        for other in np.flatnonzero(apart.any(axis=(1, 2))).tolist():
            suffix = self._best_suffix((place, int(similar[other])), apart[other])
            if suffix is not None:
                return suffix
        return None

    def _best_suffix(self, pair: tuple[int, int], apart: Flags) -> tuple[int, int] | None:
        """Choose a symbol and a suffix after which two prefixes differ, unless it is improbable."""
        pair = min(pair), max(pair)
        seen = self._ignored.get(pair, 0)
        symbols, suffixes = apart[:, seen:].nonzero()
        if not len(symbols):
            return None
        suffixes += seen
        probabilities = np.minimum(
            *(self.table.suffix_probabilities(place, symbols, suffixes) for place in pair)
        )
        best = int(probabilities.argmax())
        if probabilities[best] >= self._suffix_threshold:
            return int(symbols[best]), int(suffixes[best])
        self._ignored[pair] = self.table.width
        return None

    def _build(self) -> None:
        """Propose a hypothesis: its states are clusters of the prefixes in P."""
        successors = self.table.successors(self._p)
        in_p = np.full(len(self.table) + 1, NOT_IN_P)
        in_p[self._p] = np.arange(len(self._p))
        rows = self.table.rows
        clusters = WeissClusters(rows[self._p], in_p[successors], self.equivalence)
        weights = np.array([self._weights[place] for place in self._p.tolist()])
        transitions, is_forced = clusters.transitions(successors, rows, weights)
        self._propose(
            transitions,
            probabilities=cluster_means(self.table.distributions[self._p], clusters.of),
            access=self.table.nodes[self._p[clusters.first_members()]],
            unresolved=np.flatnonzero(is_forced),
        )


def _check_limit(limit: int | None, name: str) -> float:
    return np.inf if limit is None else check_integer(limit, name, 1)
