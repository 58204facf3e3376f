"""The page of two automata: how far they are apart, and where they part."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.analysis import (
    Differences,
    Distances,
    PrefixDifference,
    WordDifference,
    differences,
    distances,
)
from pdfalearn.equivalence import in_order_of
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA
from pdfalearn.text import are_characters, short_word_text, symbol_text
from pdfalearn.typing import Floats
from pdfalearn.viewing.automaton import MOST_TRANSITIONS, automaton_data, automaton_title
from pdfalearn.viewing.page import Part

COUNT = 15
"""This many words, and this many prefixes, are on a page."""
MOST_PAIRS = 300_000
"""More pairs of states are not compared: it would take long to make the page."""
MOST_STEPS = 60
"""Longer words are followed up to here."""
_MOST_BARS = 8
"""This many symbols have bars of their own; the others share one."""


def comparison_data(a: PDFA, b: PDFA) -> dict[str, Any]:
    """Return how far two automata are apart and where they part.

    Raises
    ------
    InputError
        If their symbols differ.
    """
    sides = _Side(a, a), _Side(b, a)
    try:
        parted = differences(a, b, COUNT, most_pairs=MOST_PAIRS)
        apart = distances(a, b, most_pairs=MOST_PAIRS)
    except InputError as error:  # too many pairs of states
        return {"distances": [], "words": [], "prefixes": [], "reason": str(error)}
    return {
        "distances": _distance_rows(apart),
        **_parted_data(parted, sides),
        "reason": "The two give every word the same probability." if not apart.hellinger else "",
    }


def _distance_rows(apart: Distances) -> list[tuple[str, list[float | None], str]]:
    """Return names, a figure or two bounds each, and what they mean; None is infinite."""
    bounds: list[float | None] = [apart.total_variation_low, apart.total_variation_high]
    return [
        ("Hellinger", [apart.hellinger], "0: the same words; 1: no word in common"),
        ("total variation", bounds, "the greatest difference in the probability of a set of words"),
        ("Bhattacharyya", [_figure(apart.bhattacharyya)], "−ln Σ √(P(w)·Q(w))"),
        ("L2", [apart.l2], "√(Σ (P(w) − Q(w))²) over words that end"),
    ]


def _figure(value: float) -> float | None:
    return value if isfinite(value) else None


class _Side:
    """One of two automata, with its symbols in the first one's order."""

    def __init__(self, pdfa: PDFA, first: PDFA) -> None:
        self.table, self.rows = in_order_of(first.alphabet, pdfa)
        self.alphabet, self.initial = first.alphabet, pdfa.initial

    def states(self, codes: Sequence[int]) -> list[int]:
        """Return the states along a word; -1 from where it is undefined."""
        states = [self.initial]
        for code in codes:
            states.append(int(self.table[states[-1], code]))
        return states

    def row(self, state: int) -> Floats:
        """Return the distribution of a state; nothing where a word is undefined."""
        return self.rows[state] if state >= 0 else np.zeros(self.rows.shape[1])


def _parted_data(parted: Differences, sides: tuple[_Side, _Side]) -> dict[str, Any]:
    alphabet = sides[0].alphabet
    columns = [symbol_text(symbol) for symbol in (alphabet.terminal, *alphabet)]
    words = [_word_data(one.word, sides) | _figures_of(one) for one in parted.words]
    prefixes = [
        {**_word_data(one.prefix, sides), **_figures_of(one), "next": symbol_text(one.symbol)}
        for one in parted.prefixes
    ]
    return {"columns": columns, "words": words, "prefixes": prefixes}


def _figures_of(one: WordDifference | PrefixDifference) -> dict[str, Any]:
    return {"share": one.share, "a": one.probability_a, "b": one.probability_b, "next": None}


def _word_data(word: tuple[Symbol, ...], sides: tuple[_Side, _Side]) -> dict[str, Any]:
    """Return a word as text, and what the two automata do along it."""
    alphabet = sides[0].alphabet
    codes = alphabet.encode(word).tolist()
    ways = [side.states(codes[:MOST_STEPS]) for side in sides]
    return {
        "word": short_word_text(word, joined=are_characters(alphabet)),
        "length": len(word),
        "codes": codes[:MOST_STEPS],
        "steps": [
            {
                "states": pair,
                "bars": _bars(*(s.row(state) for s, state in zip(sides, pair, strict=True))),
            }
            for pair in zip(*ways, strict=True)
        ],
    }


def _bars(one: Floats, other: Floats) -> list[list[float]]:
    """Return the columns that differ most with both probabilities; column -1 is all others."""
    gaps = np.abs(np.sqrt(one) - np.sqrt(other))
    chosen = np.argsort(-gaps, kind="stable")[:_MOST_BARS]
    chosen = chosen[(one[chosen] > 0) | (other[chosen] > 0)]
    bars = [[int(column), _short(one[column]), _short(other[column])] for column in chosen]
    rest = [float(row.sum() - row[chosen].sum()) for row in (one, other)]
    return [*bars, [-1, *map(_short, rest)]] if max(rest) > 1e-6 else bars


def _short(value: float) -> float:
    """Keep six digits, which is more than bars can show."""
    return float(f"{max(0.0, float(value)):.6g}")


def pair_title(a: PDFA, b: PDFA) -> str:
    """Return how the page of two automata is called if nobody says."""
    return f"PDFA of {len(a):,} and of {len(b):,} states"


def pair_parts(a: PDFA, b: PDFA) -> list[Part]:
    """Return the parts of the page of two automata."""
    compared = comparison_data(a, b)
    automata = [automaton_data(pdfa, most_transitions=MOST_TRANSITIONS // 2) for pdfa in (a, b)]
    names = [automaton_title(a), automaton_title(b)]
    return [Part("pair", "Where they differ", compared | {"automata": automata, "names": names})]
