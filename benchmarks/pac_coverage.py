"""How often the promise of PAC sampling is broken, at ε = δ = 0.1, on targets made to break it.

Run with ``python -m benchmarks.pac_coverage``. A target has one distribution everywhere but after
one or two faults: sets of words of two to four symbols. A word of the sampler begins with a word of
such a set with a probability of 0.11 to 0.15, so that what is learnt is wrong by more than ε if a
fault is missed, and without a sampled word the learner does not find it. The error of what was
learnt is computed, not estimated.
"""

from __future__ import annotations

from itertools import product
from statistics import mean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Quantization, learn
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import UniformWords
from pdfalearn.samplers.drawing import Sampler

EPSILON = DELTA = 0.1
RUNS = 600
BY = Quantization(10)
TITLES = ["words drawn", "runs", "error above ε", "goal", "mean error", "mean equivalence queries"]

Word = tuple[int, ...]


class Fault(NamedTuple):
    """A number of words of one length, after which a target has another distribution."""

    length: int
    words: int


class Outcome(NamedTuple):
    """What a run has come to."""

    error: float
    queries: int


class TenthOracle(PACOracle):
    """Draws a tenth of the words that the promise needs."""

    def __init__(self, *, epsilon: float, delta: float, sampler: Sampler, seed: int = 0) -> None:
        super().__init__(epsilon=epsilon, delta=delta, sampler=sampler, seed=seed)
        self._epsilon *= 10


def share_above(outcomes: list[Outcome]) -> float:
    """Return the share of runs whose error is above ε."""
    return mean(outcome.error > EPSILON for outcome in outcomes)


def outcomes_of(kind: type[PACOracle], runs: int) -> list[Outcome]:
    """Learn as many targets with an oracle of a kind."""
    return [outcome_of(kind, seed) for seed in range(runs)]


def outcome_of(kind: type[PACOracle], seed: int) -> Outcome:
    """Learn one target, and compute how wrong the result is."""
    target, max_length = drawn_target(seed)
    sampler = UniformWords(max_length)
    oracle = kind(epsilon=EPSILON, delta=DELTA, sampler=sampler, seed=seed)
    result = learn(AutomatonModel(target), equivalence=BY, oracle=oracle)
    error = error_of(result.pdfa, target, max_length)
    return Outcome(error, result.statistics.equivalence_queries)


def error_of(learnt: PDFA, target: PDFA, max_length: int) -> float:
    """Return the probability that a uniform word has a prefix on which two automata differ."""
    classes = BY.classes(np.concatenate((target.probabilities, learnt.probabilities)))
    differ = classes[: len(target), None] != classes[len(target) :]
    weights = np.zeros(differ.shape)
    weights[target.initial, learnt.initial] = 1.0
    wrong: list[float] = []
    for _ in range(max_length + 1):
        weights[differ] = 0.0
        wrong.append(1 - float(weights.sum()))
        weights = _stepped(weights, target, learnt)
    return mean(wrong)


def _stepped(weights: NDArray[np.float64], target: PDFA, learnt: PDFA) -> NDArray[np.float64]:
    """Go on by one uniform symbol from every pair of states."""
    left, right = weights.nonzero()
    onwards = np.zeros_like(weights)
    for symbol in range(len(target.alphabet)):
        pairs = target.transitions[left, symbol], learnt.transitions[right, symbol]
        np.add.at(onwards, pairs, weights[left, right] / len(target.alphabet))
    return onwards


def drawn_target(seed: int) -> tuple[PDFA, int]:
    """Draw a target with one or two faults, and the greatest length of sampled words."""
    random = np.random.default_rng(seed)
    symbols, max_length, faults = POSSIBLE[random.integers(len(POSSIBLE))]
    chosen = [faults[place] for place in random.integers(len(faults), size=1 + seed % 2)]
    wrong: dict[Word, int] = {}
    # The shortest first: so there are always words left that begin with no wrong one.
    for kind, fault in enumerate(sorted(chosen), 1):
        words = product(range(symbols), repeat=fault.length)
        free = [word for word in words if not any(word[:end] in wrong for end in range(5))]
        for place in random.choice(len(free), fault.words, replace=False):
            wrong[free[place]] = kind
    return _target(symbols, wrong), max_length


def _target(symbols: int, wrong: dict[Word, int]) -> PDFA:
    """Make the tree of prefixes of wrong words; all other words lead to one state more."""
    prefixes = sorted({word[:end] for word in wrong for end in range(len(word) + 1)}, key=len)
    numbers = {prefix: number for number, prefix in enumerate(prefixes)}
    other = len(prefixes)
    steps = [[numbers.get((*prefix, s), other) for s in range(symbols)] for prefix in prefixes]
    kinds = [wrong.get(prefix, 0) for prefix in prefixes]
    stops = np.array([0.15, 0.45, 0.75])[[*kinds, 0]]
    return PDFA(
        alphabet=map(str, range(symbols)),
        transitions=[*steps, [other] * symbols],
        probabilities=np.column_stack((stops, *[(1 - stops) / symbols] * symbols)),
    )


def _faults(symbols: int, max_length: int) -> list[Fault]:
    """Return all faults of the wanted probability that leave enough words for another one."""
    found = []
    for length in range(2, 5):
        words = symbols**length
        for count in range(1, 2 * words // 5 + 1 if words <= 81 else 0):
            probability = count / words * (max_length + 1 - length) / (max_length + 1)
            if 0.11 <= probability <= 0.15:
                found.append(Fault(length, count))
    return found


POSSIBLE = [
    (symbols, max_length, faults)
    for symbols in range(2, 5)
    for max_length in range(3, 13)
    if (faults := _faults(symbols, max_length))
]


def main() -> None:
    """Print how often the promise is broken, with enough words and with a tenth of them."""
    print_header(TITLES)
    for name, kind, goal in (
        ("as many as the promise needs", PACOracle, f"at most {DELTA}"),
        ("a tenth", TenthOracle, f"above {DELTA}"),
    ):
        outcomes = outcomes_of(kind, RUNS)
        errors, queries = zip(*outcomes, strict=True)
        print_row([name, RUNS, share_above(outcomes), goal, mean(errors), mean(queries)])


if __name__ == "__main__":
    main()
