"""Hypothesis strategies: PDFA of every kind that has ever been a trap."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from pdfalearn import PDFA, Exact, Quantization
from pdfalearn.equivalence.relations import Equivalence

KAPPAS = [1, 2, 3, 5, 7, 10, 16, 99, 100, 1000, 2999, 3000]


def equivalences() -> st.SearchStrategy[Equivalence]:
    """Exact, and quantizations odd and even, coarse and fine."""
    return st.one_of(st.just(Exact()), st.sampled_from(KAPPAS).map(Quantization))


@st.composite
def distributions(draw: st.DrawFn, width: int) -> list[float]:
    """A distribution of whole parts of a denominator: zeros, ties and boundary values abound."""
    denominator = draw(st.sampled_from([2, 3, 4, 10, 100]))
    cuts = sorted(
        draw(st.lists(st.integers(0, denominator), min_size=width - 1, max_size=width - 1))
    )
    edges = [0, *cuts, denominator]
    return [(high - low) / denominator for low, high in pairwise(edges)]


@st.composite
def pdfas(
    draw: st.DrawFn,
    max_states: int = 8,
    max_symbols: int = 3,
    alphabet: str | None = None,
    allow_undefined: bool = True,
) -> PDFA:
    """A PDFA whose states share few distributions; some unreachable, some words undefined."""
    symbols = len(alphabet) if alphabet else draw(st.integers(1, max_symbols))
    states = draw(st.integers(1, max_states))
    palette = draw(st.lists(distributions(symbols + 1), min_size=1, max_size=3))
    choice = draw(st.lists(st.integers(0, len(palette) - 1), min_size=states, max_size=states))
    rows = np.array([palette[i] for i in choice])
    successor = st.integers(0, states - 1)
    cells = draw(st.lists(successor, min_size=states * symbols, max_size=states * symbols))
    transitions = np.array(cells).reshape(states, symbols)
    if allow_undefined and draw(st.booleans()):
        transitions[rows[:, 1:] == 0] = -1
    return PDFA(
        alphabet=alphabet or "abcdefgh"[:symbols],
        transitions=transitions,
        probabilities=rows,
        initial=draw(successor),
    )


def all_words(alphabet: str, max_length: int) -> list[str]:
    """Every word up to a length, shortest first."""
    words = [""]
    level = [""]
    for _ in range(max_length):
        level = [word + symbol for word in level for symbol in alphabet]
        words += level
    return words


def shuffled(pdfa: PDFA, order: NDArray[np.intp]) -> PDFA:
    """The same automaton with its states renumbered."""
    rank = np.append(np.argsort(order), -1)
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=rank[pdfa.transitions[order]],
        probabilities=pdfa.probabilities[order],
        initial=int(rank[pdfa.initial]),
    )
