"""AALpy's learners on Moore machines: the state's output is its quantization vector.

The system is backed by the target's own array of transitions, with tuples as outputs; a second one
gives AALpy what suits it best: transitions in lists, and a vector as bytes, whose hash Python
remembers. The equivalence oracle searches pairs of states breadth first, everything else is AALpy's
default. Making these is not part of the time that it takes to learn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pdfalearn import PDFA
from pdfalearn.equivalence import Equivalence
from pdfalearn.errors import MissingExtraError

Letters = tuple[int, ...]
Output = Hashable


class State(Protocol):
    """A state of AALpy's Moore machines."""

    output: Output
    transitions: dict[int, State]


class Machine(Protocol):
    """AALpy's Moore machines."""

    initial_state: State
    states: list[State]


@dataclass(frozen=True)
class Outcome:
    """What a run of a learner has given and cost."""

    states: int
    equivalence_queries: int
    learnt: object
    """The machine or result, kept alive so that freeing it is not part of the run."""


class System:
    """A PDFA as AALpy's system under learning."""

    def __init__(self, target: PDFA, equivalence: Equivalence) -> None:
        self.outputs: Sequence[Output] = [
            tuple(vector) for vector in equivalence.keys(target.probabilities).tolist()
        ]
        self.transitions: Sequence[Sequence[int]] | NDArray[np.int32] = target.transitions
        self.initial = target.initial
        self._state = target.initial
        self.alphabet = list(range(len(target.alphabet)))

    def query(self, word: Letters) -> list[Output]:
        """Return the output after every letter; after no letter, the initial state's."""
        state, transitions, outputs = self.initial, self.transitions, self.outputs
        if not word:
            return [outputs[state]]
        given = []
        for letter in word:
            state = transitions[state][letter]
            given.append(outputs[state])
        return given

    def pre(self) -> None:
        """Go to the initial state."""
        self._state = self.initial

    def step(self, letter: int | None) -> Output:
        """Follow a letter, or none, and return the output."""
        if letter is not None:
            self._state = self.transitions[self._state][letter]
        return self.outputs[self._state]

    def post(self) -> None:
        """Do nothing after a word."""


class ListSystem(System):
    """The same in lists, and with one object for all states of a class."""

    def __init__(self, target: PDFA, equivalence: Equivalence) -> None:
        super().__init__(target, equivalence)
        keys: list[bytes] = [key.tobytes() for key in equivalence.keys(target.probabilities)]
        vectors = {key: key for key in keys}
        self.outputs = [vectors[key] for key in keys]  # one object a class: compared by identity
        self.transitions = target.transitions.tolist()


class Recorder(System):
    """A system that notes which words it was asked for and which outputs it has shown."""

    def __init__(self, target: PDFA, equivalence: Equivalence) -> None:
        super().__init__(target, equivalence)
        self.words: set[Letters] = set()
        self.distributions: set[Letters] = set()
        self._word: Letters = ()

    @property
    def symbols(self) -> int:
        """The length of all words together."""
        return sum(map(len, self.words))

    def query(self, word: Letters) -> list[Output]:
        """Answer step by step."""
        self.pre()
        given = [self.step(letter) for letter in word or (None,)]
        self.post()
        return given

    def pre(self) -> None:
        """Begin a word."""
        super().pre()
        self._word = ()

    def step(self, letter: int | None) -> Output:
        """Note the prefix whose output is shown."""
        if letter is not None:
            self._word += (letter,)
        self.distributions.add(self._word)
        return super().step(letter)

    def post(self) -> None:
        """Note the word."""
        self.words.add(self._word)


class ProductSearch:
    """AALpy's equivalence oracle: breadth first over the pairs of target and hypothesis."""

    num_steps = 0

    def __init__(self, system: System) -> None:
        self.sul = self._system = system  # AALpy puts its cache in place of the former
        self.num_queries = 0

    def find_cex(self, hypothesis: Machine) -> Letters | None:
        """Return a shortest word after which the two differ."""
        self.num_queries += 1
        transitions, outputs = self._system.transitions, self._system.outputs
        pairs = [(self._system.initial, hypothesis.initial_state)]
        seen = set(pairs)
        links = [(0, 0)]
        for place, (state, believed) in enumerate(pairs):
            successors = map(believed.transitions.__getitem__, self._system.alphabet)
            for letter, pair in enumerate(zip(transitions[state], successors, strict=True)):
                if pair in seen:
                    continue
                links.append((place, letter))
                if outputs[pair[0]] != pair[1].output:
                    return _word(links)
                seen.add(pair)
                pairs.append(pair)
        return None


def _word(links: list[tuple[int, int]]) -> Letters:
    """Return the word to the last place; a link is the place before and the letter from there."""
    letters = []
    place = len(links) - 1
    while place:
        place, letter = links[place]
        letters.append(letter)
    return tuple(reversed(letters))


def peer(name: str, system: System) -> Callable[[], Outcome]:
    """Return a job that learns the system by AALpy's KV, L* or L#."""
    try:
        from aalpy.learning_algs import run_KV, run_Lsharp, run_Lstar
    except ImportError as error:
        raise MissingExtraError("AALpy is missing: pip install '.[bench]'") from error
    return partial(_run, {"KV": run_KV, "L*": run_Lstar, "L#": run_Lsharp}[name], system)


def _run(learner: Callable[..., Machine], system: System) -> Outcome:
    oracle = ProductSearch(system)
    machine = learner(system.alphabet, system, oracle, "moore", print_level=0)
    return Outcome(len(machine.states), oracle.num_queries, machine)
