"""What pages hold of one automaton, its likely core if it is large, and of two: where they part."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import islice
from math import isfinite
from os.path import commonprefix
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Symbol
from pdfalearn.analysis import (
    PrefixDifference,
    WordDifference,
    differences,
    distances,
    most_likely,
)
from pdfalearn.equivalence import in_order_of
from pdfalearn.errors import InputError
from pdfalearn.io import WordNotation
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in
from pdfalearn.text import are_characters, count_text, short_word_text, shorten, symbol_text
from pdfalearn.typing import Floats, Integers
from pdfalearn.viewing.choosing import connected_order, count_drawn, cut_visits

# More would make a page of over two megabytes.
MOST_STATES, MOST_TRANSITIONS = 10_000, 65_000
# The page's picture has at most this many.
_MOST_DRAWN = 150
# Of each state the page has this many transitions, the likeliest ones.
MOST_ROW = 256
# At most this many transitions are looked at.
_MOST_CELLS = 2**26
_LIKELY_WORDS = 20
# Longer words are not listed.
_LONGEST_WORD = 300
# In automata of more transitions the likeliest words are not searched for.
_MOST_SEARCHED = 1_000_000
# The names of all symbols together have at most about this many characters.
_MOST_CHARACTERS = 200_000
# What all symbols begin with is left out if it is as long.
_LEAST_BEGINNING = 6


class Core(NamedTuple):
    """States, in the order in which a picture chooses them, and their transitions."""

    states: Integers
    sources: Integers  # places in ``states``, in order
    symbols: Integers
    left_out: Integers  # the number of each state's defined transitions that are not here


class Beside(NamedTuple):
    """Two tables of probabilities that a page shows beside each other, and what has changed."""

    names: tuple[str, str]
    rows: tuple[Floats, Floats]
    signs: dict[tuple[int, int], int]  # of states and columns: 1 for more in the second, else -1


def choose_core(pdfa: PDFA, visits: Floats, most_transitions: int = MOST_TRANSITIONS) -> Core:
    """Choose the likeliest states, as many as a page has room for.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> choose_core(figure_1(), np.array([1.0, 2.0])).states.tolist()
    [0, 1]
    """
    ranks = visits.copy()
    ranks[pdfa.initial] = np.inf
    order = np.argsort(-ranks, kind="stable")  # the initial state first
    # The states that a picture chooses first come in the order in which it does.
    first = connected_order(pdfa, visits, _MOST_DRAWN)
    is_left = np.ones(len(pdfa), dtype=bool)
    is_left[first] = False
    order = np.concatenate((first, order[is_left[order]]))
    order = order[: max(1, min(MOST_STATES, _MOST_CELLS // len(pdfa.alphabet)))]
    counts = (pdfa.transitions[order] >= 0).sum(axis=1)
    room = np.cumsum(np.minimum(counts, MOST_ROW)) <= most_transitions
    states = order[: max(1, int(room.sum()))]
    # Defined transitions, of each state the likeliest ones.
    kept = pdfa.transitions[states] >= 0
    if kept.shape[1] > MOST_ROW:
        values = np.where(kept, pdfa.probabilities[states, 1:], -1.0)
        likely = np.argpartition(-values, MOST_ROW, axis=1)[:, :MOST_ROW]
        chosen = np.zeros_like(kept)
        np.put_along_axis(chosen, likely, True, axis=1)
        kept &= chosen
    sources, symbols = kept.nonzero()
    left_out = counts[: len(states)] - np.bincount(sources, minlength=len(states))
    return Core(states, sources, symbols, left_out)


def automaton_title(pdfa: PDFA) -> str:
    """Return the default title of an automaton's page."""
    symbols = count_text(len(pdfa.alphabet), "symbols")
    return f"PDFA of {count_text(len(pdfa), 'states')} over {symbols}"


def automaton_data(
    pdfa: PDFA, most_transitions: int = MOST_TRANSITIONS, beside: Beside | None = None
) -> dict[str, object]:
    """Return what the panel of an automaton shows.

    Arrays are in base 64, little end first. States on the page are numbered anew, in the order in
    which a picture chooses them; ``numbers`` has their own numbers. So are symbols: the page has
    those of its transitions.
    """
    visits = cut_visits(pdfa)
    core = choose_core(pdfa, visits.states, most_transitions)
    words, words_note = _likely_words(pdfa)
    possible = np.where(pdfa.probabilities[:, 1:] > 0, pdfa.transitions, -1)
    used = np.unique(np.concatenate((core.symbols, *map(np.array, words), [0]))).astype(np.int64)
    return {
        "states": len(pdfa),
        "alphabet": len(pdfa.alphabet),
        "numbers": _base64(core.states, "i4"),
        "visits": _base64(visits.states[core.states], "f8"),
        "allVisits": float(visits.states.sum()),
        "visitedSymbols": visits.symbols,
        "drawn": count_drawn(pdfa, visits.states),
        "unvisited": int((visits.states == 0).sum()),
        "unreached": len(pdfa) - len(reachable_in(possible, pdfa.initial).states),
        **_rows(pdfa, core, used),
        **_texts(pdfa, used),
        "words": [np.searchsorted(used, word).tolist() for word in words],
        "wordsNote": words_note,
        "beside": None if beside is None else _beside_data(beside, core),
    }


def _beside_data(beside: Beside, core: Core) -> dict[str, object]:
    """Return both tables as the page has its own, and the signs of what has changed."""
    states = core.states[core.sources]
    signs = np.zeros(beside.rows[0].shape, dtype=np.int8)
    for place, sign in beside.signs.items():
        signs[place] = sign
    return {
        "names": beside.names,
        "terminal": [_base64(rows[core.states, 0], "f8") for rows in beside.rows],
        "probabilities": [_base64(rows[states, core.symbols + 1], "f8") for rows in beside.rows],
        "endSigns": _base64(signs[core.states, 0], "i1"),
        "signs": _base64(signs[states, core.symbols + 1], "i1"),
    }


def _rows(pdfa: PDFA, core: Core, used: NDArray[np.int64]) -> dict[str, str]:
    """Return the transitions of the core; a target that is not on the page is -1."""
    states = core.states[core.sources]
    places = np.full(len(pdfa), -1, dtype=np.int32)
    places[core.states] = np.arange(len(core.states))
    counts = np.bincount(core.sources, minlength=len(core.states))
    return {
        "terminal": _base64(pdfa.probabilities[core.states, 0], "f8"),
        "counts": _base64(counts, "i4"),
        "leftOut": _base64(core.left_out, "i4"),
        "symbols": _base64(np.searchsorted(used, core.symbols), "i4"),
        "targets": _base64(places[pdfa.transitions[states, core.symbols]], "i4"),
        "probabilities": _base64(pdfa.probabilities[states, core.symbols + 1], "f8"),
    }


def _texts(pdfa: PDFA, used: NDArray[np.int64]) -> dict[str, object]:
    """Return how symbols are shown, as they are if that is otherwise, and how words have them."""
    symbols = [pdfa.alphabet.symbols[code] for code in used.tolist()]
    notation, most = WordNotation(pdfa.alphabet), max(24, _MOST_CHARACTERS // len(symbols))
    return {
        "texts": [shorten(text, most) for text in _drop_beginning(list(map(symbol_text, symbols)))],
        "raw": {
            code: str(symbol)
            for code, symbol in enumerate(symbols)
            if len(str(symbol)) <= most and str(symbol) != symbol_text(symbol)
        },
        "spellings": [shorten(notation.line([symbol]), most) for symbol in symbols],
        "joined": are_characters(pdfa.alphabet),
        "terminalText": shorten(symbol_text(pdfa.terminal), most),
    }


def _drop_beginning(texts: list[str]) -> list[str]:
    """Leave out the words with which all texts begin, as those of the templates of a log may."""
    size = commonprefix(texts).rfind(" ") + 1  # noqa: RUF071
    if len(texts) < 2 or size < _LEAST_BEGINNING:
        return texts
    return [f"{text[0]}…{text[size:]}" for text in texts]  # texts with blanks are quoted


def _likely_words(pdfa: PDFA) -> tuple[list[list[int]], str]:
    """Return the likeliest words as codes, and why there are none or fewer than there might be."""
    if pdfa.transitions.size > _MOST_SEARCHED:
        return [], "The automaton is too large to search for its likeliest words here."
    found = list(islice(most_likely(pdfa), _LIKELY_WORDS))
    words = [pdfa.alphabet.encode(one.word).tolist() for one in found]
    if not words:
        return [], "No word ends, so that there are no likeliest words."
    listed = [word for word in words if len(word) <= _LONGEST_WORD]
    left = len(words) - len(listed)
    note = f"{left} of more than {_LONGEST_WORD} symbols are not listed." if left else ""
    return listed, note


def _base64(array: NDArray[np.generic], kind: str) -> str:
    return base64.b64encode(array.astype(f"<{kind}").tobytes()).decode()


# This many words, and this many prefixes, are on a page.
COUNT = 15
# More pairs of states are not compared: it would take long to make the page.
MOST_PAIRS = 300_000
# Longer words are followed up to here.
MOST_STEPS = 60
# This many symbols have bars of their own; the others share one.
_MOST_BARS = 8


def comparison_data(a: PDFA, b: PDFA) -> dict[str, Any]:
    """Return how far two automata are apart and where they part; refuse other symbols."""
    sides = _Side(a, a), _Side(b, a)
    try:
        parted = differences(a, b, COUNT, most_pairs=MOST_PAIRS)
        apart = distances(a, b, most_pairs=MOST_PAIRS)
    except InputError as error:  # too many pairs of states
        return {"distances": [], "words": [], "prefixes": [], "reason": str(error)}
    prefixes = [
        _difference_data(one, one.prefix, sides) | {"next": symbol_text(one.symbol)}
        for one in parted.prefixes
    ]
    bounds = [apart.total_variation_low, apart.total_variation_high]
    return {
        # Names, a figure or two bounds each, and what they mean.
        "distances": [
            ("Hellinger", [apart.hellinger], "0: the same words; 1: no word in common"),
            ("total variation", bounds, "the greatest difference over all sets of words"),
            ("Bhattacharyya", [finite_or_none(apart.bhattacharyya)], "−ln Σ √(P(w)·Q(w))"),
            ("L2", [apart.l2], "√(Σ (P(w) − Q(w))²) over words that end"),
        ],
        "columns": [symbol_text(symbol) for symbol in (a.alphabet.terminal, *a.alphabet)],
        "words": [_difference_data(one, one.word, sides) for one in parted.words],
        "prefixes": prefixes,
        "reason": "The two give every word the same probability." if not apart.hellinger else "",
    }


def finite_or_none(value: float) -> float | None:
    """Return a number as JSON can have it: None for an infinite one."""
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


def _difference_data(
    one: WordDifference | PrefixDifference, word: tuple[Symbol, ...], sides: tuple[_Side, _Side]
) -> dict[str, Any]:
    """Return a difference: its word as text, its figures, and what the two do along the word."""
    alphabet = sides[0].alphabet
    codes = alphabet.encode(word).tolist()
    ways = [side.states(codes[:MOST_STEPS]) for side in sides]
    steps = [
        {"states": pair, "bars": _bars(*(s.row(q) for s, q in zip(sides, pair, strict=True)))}
        for pair in zip(*ways, strict=True)
    ]
    return {
        "word": short_word_text(word, joined=are_characters(alphabet)),
        "length": len(word),
        "codes": codes[:MOST_STEPS],
        "steps": steps,
        "share": one.share,
        "a": one.probability_a,
        "b": one.probability_b,
        "next": None,
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
