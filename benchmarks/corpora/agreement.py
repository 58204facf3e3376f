"""How often ALERGIA here and AALpy's find the same automaton, over random samples.

Run with ``python -m benchmarks.corpora.agreement``, or with ``--samples 500``; needs aalpy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.corpora.aalpy_machines import (
    alergia_of_aalpy,
    allow_recursion,
    merging_of_aalpy,
    read_machine,
)
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA
from pdfalearn.datasets import random_pdfa
from pdfalearn.passive import alergia

EPSILONS = (0.01, 0.05, 0.5, 1.5)


def draw_sample(seed: int) -> tuple[list[tuple[int, ...]], int, float]:
    """Draw words of a random automaton, its number of symbols, and an ε."""
    random = np.random.default_rng(seed)
    symbols, states = int(random.integers(1, 6)), int(random.integers(2, 9))
    source = random_pdfa(
        states, symbols, zero_probability=0.4 * (seed % 2), undefined=True, seed=seed
    )
    drawn = source.sample(int(random.integers(1, 200)), seed=seed, max_length=15).words
    words = [tuple(int(str(symbol)) for symbol in word) for word in drawn]
    return words, symbols, float(random.choice(EPSILONS))


def is_same(machine: object, pdfa: PDFA) -> bool:
    """Return whether a machine of AALpy is a PDFA."""
    from pdfalearn.reachability import reachable_part

    transitions, rows = read_machine(machine, len(pdfa.alphabet))
    ours = reachable_part(pdfa)  # numbered as the machine is: breadth first
    return (
        transitions.shape == ours.transitions.shape
        and np.array_equal(transitions, ours.transitions)
        and np.allclose(rows, ours.probabilities)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how often each pair of learners agrees, and the time of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=300)
    options = parser.parse_args(arguments)
    pairs = {
        "run_GSM on merged counts": (False, lambda *a: merging_of_aalpy(*a, recorded=False)),
        "run_GSM on recorded counts": (True, lambda *a: merging_of_aalpy(*a, recorded=True)),
        "run_Alergia": (True, alergia_of_aalpy),
    }
    same = dict.fromkeys(pairs, 0)
    others = dict.fromkeys(pairs, 0)
    seconds = {name: [0.0, 0.0] for name in pairs}
    for seed in range(options.samples):
        words, symbols, epsilon = draw_sample(seed)
        for name, (recorded, run) in pairs.items():
            times = [time.process_time()]
            ours = alergia(words, epsilon=epsilon, recorded=recorded, alphabet=range(symbols))
            times.append(time.process_time())
            with allow_recursion():
                machine = run(words, symbols, epsilon)
            times.append(time.process_time())
            seconds[name] = [a + b for a, b in zip(seconds[name], np.diff(times), strict=True)]
            same[name] += is_same(machine, ours)
            swapped = alergia(
                words, epsilon=epsilon, recorded=not recorded, alphabet=range(symbols)
            )
            others[name] += is_same(machine, swapped)
    print_header(["AALpy", "the same", "with the other counts", "s here", "s of AALpy"])
    for name in pairs:
        share = f"{same[name]} of {options.samples}"
        print_row([name, share, f"{others[name]} of {options.samples}", *seconds[name]])


if __name__ == "__main__":
    main()
