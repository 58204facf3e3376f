"""Transitions in the order of how likely their words are, where a budget may end the run."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import grown
from pdfalearn.learners.classification_tree import UNDEFINED_LEAF
from pdfalearn.observations import ObservationTree
from pdfalearn.typing import Floats, Integers

# Words wait in queues, this many for each factor of two in their probability.
_A_BIT = 2
# The queue of impossible words, and of those that may not be asked.
_LAST = 2**20
# Tables of probabilities have at most this many numbers.
_AT_ONCE = 2**20


class LikelyFirst:
    """States and transitions that wait, the likeliest words first.

    A state waits until its access word's turn comes; only then its transitions are looked at, each
    of which waits for its own word's turn. So states that are unlikely cost nothing.
    """

    def __init__(self, observations: ObservationTree) -> None:
        self._observations = observations
        self._symbols = len(observations.alphabet)
        # The logarithm of the probability of every state's access word, to the base 2.
        self._logs = np.zeros(1)
        # Transitions as state * symbols + symbol, and states as -1 - state, by their turn.
        self._queues: dict[int, deque[Integers]] = {}
        self._turns: list[int] = []

    def note_states(self, first: int, places: Integers, access: Integers) -> None:
        """Note the transitions by which the states from a first one on were discovered."""
        size = first + len(places)
        self._logs = grown(self._logs, size)
        self._logs[first:size] = self._word_logs(places, access)

    def _word_logs(self, places: Integers, access: Integers) -> Floats:
        """Return the logarithms of the probabilities of transitions' words."""
        befores, symbols = np.divmod(places, self._symbols)
        logs = self._logs[befores]
        for part in self._parts(len(places)):
            rows = self._observations.rows(access[befores[part]])
            with np.errstate(divide="ignore"):
                logs[part] += np.log2(rows[np.arange(len(rows)), symbols[part] + 1])
        return logs

    def _parts(self, count: int) -> list[slice]:
        size = max(1, _AT_ONCE // (self._symbols + 1))
        return [slice(begin, begin + size) for begin in range(0, count, size)]

    def add_states(self, first: int, stop: int) -> None:
        """Let states wait, with all of their transitions."""
        self._add(-1 - np.arange(first, stop), self._logs[first:stop])

    def add_transitions(self, places: Integers, access: Integers) -> None:
        """Let some transitions wait."""
        self._add(places, self._word_logs(places, access))

    def _add(self, entries: Integers, logs: Floats) -> None:
        """Put entries into their queues, in the order of their probabilities."""
        if not len(entries):
            return
        order = np.argsort(-logs, kind="stable")
        turns = np.minimum(-_A_BIT * logs[order], _LAST).astype(np.int64)
        begins = np.flatnonzero(np.diff(turns, prepend=-1))
        for turn, part in zip(
            turns[begins].tolist(), np.split(entries[order], begins[1:]), strict=True
        ):
            if turn not in self._queues:
                self._queues[turn] = deque()
                heapq.heappush(self._turns, turn)
            self._queues[turn].append(part.copy())

    def take(self, count: int, access: Integers, targets: NDArray[Any]) -> Integers:
        """Return the next transitions, at most this many.

        Those that turn out to be impossible are noted in ``targets``, where transitions lead.
        """
        taken = [np.empty(0, dtype=np.int64)]
        while count > 0 and self._turns:
            queue = self._queues[self._turns[0]]
            entries = queue.popleft()  # all are states, or none is
            if len(entries) > count:
                queue.appendleft(entries[count:])
                entries = entries[:count]
            elif not queue:
                del self._queues[heapq.heappop(self._turns)]
            if entries[0] < 0:
                self._open(-1 - entries, access, targets)
            else:
                taken.append(entries)
                count -= len(entries)
        return np.concatenate(taken)

    def _open(self, states: Integers, access: Integers, targets: NDArray[Any]) -> None:
        """Let the transitions of states wait."""
        for part in self._parts(len(states)):
            here = states[part]
            places, logs = self._observations.successor_logs(access[here])
            befores, symbols = np.divmod(places, self._symbols)
            if len(places) < len(here) * self._symbols:
                impossible = np.ones((len(here), self._symbols), dtype=bool)
                impossible[befores, symbols] = False
                rows, columns = impossible.nonzero()
                targets[here[rows] * self._symbols + columns] = UNDEFINED_LEAF
            logs += self._logs[here[befores]]
            longest = self._observations.budget.max_word_length
            if longest is not None:
                logs[self._observations.nodes.lengths[access[here[befores]]] >= longest] = -np.inf
            self._add(here[befores] * self._symbols + symbols, logs)
