"""The authors' experiment with Omit-Zero (2024): targets full of zeros, learnt with and without.

Run with ``python -m benchmarks.omit_zero``; sizes may follow.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.support import print_header, print_row
from pdfalearn import (
    PDFA,
    FunctionModel,
    LanguageModel,
    Quantization,
    Result,
    TopP,
    learn,
    quotient,
)
from pdfalearn.datasets import random_pdfa
from pdfalearn.oracles import ExactOracle

SIZES = (250, 500, 750, 1000)
TARGETS_A_SIZE = 10
SYMBOLS = 10
ZEROS = 0.9
BY = Quantization(10)


class Outcome(NamedTuple):
    """What came out of one run."""

    states: int
    words: int
    queries: int
    seconds: float


def draw_target(size: int, seed: int) -> PDFA:
    """Draw a target, 90% of whose probabilities are 0, with about as many states without these.

    A symbol a state leads on, on average: so much more has to be drawn than can be reached. All
    transitions are defined, those of probability 0 lead to any state.
    """
    random = np.random.default_rng([size, seed])
    while True:
        drawn = random_pdfa(
            int(size**1.5),
            SYMBOLS,
            zero_probability=ZEROS,
            undefined=True,
            seed=int(random.integers(2**31)),
        )
        if size / 2 <= len(drawn) <= size * 2:
            break
    anywhere = random.integers(0, len(drawn), drawn.transitions.shape)
    return PDFA(
        alphabet=drawn.alphabet,
        transitions=np.where(drawn.transitions < 0, anywhere, drawn.transitions),
        probabilities=drawn.probabilities,
    )


def without_zeros(target: PDFA) -> PDFA:
    """Return the automaton of the words that are possible."""
    table = np.where(target.probabilities[:, 1:] > 0, target.transitions, -1)
    rows = target.probabilities
    return PDFA(alphabet=target.alphabet, transitions=table, probabilities=rows)


def omitting(target: PDFA) -> Result:
    """Omit the zeros; what is learnt has to be the quotient without them."""
    return learn(TopP(target, 1), equivalence=BY)


def omitting_as_a_function(target: PDFA) -> Result:
    """Do the same with a model of which each word is asked for."""
    box: LanguageModel = FunctionModel(target.next_distributions, target.alphabet)
    oracle = ExactOracle(without_zeros(target), equivalence=BY)
    return learn(TopP(box, 1), equivalence=BY, oracle=oracle)


def with_zeros(target: PDFA) -> Result:
    """Learn all of it, what words of probability 0 reach as well."""
    return learn(target, equivalence=BY)


WAYS: dict[str, Callable[[PDFA], Result]] = {
    "zeros omitted": omitting,
    "zeros omitted, a function": omitting_as_a_function,
    "with zeros": with_zeros,
}


def measure(way: Callable[[PDFA], Result], target: PDFA) -> Outcome:
    """Learn a target in one way, and check what was learnt."""
    result = way(target)
    truth = target if way is with_zeros else without_zeros(target)
    if len(result.pdfa) != len(quotient(truth, equivalence=BY)):
        raise AssertionError("not the quotient")
    if result.certificate is None or result.certificate.kind != "exact":
        raise AssertionError("not certified")
    costs = result.statistics
    started = time.process_time()  # what has been imported and compiled by now is not part of it
    way(target)
    seconds = time.process_time() - started
    return Outcome(len(result.pdfa), costs.words, costs.equivalence_queries, seconds)


def spread(values: Sequence[float]) -> str:
    """Write the median, and from where to where."""
    figures = statistics.median_high(values), min(values), max(values)
    texts = [f"{one:.3f}" if isinstance(one, float) else f"{one:,}" for one in figures]
    return "{} ({} to {})".format(*texts)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", help="250, 500, 750 and 1000 if not given")
    print(f"{TARGETS_A_SIZE} targets a size, {SYMBOLS} symbols, {ZEROS:.0%} zeros, κ={BY.kappa}.\n")
    print_header(["about", "way", "states", "words asked", "equivalence queries", "processor, s"])
    for size in parser.parse_args().sizes or SIZES:
        targets = [draw_target(size, seed) for seed in range(TARGETS_A_SIZE)]
        for name, way in WAYS.items():
            found = [measure(way, target) for target in targets]
            print_row([size, name, *map(spread, zip(*found, strict=True))])


if __name__ == "__main__":
    main()
