"""Automata that know the last symbols of a word: a start for models that forget."""

from __future__ import annotations

import heapq
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.distilling.evidence import Evidence, Table
from pdfalearn.distilling.machines import Machine, take_states
from pdfalearn.typing import Floats, Integers

# Contexts have at most this many symbols, and the mark of the beginning.
_LONGEST = 10
# A context's row is drawn to the row one symbol shorter as if this many words had shown it.
_PRIOR_WEIGHT = 0.2


class _Level(NamedTuple):
    """Contexts of one length; numbers are those among all contexts."""

    # The context of every node, counted from the first of this length; -1 if it has none.
    of_nodes: Integers
    # Of each context, the one without its first symbol.
    parents: Integers
    # Of each, the one without its last symbol; -1 for the mark of the beginning.
    prefixes: Integers
    last_symbols: Integers
    # What the answers gain in nats by the means of these contexts over those one shorter.
    gains: Floats


class Contexts:
    """The last symbols of words, with a mark for the beginning, the ``most`` useful ones first."""

    def __init__(self, evidence: Evidence, most: int) -> None:
        self._evidence = evidence
        self._levels = _collect_levels(evidence)
        self._parents = np.concatenate([level.parents for level in self._levels])
        self._prefixes = np.concatenate([level.prefixes for level in self._levels])
        self._last_symbols = np.concatenate([level.last_symbols for level in self._levels])
        gains = np.concatenate([level.gains for level in self._levels])
        self._order = _choose_best_first(self._parents, self._prefixes, gains, most)
        # Those that were chosen, shorter ones first, and where each length begins among all.
        self._chosen = np.sort(self._order)
        self._begins = np.cumsum([0, *(len(level.parents) for level in self._levels)])
        self._rows_by_weight: dict[float, Floats] = {}

    def __len__(self) -> int:
        return len(self._order)

    def machine(self, most: int, prior_weight: float = _PRIOR_WEIGHT) -> Machine:
        """Return the automaton of the most useful contexts, each with the mean of its answers.

        A transition leads to the longest suffix of context and symbol that is a context, so that
        unseen ones lead somewhere sensible too. Rows are drawn to those of contexts one shorter as
        if ``prior_weight`` words had shown them.
        """
        chosen = np.sort(self._order[:most])
        numbers = np.full(len(self._parents) + 1, -1)
        numbers[chosen] = np.arange(len(chosen))
        parents, prefixes = numbers[self._parents[chosen]], numbers[self._prefixes[chosen]]
        lasts = self._last_symbols[chosen]
        transitions = np.zeros((len(chosen), self._evidence.width), dtype=np.int32)
        for begin, end in pairwise(np.searchsorted(chosen, self._begins).tolist()):
            # A context goes on as its suffix does, unless a longer context goes on from it.
            if begin:
                transitions[begin:end] = transitions[parents[begin:end]]
            longer = ((prefixes >= begin) & (prefixes < end)).nonzero()[0]
            transitions[prefixes[longer], lasts[longer]] = longer
        none, rows = np.empty((len(chosen), 0)), self.rows(most, prior_weight, slice(None))
        moved = take_states(Machine(transitions, none, none), self._put_mark_first(chosen))
        return Machine(moved.transitions, rows, rows)

    def rows(self, most: int, prior_weight: float, states: Integers | slice) -> Floats:
        """Return the rows of some states of the automaton of the most useful contexts."""
        chosen = np.sort(self._order[:most])
        places = np.searchsorted(self._chosen, chosen[self._put_mark_first(chosen)][states])
        return np.asarray(self._all_rows(prior_weight)[places])

    def _put_mark_first(self, chosen: Integers) -> Integers:
        """Return the order of states: first the mark of the beginning, the second one chosen."""
        first = int(np.searchsorted(chosen, self._order[1])) if len(chosen) > 1 else 0
        return np.concatenate(([first], np.delete(np.arange(len(chosen)), first)))

    def _all_rows(self, prior_weight: float) -> Floats:
        """Return the means of answers in all chosen contexts, drawn to contexts one shorter."""
        if prior_weight not in self._rows_by_weight:
            sums, weights = self._sums
            parents = np.searchsorted(self._chosen, self._parents[self._chosen])
            rows = sums / weights[:, None]
            for begin, end in pairwise(np.searchsorted(self._chosen, self._begins).tolist()):
                if begin:
                    shorter = prior_weight * rows[parents[begin:end]]
                    total = weights[begin:end, None] + prior_weight
                    rows[begin:end] = (sums[begin:end] + shorter) / total
            self._rows_by_weight[prior_weight] = rows
        return self._rows_by_weight[prior_weight]

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """The weighted sums of answers in all chosen contexts, and of weights."""
        parts = []
        for level, (begin, end) in zip(self._levels, pairwise(self._begins.tolist()), strict=True):
            places = slice(*np.searchsorted(self._chosen, [begin, end]).tolist())
            numbers = np.full(end - begin + 1, -1)
            count = places.stop - places.start
            numbers[self._chosen[places] - begin] = np.arange(count)
            parts.append(self._evidence.sums(numbers[level.of_nodes], count))
        sums, weights = zip(*parts, strict=True)
        return np.concatenate(sums), np.concatenate(weights)


def _collect_levels(evidence: Evidence) -> list[_Level]:
    """Collect contexts, one symbol longer in each pass."""
    none = np.full(1, -1)
    of_nodes = np.zeros(evidence.size, dtype=np.int64)
    levels = [_Level(of_nodes, none, none, none, np.zeros(1))]
    sums = evidence.sum_answers(of_nodes, 1)
    firsts = evidence.symbols.copy()
    firsts[0] = evidence.width  # the mark
    ancestors = np.arange(evidence.size)  # the node whose last symbol comes next; -1 after the mark
    begin = 0
    for _ in range(_LONGEST + 1):
        active = ((of_nodes >= 0) & (ancestors >= 0)).nonzero()[0]
        if not len(active):
            break
        keys = of_nodes[active] * (evidence.width + 1) + firsts[ancestors[active]]
        different, examples, groups = np.unique(keys, return_index=True, return_inverse=True)
        above = different // (evidence.width + 1)
        longer = np.full(evidence.size, -1)
        longer[active] = groups
        more = evidence.sum_answers(longer, len(different))
        nodes = active[examples]
        prefixes = np.where(nodes == 0, -1, of_nodes[evidence.parents[nodes]] + begin)
        lasts = np.where(nodes == 0, -1, evidence.symbols[nodes])
        gains = _compute_gains(more, sums, above)
        levels.append(_Level(longer, above + begin, prefixes, lasts, gains))
        begin += sums.shape[0]
        of_nodes, sums = longer, more
        ancestors = np.where(ancestors > 0, evidence.parents[ancestors], -1)
    return levels


def _compute_gains(sums: Table, above: Table, places: Integers) -> Floats:
    """Return Σ S·log(mean / mean one shorter) for every context, S its sums of answers."""
    weights = np.asarray(sums.sum(axis=1))
    weights_above = np.asarray(above.sum(axis=1))[places]
    if isinstance(sums, csr_array) and isinstance(above, csr_array):
        owners = np.repeat(np.arange(len(places)), np.diff(sums.indptr))
        above.sort_indices()  # so that entries are found by bisection
        before = above[places[owners], sums.indices]
        logs = np.log(sums.data / weights[owners] * weights_above[owners] / before)
        return np.bincount(owners, sums.data * logs, len(places)).astype(np.float64)
    gains = np.zeros(len(places))
    new = (weights < weights_above).nonzero()[0]  # others have the same answers
    dense, shorter = np.asarray(sums)[new], np.asarray(above)[places[new]]
    ratios = np.where(dense > 0, dense, 1.0) / np.where(dense > 0, shorter, 1.0)
    ratios *= (weights_above / weights)[new, None]
    gains[new] = (dense * np.log(ratios)).sum(axis=1)
    return gains


def _choose_best_first(parents: Integers, prefixes: Integers, gains: Floats, most: int) -> Integers:
    """Return contexts by their gains, each after its suffix and its prefix.

    The empty context comes first, then the mark of the beginning.
    """
    by_parent = np.argsort(parents, kind="stable")
    begins = np.searchsorted(parents[by_parent], np.arange(len(parents) + 1)).tolist()
    children, above, before = by_parent.tolist(), parents.tolist(), prefixes.tolist()
    costs, is_chosen, order = (-gains).tolist(), [False] * len(parents), [0]
    is_chosen[0] = True
    heap = [(costs[child], child) for child in children[begins[0] : begins[1]]]
    mark = next(child for _, child in heap if before[child] < 0)
    heap.append((-np.inf, mark))
    heapq.heapify(heap)
    while heap and len(order) < most:
        wanted = [heapq.heappop(heap)[1]]
        while wanted:
            top = wanted[-1]
            needs = [n for n in (above[top], before[top]) if n >= 0 and not is_chosen[n]]
            wanted.extend(needs)
            if needs:
                continue
            wanted.pop()
            if not is_chosen[top]:
                is_chosen[top] = True
                order.append(top)
                for child in children[begins[top] : begins[top + 1]]:
                    heapq.heappush(heap, (costs[child], child))
    return np.array(order)
