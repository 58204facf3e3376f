"""Where counterexamples break a hypothesis (Rivest and Schapire 1993, for any classes)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdfalearn.models import FEW
from pdfalearn.observations import ObservationTree
from pdfalearn.typing import Codes, Integers
from pdfalearn.words import Words

# From this length on, what follows in a counterexample is walked along word by word.
_LONG = 24


class Breaks(NamedTuple):
    """Where counterexamples show that transitions lead to the wrong states."""

    # The states that the transitions leave.
    befores: Integers
    symbols: Integers
    # The states that they lead to, and should not.
    afters: Integers
    # The numbers of the counterexamples.
    examples: Integers
    # The rest of the word from here tells the state after from the state that it should be.
    positions: Integers


class Counterexamples:
    """Words after which the model and a hypothesis differ."""

    def __init__(self, observations: ObservationTree, words: Words) -> None:
        self.words = words
        self._observations = observations
        self._path = observations.path(words)
        # The model's class after each word.
        self.truths = observations.asked_classes(self._path[words.ends])
        # Where each broke the last time, and the hypothesis's state there.
        self._last_places, self._last_states = np.zeros((2, len(words)), dtype=np.int64)

    def breaks(self, chosen: Integers, states: Codes, access: Integers) -> Breaks:
        """Find a break in each of the chosen words, after which the hypothesis is wrong.

        ``states`` are the hypothesis's, as `visited_states` returns them. α(i) is the class after
        access(run[i])·γ[i:]. α(0) is the truth, and α(|γ|) what the hypothesis says; where the run
        is undefined, so is α. The search keeps α(low) the truth and α(high) not. It begins at the
        last break of the same word, in growing steps, as the next one is often near.
        """
        lengths = self.words.lengths[chosen]
        begins = np.cumsum(lengths + 1) - lengths - 1
        defined = np.add.reduceat(states >= 0, begins, dtype=np.int64)
        highs = np.minimum(defined, lengths)
        lows = self._last_places[chosen]
        lows = np.where(states[begins + lows] == self._last_states[chosen], lows, 0)
        steps = np.minimum(lows, 1)
        # As long as prefixes are access words themselves, α is the truth without asking.
        shifts = self.words.offsets[chosen] + chosen - begins
        path = self._path[np.arange(len(states)) + np.repeat(shifts, lengths + 1)]
        parts = np.append((access[states] != path).nonzero()[0], len(states))
        parting = parts[np.searchsorted(parts, begins + lows + 1)] - begins
        lows = np.maximum(lows, np.minimum(parting, highs) - 1)
        while len(active := (highs - lows > 1).nonzero()[0]):
            low, high, step = (each[active] for each in (lows, highs, steps))
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
            codes = words.symbols
            nodes = [
                observations.node(codes[begin:end].tolist(), start) for start, begin, end in parts
            ]
            return observations.asked_classes(np.array(nodes, dtype=np.int64))
        # Many short rests, as of targets with few distributions: these are learnt 7% faster so.
        ends_at, active = starts.copy(), (here < ends).nonzero()[0]
        while len(active):
            ends_at[active] = observations.nodes.step(ends_at[active], words.symbols[here[active]])
            here[active] += 1
            active = active[here[active] < ends[active]]
        return observations.asked_classes(ends_at)

    def suffix(self, word: int, place: int) -> int:
        """Return the number of what follows the symbol at a place of a word."""
        return self._observations.suffixes.add_word(self.words[word][place + 1 :])
