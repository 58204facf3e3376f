"""Does a network know the states of its world? Coherence of GRU in the course of training.

Usage: python -m benchmarks.coherence [--hidden N]

The worlds are a grid, in which a word is a walk and a state a cell, and the Reber grammar. What
`coherence` computes over all likely beginnings stands beside what drawn pairs of them show.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.distilling.training import trained
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, LanguageModel, evaluate
from pdfalearn.datasets import reber
from pdfalearn.metrics import Coherence, coherence
from pdfalearn.models import ask_words
from pdfalearn.typing import Flags, Floats, Integers

STEPS = (10, 30, 100, 300, 1000, 3000)
LEAST = 1e-3
ABOVE = 0.01  # of the equivalence that `coherence` has if none is given
DRAWN = 3000
MOVES = {"n": (0, -1), "e": (1, 0), "s": (0, 1), "w": (-1, 0)}


def grid(width: int, height: int, end: float = 0.1) -> PDFA:
    """Return the walks in a grid from the cell in the corner; all moves are equally likely."""
    cells = list(product(range(width), range(height)))
    table = np.full((len(cells), len(MOVES)), -1)
    for (state, (x, y)), (symbol, (right, down)) in product(
        enumerate(cells), enumerate(MOVES.values())
    ):
        if (there := (x + right, y + down)) in cells:
            table[state, symbol] = cells.index(there)
    rows = np.column_stack((np.zeros(len(cells)), table >= 0)).astype(float)
    rows *= (1 - end) / rows.sum(axis=1, keepdims=True)
    rows[:, 0] = end
    return PDFA(alphabet=list(MOVES), transitions=table, probabilities=rows)


WORLDS = {"grid of 3 x 3": grid(3, 3), "Reber": reber()}


class Shares(NamedTuple):
    """What pairs of drawn beginnings show, as in `Coherence`."""

    compression: float
    distinction: float
    precision: float
    recall: float


def sampled(
    model: LanguageModel, world: PDFA, suffixes: Sequence[tuple[object, ...]], seed: int
) -> Shares:
    """Draw beginnings of words of the world, and compare each with each of the others."""
    words = world.sample(DRAWN, seed=seed, max_length=200).words
    beginnings = [word[:length] for word in words for length in range(len(word) + 1)]
    random = np.random.default_rng(seed)
    drawn = random.choice(len(beginnings), 4 * DRAWN).tolist()
    likely = [beginnings[one] for one in drawn if _mass(world, beginnings[one]) >= LEAST][:DRAWN]
    states = world.states_after(likely).astype(np.int64)
    # Above the threshold after every suffix: in the world by its states, and in the model.
    truths = [_above(_rows_after(world, states, suffix)) for suffix in suffixes]
    answers = [_above(_ask(model, [(*word, *suffix) for word in likely])) for suffix in suffixes]
    different = _differ(states)
    told = np.array([_differ(one) for one in answers])
    to_tell = np.array([_differ(one) for one in truths])
    rightly = np.logical_and(told, to_tell)[:, different].sum()
    other = ~np.eye(len(likely), dtype=bool)
    same: Flags = np.asarray(~told.any(axis=0))
    return Shares(
        float(same[other & ~different].mean()),
        float(1 - same[different].mean()),
        float(rightly / max(1, told[:, different].sum())),
        float(rightly / to_tell[:, different].sum()),
    )


def _mass(world: PDFA, word: Sequence[object]) -> float:
    """Return how likely words begin so."""
    rows = [world.next_distribution(word[:length]) for length in range(len(word))]
    codes = world.alphabet.encode(word)
    factors = [row[code + 1] for row, code in zip(rows, codes, strict=True) if row is not None]
    return float(np.prod(factors))


def _rows_after(world: PDFA, states: Integers, suffix: Sequence[object]) -> Floats:
    for code in world.alphabet.encode(suffix):
        states = np.where(states < 0, -1, world.transitions[states, code])
    return np.where((states >= 0)[:, None], world.probabilities[states], np.nan)


def _ask(model: LanguageModel, words: list[tuple[object, ...]]) -> Floats:
    """Return what the model answers, each word asked by itself."""
    return ask_words(model, model.alphabet.encode_words(words)).to_dense()


def _above(rows: Floats) -> Integers:
    """Return which symbols are above the threshold as a number; -1 where a word is undefined."""
    bits = (rows > ABOVE) @ (1 << np.arange(rows.shape[1]))
    return np.where(np.isnan(rows[:, 0]), -1, bits)


def _differ(keys: Integers) -> Flags:
    return np.asarray(keys[:, None] != keys)


def shares_of(found: Coherence) -> Shares:
    """Return the shares that were computed."""
    return Shares(*(getattr(found, name) for name in Shares._fields))


def main() -> None:
    """Print a table for each world."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hidden", type=int, default=32)
    hidden = parser.parse_args().hidden
    for name, world in WORLDS.items():
        print(f"\n{name}: {len(world)} states, a GRU of {hidden}, batches of 64 words.\n")
        names = [*Shares._fields, *(f"{one}, drawn" for one in Shares._fields)]
        print_header(["batches", "KL", "words asked", *names])
        for steps in STEPS:
            model = trained(world, hidden=hidden, steps=steps)
            found = coherence(model, world, least=LEAST)
            kl = evaluate(world, model, count=2000, seed=1, max_length=100).over_prefixes.kl
            drawn = sampled(model, world, found.suffixes, seed=steps)
            shares = [f"{one:.3f}" for one in (*shares_of(found), *drawn)]
            print_row([steps, f"{kl:.4f}", found.words, *shares])


if __name__ == "__main__":
    main()
