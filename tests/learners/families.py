"""Targets of every kind that a learner may meet, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from pdfalearn import PDFA, Exact, Quantization
from pdfalearn.datasets import chain, combination_lock, random_pdfa
from pdfalearn.equivalence.relations import Equivalence

Family = Callable[[Generator, int], PDFA]
"""Draws a target of about this many states."""


def _draw(random: Generator, low: int, high: int) -> int:
    return int(random.integers(low, high + 1))


def _names(symbols: int) -> list[str]:
    return [str(symbol) for symbol in range(symbols)]


def _own_distributions(random: Generator, size: int) -> PDFA:
    return random_pdfa(size, _draw(random, 1, 8), seed=_draw(random, 0, 10**6))


def _shared_distributions(random: Generator, size: int) -> PDFA:
    return random_pdfa(
        size,
        _draw(random, 1, 8),
        distributions=_draw(random, 1, 16),
        seed=_draw(random, 0, 10**6),
    )


def _zeros(random: Generator, size: int) -> PDFA:
    return random_pdfa(
        size,
        _draw(random, 1, 8),
        distributions=_draw(random, 1, 6),
        zero_probability=float(random.uniform(0.2, 0.7)),
        undefined=bool(random.integers(2)),
        seed=_draw(random, 0, 10**6),
    )


def _boundary_rows(random: Generator, states: int, symbols: int) -> NDArray[np.float64]:
    """Whole parts of a denominator: values on the boundaries of intervals, zeros and ties."""
    denominator = int(random.choice([2, 3, 4, 10, 100, 1000]))
    cuts = np.sort(random.integers(0, denominator + 1, (_draw(random, 1, 5), symbols)), axis=1)
    palette = np.diff(cuts, axis=1, prepend=0, append=denominator) / denominator
    return palette[random.integers(0, len(palette), states)]


def _boundaries(random: Generator, size: int) -> PDFA:
    """Any table: unreachable states, any initial one, values on boundaries."""
    symbols = _draw(random, 1, 5)
    return PDFA(
        alphabet=_names(symbols),
        transitions=random.integers(0, size, (size, symbols)),
        probabilities=_boundary_rows(random, size, symbols),
        initial=_draw(random, 0, size - 1),
    )


def _some_undefined(random: Generator, size: int) -> PDFA:
    """Of states with the same distribution, some have a transition where others have none."""
    total = _boundaries(random, size)
    removed = (total.probabilities[:, 1:] == 0) & (random.random(total.transitions.shape) < 0.5)
    return PDFA(
        alphabet=total.alphabet,
        transitions=np.where(removed, -1, total.transitions),
        probabilities=total.probabilities,
        initial=total.initial,
    )


def _one_state(random: Generator, _: int) -> PDFA:
    return _some_undefined(random, 1)


def _chain(random: Generator, size: int) -> PDFA:
    return chain(size, reset=bool(random.integers(2)))


def _lock(random: Generator, size: int) -> PDFA:
    return combination_lock(size, _draw(random, 1, 4), seed=_draw(random, 0, 10**6))


def _ring(random: Generator, size: int) -> PDFA:
    """A ring with one marked state: most pairs need long suffixes; jumps only for one symbol."""
    onwards = (np.arange(size) + 1) % size
    rows = np.tile([0.2, 0.3, 0.5], (size, 1))
    rows[random.integers(size)] = [0.2, 0.5, 0.3]
    jumps = np.where(random.random(size) < 0.1, random.integers(0, size, size), onwards)
    return PDFA(alphabet="ab", transitions=np.column_stack((onwards, jumps)), probabilities=rows)


def _large_alphabet(random: Generator, size: int) -> PDFA:
    symbols = _draw(random, 33, 70)
    return random_pdfa(
        max(1, size // 2),
        symbols,
        distributions=_draw(random, 2, 5),
        zero_probability=float(random.choice([0.0, 0.5, 0.9])),
        undefined=bool(random.integers(2)),
        seed=_draw(random, 0, 10**6),
    )


FAMILIES: dict[str, Family] = {
    "own distributions": _own_distributions,
    "shared distributions": _shared_distributions,
    "zeros": _zeros,
    "boundaries": _boundaries,
    "some undefined": _some_undefined,
    "one state": _one_state,
    "chain": _chain,
    "lock": _lock,
    "ring": _ring,
    "large alphabet": _large_alphabet,
}


def drawn(family: str, size: int, seed: int) -> tuple[PDFA, Equivalence]:
    """Draw a target of at most about this many states, and an equivalence to learn it by."""
    random = np.random.default_rng([list(FAMILIES).index(family), size, seed])
    target = FAMILIES[family](random, _draw(random, 1, size))
    kappas = [*range(1, 8), 10, 16, 99, 100, 999, 1000, _draw(random, 1, 3000), 2999, 3000]
    equivalence = Exact() if random.random() < 0.15 else Quantization(int(random.choice(kappas)))
    return target, equivalence
