"""How simplify compares with the best of all ways to lead states to others, on small automata.

Run with ``python -m benchmarks.simplifying``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from pdfalearn import PDFA, simplify
from pdfalearn.analysis import reachable

STATES, SIZES, SEEDS = 6, (2, 3, 4), range(100, 130)
TITLES = ("states kept", "automata", "least ratio", "median", "mean", "greatest")


def small_pdfa(states: int, symbols: int, seed: int) -> PDFA:
    """Draw an automaton whose rows have no zeros; some states may not be reachable."""
    random = np.random.default_rng(seed)
    ends = random.uniform(0.02, 0.3, (states, 1))
    rows = np.hstack((ends, (1 - ends) * random.dirichlet(np.ones(symbols), states)))
    transitions = random.integers(states, size=(states, symbols))
    return PDFA(alphabet="abcd"[:symbols], transitions=transitions, probabilities=rows)


def redirections(states: int, size: int) -> Iterator[list[int]]:
    """All ways to keep some states and lead each other one to one of them."""
    for kept in combinations(range(states), size):
        others = [state for state in range(states) if state not in kept]
        for targets in product(kept, repeat=len(others)):
            led = dict(zip(others, targets, strict=True))
            yield [led.get(state, state) for state in range(states)]


def visits_of_pairs(pdfa: PDFA, led: list[int]) -> NDArray[np.float64]:
    """Solve for the visits of (state, state of the redirected automaton) by dense elimination."""
    count = len(pdfa)
    system = np.eye(count * count)
    for p, t in product(range(count), repeat=2):
        for code in range(len(pdfa.alphabet)):
            after = pdfa.transitions[p, code] * count + led[pdfa.transitions[t, code]]
            system[after, p * count + t] -= pdfa.probabilities[p, code + 1]
    start = np.zeros(count * count)
    start[pdfa.initial * count + led[pdfa.initial]] = 1.0
    return np.asarray(np.linalg.solve(system, start), dtype=np.float64).reshape(count, count)


def loss_of(pdfa: PDFA, led: list[int]) -> float:
    """The divergence per symbol of a redirection with the best rows: means by visits."""
    visits = np.maximum(visits_of_pairs(pdfa, led), 0)
    sums = visits.T @ pdfa.probabilities
    used = visits.sum(axis=0) > 0
    rows = sums[used] / sums[used].sum(axis=1, keepdims=True)
    own = visits.sum(axis=1) @ (pdfa.probabilities * np.log(pdfa.probabilities)).sum(axis=1)
    return float((own - (sums[used] * np.log(rows)).sum()) / visits.sum())


def ratios(states: int, sizes: Sequence[int], seeds: Sequence[int]) -> list[list[float]]:
    """Divide the divergence of simplify's results by that of the best of all redirections."""
    found = []
    for seed in seeds:
        pdfa = small_pdfa(states, 2 + seed % 2, seed)
        if len(reachable(pdfa).states) == states:
            curve = simplify(pdfa, states=sizes)
            best = [min(loss_of(pdfa, led) for led in redirections(states, size)) for size in sizes]
            found.append([one.divergence / loss for one, loss in zip(curve, best, strict=True)])
    return found


def main() -> None:
    """Print a row for each number of states that are kept."""
    table = np.array(ratios(STATES, SIZES, SEEDS))
    print(f"| {' | '.join(TITLES)} |", f"|{' --- |' * len(TITLES)}", sep="\n")
    for size, column in zip(SIZES, table.T, strict=True):
        figures = column.min(), np.median(column), column.mean(), column.max()
        print(f"| {size} | {len(column)} |", " | ".join(f"{f:.3f}" for f in figures), "|")


if __name__ == "__main__":
    main()
