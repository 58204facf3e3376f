"""The data of an automaton's page: its likely core, if it is large."""

from __future__ import annotations

import base64
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.analysis import most_likely
from pdfalearn.io import WordNotation
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in
from pdfalearn.text import are_characters, shortened, symbol_text
from pdfalearn.typing import Floats, Integers
from pdfalearn.viewing.page import Part
from pdfalearn.viewing.visits import cut_visits

MOST_STATES = 10_000
MOST_TRANSITIONS = 65_000
"""More would make a page of over two megabytes."""
MOST_ROW = 256
"""Of each state the page has this many transitions, the likeliest ones."""
_MOST_CELLS = 2**26
"""At most this many transitions are looked at."""


class Core(NamedTuple):
    """States, the initial one first and then by visits, and their transitions."""

    states: Integers
    sources: Integers
    """Places in ``states``, in order."""
    symbols: Integers
    left_out: Integers
    """The number of each state's defined transitions that are not here."""


def core_of(pdfa: PDFA, visits: Floats, most_transitions: int = MOST_TRANSITIONS) -> Core:
    """Choose the likeliest states, as many as a page has room for.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> core_of(figure_1(), np.array([1.0, 2.0])).states.tolist()
    [0, 1]
    """
    order = _by_visits(visits, pdfa.initial)
    order = order[: max(1, min(MOST_STATES, _MOST_CELLS // len(pdfa.alphabet)))]
    counts = (pdfa.transitions[order] >= 0).sum(axis=1)
    room = np.cumsum(np.minimum(counts, MOST_ROW)) <= most_transitions
    states = order[: max(1, int(room.sum()))]
    sources, symbols = _transitions(pdfa, states)
    left_out = counts[: len(states)] - np.bincount(sources, minlength=len(states))
    return Core(states, sources, symbols, left_out)


def _by_visits(visits: Floats, initial: int) -> Integers:
    """Return all states, the initial one first; of as many visits the lower number comes first."""
    ranks = visits.copy()
    ranks[initial] = np.inf
    return np.argsort(-ranks, kind="stable")


def _transitions(pdfa: PDFA, states: Integers) -> tuple[Integers, Integers]:
    """Return places and symbols of the defined transitions, of each state the likeliest ones."""
    kept = pdfa.transitions[states] >= 0
    if kept.shape[1] > MOST_ROW:
        values = np.where(kept, pdfa.probabilities[states, 1:], -1.0)
        likely = np.argpartition(-values, MOST_ROW, axis=1)[:, :MOST_ROW]
        chosen = np.zeros_like(kept)
        np.put_along_axis(chosen, likely, True, axis=1)
        kept &= chosen
    sources, symbols = kept.nonzero()
    return sources.astype(np.int64), symbols.astype(np.int64)


_LIKELY_WORDS = 20
_LONGEST_WORD = 300
"""Longer words are not listed."""
_MOST_SEARCHED = 1_000_000
"""In automata of more transitions the likeliest words are not searched for."""
_TEXTS = 200_000
"""The names of all symbols together have at most about this many characters."""


def automaton_title(pdfa: PDFA) -> str:
    """Return how the page of an automaton is called if nobody says."""
    states, symbols = len(pdfa), len(pdfa.alphabet)
    return (
        f"PDFA of {states:,} state{'s' * (states != 1)} "
        f"over {symbols:,} symbol{'s' * (symbols != 1)}"
    )


def automaton_parts(pdfa: PDFA) -> list[Part]:
    """Return the parts of an automaton's page."""
    return [Part("automaton", "", automaton_data(pdfa))]


def automaton_data(pdfa: PDFA, most_transitions: int = MOST_TRANSITIONS) -> dict[str, object]:
    """Return what the panel of an automaton shows.

    Arrays are in base 64, little end first. States on the page are numbered anew, the initial one
    first and then by visits; ``numbers`` has their own numbers. So are symbols: the page has those
    of its transitions.
    """
    visits = cut_visits(pdfa)
    core = core_of(pdfa, visits.states, most_transitions)
    words, words_note = _likely_words(pdfa)
    used = np.unique(np.concatenate((core.symbols, *map(np.array, words), [0]))).astype(np.int64)
    return {
        "states": len(pdfa),
        "alphabet": len(pdfa.alphabet),
        "numbers": _base64(core.states, "i4"),
        "visits": _base64(visits.states[core.states], "f8"),
        "allVisits": float(visits.states.sum()),
        "visitedSymbols": visits.symbols,
        "unvisited": int((visits.states == 0).sum()),
        "unreached": len(pdfa) - _possible_states(pdfa),
        **_rows(pdfa, core, used),
        **_texts(pdfa, used),
        "words": [np.searchsorted(used, word).tolist() for word in words],
        "wordsNote": words_note,
    }


def _possible_states(pdfa: PDFA) -> int:
    """Count the states that some word of positive probability reaches."""
    possible = np.where(pdfa.probabilities[:, 1:] > 0, pdfa.transitions, -1)
    return len(reachable_in(possible, pdfa.initial).states)


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
    notation, most = WordNotation(pdfa.alphabet), max(24, _TEXTS // len(symbols))
    return {
        "texts": [shortened(symbol_text(symbol), most) for symbol in symbols],
        "raw": {
            code: str(symbol)
            for code, symbol in enumerate(symbols)
            if len(str(symbol)) <= most and str(symbol) != symbol_text(symbol)
        },
        "spellings": [shortened(notation.line([symbol]), most) for symbol in symbols],
        "joined": are_characters(pdfa.alphabet),
        "terminalText": shortened(symbol_text(pdfa.terminal), most),
    }


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
