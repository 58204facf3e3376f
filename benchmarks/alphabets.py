"""Large alphabets: time and peak memory of learning over 50,000 and a million symbols.

Run with ``python -m benchmarks.alphabets``. Each row runs in a process of its own.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from benchmarks.support import in_a_process, print_header, print_row
from pdfalearn import (
    PDFA,
    Alphabet,
    FunctionModel,
    Guided,
    LanguageModel,
    Quantization,
    TopK,
    learn,
)
from pdfalearn.languages import DFA
from pdfalearn.oracles import ExactOracle

SYMBOLS = 50_000
STATES = 200
LISTED = 50


def peaked(states: int, symbols: int) -> PDFA:
    """Make a target whose distributions have few likely symbols."""
    random = np.random.default_rng(0)
    rows = random.random((states, symbols + 1)) ** (symbols // 250)
    rows /= rows.sum(axis=1, keepdims=True)
    return PDFA(
        alphabet=Alphabet(map(str, range(symbols))),
        transitions=random.integers(states, size=(states, symbols), dtype=np.int32),
        probabilities=rows,
    )


def measured(model: LanguageModel | PDFA, oracle: ExactOracle | None, kappa: int) -> list[float]:
    """Learn; return states, words, seconds and the peak of memory before and after in MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    begun = time.perf_counter()
    result = learn(model, equivalence=Quantization(kappa), oracle=oracle)
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return [
        len(result.pdfa),
        result.statistics.words,
        round(seconds, 2),
        round(before),
        round(peak),
    ]


def wide() -> list[float]:
    """Three states and a million symbols."""
    return measured(peaked(3, 10**6), None, 1000)


def function() -> list[float]:
    """A function of dense rows over 50,000 symbols."""
    target = peaked(3, SYMBOLS)
    oracle = ExactOracle(target, equivalence=Quantization(1000))
    return measured(FunctionModel(target.next_distributions, target.alphabet), oracle, 1000)


def top_k() -> list[float]:
    """The likeliest 50 of 50,000 symbols, 200 states."""
    return measured(TopK(peaked(STATES, SYMBOLS), LISTED), None, 100)


def guided() -> list[float]:
    """A guide that allows 50 of 50,000 symbols, 200 states."""
    target = peaked(STATES, SYMBOLS)
    successors = np.full((1, SYMBOLS), -1)
    successors[0, :: SYMBOLS // LISTED] = 0
    guide = DFA(alphabet=target.alphabet, transitions=successors, accepting=[True])
    return measured(Guided(target, guide), None, 20)


def main() -> None:
    """Print a row for each."""
    print_header(["case", "states", "words", "seconds", "MB before", "MB at most"])
    cases = {
        "3 states, 10^6 symbols": wide,
        "function, 50,000 symbols": function,
        "top-k 50 of 50,000, 200 states": top_k,
        "guide 50 of 50,000, 200 states": guided,
    }
    for name, case in cases.items():
        print_row([name, *in_a_process(case)])


if __name__ == "__main__":
    main()
