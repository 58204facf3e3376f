"""Quotient and Hopcroft-Karp on random targets, a large alphabet, chains and trees.

Run with ``python -m benchmarks.equivalence``. Every row is measured in a process of its own.
"""

from __future__ import annotations

import numpy as np

from benchmarks.support import (
    Growth,
    in_a_process,
    median_seconds,
    peak_gigabytes,
    print_header,
    print_row,
)
from pdfalearn import PDFA, Quantization, distinguish, quotient
from pdfalearn.datasets import chain, random_pdfa

FAMILIES = {
    "random, m=2, κ=1000": ("random", [10**4, 10**5, 10**6], {"symbols": 2}),
    "random, m=2, d=2, κ=1000": (
        "random",
        [10**4, 10**5, 10**6],
        {"symbols": 2, "distributions": 2},
    ),
    "random, m=1000, κ=1000": ("random", [100, 1000], {"symbols": 1000}),
    "chain, κ=1000": ("chain", [10**4, 10**5], {"reset": False}),
    "chain with reset, κ=1000": ("chain", [10**4, 10**5], {"reset": True}),
    "tree of equal states, leaves first": ("tree", [2**14 - 1, 2**17 - 1, 2**20 - 1], {}),
}
TITLES = ["family", "n", "states of quotient", "make, s", "quotient, s", "growth"]
TITLES += ["distinguish, s", "growth", "peak, GB"]


def target(kind: str, size: int, options: dict[str, int]) -> PDFA:
    """Make the automaton of a family."""
    if kind == "chain":
        return chain(size, reset=bool(options["reset"]))
    if kind == "tree":
        return tree(size)
    symbols, shared = options["symbols"], options.get("distributions")
    return random_pdfa(size, symbols, distributions=shared, seed=1)


def tree(size: int) -> PDFA:
    """Make a complete binary tree of equal states, its leaves first and its root last."""
    leaves = np.arange((size + 1) // 2)
    loops, edges = np.column_stack((leaves, leaves)), np.arange(size - 1).reshape(-1, 2)
    return PDFA(
        alphabet="01",
        transitions=np.concatenate((loops, edges)),
        probabilities=np.full((size, 3), [0.5, 0.25, 0.25]),
        initial=size - 1,
    )


def measure(
    kind: str, size: int, options: dict[str, int]
) -> tuple[int, float, float, float, float]:
    """Return states of the quotient; seconds to make, to divide and to compare; gigabytes."""
    equivalence = Quantization(1000)
    making = median_seconds(lambda: target(kind, size, options))
    pdfa = target(kind, size, options)
    dividing = median_seconds(lambda: quotient(pdfa, equivalence=equivalence))
    smaller = quotient(pdfa, equivalence=equivalence)
    comparing = median_seconds(lambda: distinguish(pdfa, smaller, equivalence=equivalence))
    return len(smaller), making, dividing, comparing, peak_gigabytes()


def main() -> None:
    """Print the table; growth is the factor of time over the factor of size to the row above."""
    print_header(TITLES)
    for name, (kind, sizes, options) in FAMILIES.items():
        dividing_growth, comparing_growth = Growth(), Growth()
        for size in sizes:
            states, making, dividing, comparing, gigabytes = in_a_process(
                measure, kind, size, options
            )
            cells = [name, size, states, making, dividing, dividing_growth.to(size, dividing)]
            print_row([*cells, comparing, comparing_growth.to(size, comparing), gigabytes])


if __name__ == "__main__":
    main()
