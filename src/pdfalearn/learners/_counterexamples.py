"""Where counterexamples break a hypothesis (Rivest and Schapire 1993, for any classes)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models import FEW
from pdfalearn.observations import ObservationTree
from pdfalearn.typing import Integers
from pdfalearn.words import Words, prefixes_of

_LONG = 24
"""From this length on, what follows in a counterexample is walked along word by word."""


class Breaks(NamedTuple):
    """Where counterexamples show that transitions lead to the wrong states."""

    befores: Integers
    """The states that the transitions leave."""
    symbols: Integers
    afters: Integers
    """The states that they lead to, and should not."""
    words: Integers
    """The counterexamples."""
    places: Integers
    """The rest of the word from here tells the state after from the state that it should be."""

    def first_of_each_after(self, most: int) -> Breaks:
        """Return the first break after each state, for at most this many states."""
        _, firsts = np.unique(self.afters, return_index=True)
        return self.at(np.sort(firsts)[:most])

    def at(self, chosen: Integers) -> Breaks:
        """Return the breaks at some places."""
        return Breaks(*(part[chosen] for part in self))


class Runs(NamedTuple):
    """The hypothesis's states along words: each has one more than symbols, -1 where undefined."""

    states: NDArray[np.int32]
    begins: Integers
    ends: Integers
    """Where each run begins, and where its last state stands."""

    @classmethod
    def of(cls, states: NDArray[np.int32], words: Words) -> Runs:
        """Take states in the layout that `visited_states` returns."""
        return cls(states, words.offsets[:-1] + np.arange(len(words)), words.ends)


class Counterexamples:
    """Words after which the model and a hypothesis differ.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    words : Words
        The words.
    """

    def __init__(self, observations: ObservationTree, words: Words) -> None:
        self.words = words
        self._observations = observations
        self._path = observations.path(words)
        self.truths = observations.asked_classes(self._path[words.ends])
        """The model's class after each word."""
        self._last_places = np.zeros(len(words), dtype=np.int64)
        self._last_states = np.zeros(len(words), dtype=np.int64)
        """Where each broke the last time, and the hypothesis's state there."""

    def __len__(self) -> int:
        return len(self.words)

    def at(self, places: Integers) -> Words:
        """Return the words at some places."""
        return prefixes_of(self.words, places, self.words.lengths[places])

    def breaks(self, chosen: Integers, runs: Runs, access: Integers) -> Breaks:
        """Find a break in each of the chosen words, after which the hypothesis is wrong.

        α(i) is the class after access(run[i])·γ[i:]. α(0) is the truth, and α(|γ|) what the
        hypothesis says; where the run is undefined, so is α. The search keeps α(low) the truth and
        α(high) not. It begins at the last break of the same word, in growing steps, as the next one
        is often near.
        """
        states, begins = runs.states, runs.begins
        defined = np.add.reduceat(states >= 0, begins, dtype=np.int64)
        highs = np.minimum(defined, runs.ends - begins)
        lows = self._last_places[chosen]
        lows = np.where(states[begins + lows] == self._last_states[chosen], lows, 0)
        steps = np.minimum(lows, 1)
        # As long as prefixes are access words themselves, α is the truth without asking.
        path = self._path[_whole(self.words, chosen)]
        parts = np.append((access[states] != path).nonzero()[0], len(states))
        parting = parts[np.searchsorted(parts, begins + lows + 1)] - begins
        lows = np.maximum(lows, np.minimum(parting, highs) - 1)
        while len(active := (highs - lows > 1).nonzero()[0]):
            low, high, step = lows[active], highs[active], steps[active]
            middle = np.where((step > 0) & (low + step < high), low + step, (low + high) // 2)
            starts = access[states[begins[active] + middle]]
            is_truth = self._classes(chosen[active], starts, middle) == self.truths[chosen[active]]
            lows[active] = np.where(is_truth, middle, low)
            highs[active] = np.where(is_truth, high, middle)
            steps[active] = np.where(is_truth, 2 * step, 0)
        befores, afters = states[begins + lows], states[begins + lows + 1]
        self._last_places[chosen], self._last_states[chosen] = lows, befores
        symbols = self.words.symbols[self.words.offsets[chosen] + lows]
        found = (befores, symbols, afters, chosen, lows)
        return Breaks(*(part.astype(np.int64) for part in found))

    def _classes(self, chosen: Integers, starts: Integers, places: Integers) -> Integers:
        """Ask for the rests of words from some places on, each after another word."""
        observations, words = self._observations, self.words
        here, ends = words.offsets[chosen] + places, words.offsets[chosen + 1]
        if len(chosen) < FEW or (ends - here >= _LONG).any():
            parts = zip(starts.tolist(), here.tolist(), ends.tolist(), strict=True)
            nodes = [
                observations.node(words.symbols[begin:end].tolist(), start)
                for start, begin, end in parts
            ]
            return observations.asked_classes(np.array(nodes, dtype=np.int64))
        ends_at = starts.copy()
        active = (here < ends).nonzero()[0]
        while len(active):
            ends_at[active] = observations.nodes.step(ends_at[active], words.symbols[here[active]])
            here[active] += 1
            active = active[here[active] < ends[active]]
        return observations.asked_classes(ends_at)

    def suffix(self, word: int, place: int) -> int:
        """Return the number of what follows the symbol at a place of a word."""
        begin, end = self.words.offsets[word : word + 2].tolist()
        codes = self.words.symbols[begin + place + 1 : end].tolist()
        return self._observations.suffixes.add_word(codes)


def _whole(words: Words, chosen: Integers) -> Integers:
    """Where the entries of words stand, when every word has one more than symbols."""
    lengths = words.lengths[chosen] + 1
    ends = np.cumsum(lengths)
    shifts: Integers = words.offsets[chosen] + chosen - (ends - lengths)
    return np.arange(int(ends[-1])) + np.repeat(shifts, lengths)
