"""Pages of an automaton with recorded words: what they take, where they are odd, what changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.analysis import Tally, count_taken, judge_changes
from pdfalearn.corpora import Corpus, CorpusLike, Others, as_corpus
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Changes, PairChange
from pdfalearn.text import are_characters, leave_out_common_ends, symbol_text
from pdfalearn.typing import Floats
from pdfalearn.viewing.automaton import Beside, automaton_data, finite_or_none
from pdfalearn.viewing.page import Part
from pdfalearn.watching import score_sessions

# At most this many odd words, events and transitions are on a page.
_MOST_ODD, _MOST_CHANGES = 50, 100
# Less than the probability of any event that is possible.
_IMPOSSIBLE = 1e-260
# Of the way to an odd step this many symbols are followed.
_MOST_STEPS = 2_000
# Symbols that are shown of what comes before.
_SHOWN = 6


def recorded_parts(
    pdfa: PDFA, corpora: list[CorpusLike], names: Sequence[str] | None = None
) -> list[Part]:
    """Return the parts of the page of an automaton with one corpus, or with two."""
    given = [as_corpus(corpus) for corpus in corpora]
    alphabet, tallies = count_taken(pdfa, given)
    if names is not None and len(names) != tallies[0].words:
        raise InputError(f"there are {len(names):,} names for {tallies[0].words:,} words")
    rates = sum(_known(pdfa, tally) / max(tally.words, 1) for tally in tallies)
    observed = _with_rows(pdfa, _shares(np.asarray(rates), pdfa.probabilities))
    rows = [_shares(_known(pdfa, tally), np.zeros_like(rates)) for tally in tallies]
    if len(rows) == 1:
        beside = Beside(("automaton", "words"), (pdfa.probabilities, rows[0]), {})
        return [
            Part("automaton", "", automaton_data(observed, beside=beside)),
            Part("odd", "Odd words", odd_data(pdfa, given[0], tallies[0], names)),
        ]
    changes = judge_changes(pdfa, alphabet, tallies[0], tallies[1])
    signs = {
        (one.source, 0 if one.symbol == pdfa.terminal else pdfa.alphabet.index(one.symbol) + 1): (
            1 if one.probability_b > one.probability_a else -1
        )
        for one in changes.transitions
        if one.symbol is not None
    }
    beside = Beside(("A", "B"), (rows[0], rows[1]), signs)
    return [
        Part("changes", "What has changed", changes_data(changes)),
        Part("automaton", "", automaton_data(observed, beside=beside)),
    ]


class OddWord(NamedTuple):
    """A word and its most surprising step."""

    number: int
    length: int
    codes: list[int]
    """Its symbols, as places in the alphabet."""
    position: int
    symbol: Symbol
    surprisal: float
    """Infinite where the step is impossible or unknown."""


def find_odd_words(pdfa: PDFA, corpus: Corpus) -> list[OddWord]:
    """Find the words with the most surprising steps, in the order of ``score --each``."""
    scores, before = score_sessions(pdfa, corpus, other=_IMPOSSIBLE), 0
    ranked, words = scores.rank("largest")[:_MOST_ODD].tolist(), dict[int, list[int]]()
    for part, _ in corpus.read(pdfa.alphabet, Others()):
        here = (number for number in ranked if 0 <= number - before < len(part))
        words |= {number: part[number - before] for number in here}
        before += len(part)
    found = []
    for number in ranked:
        known = scores.describe(number)
        surprisal = inf if known["unknown"] + known["impossible"] else known["largest"]
        symbol = "(unknown)" if known["event"] is None else known["event"]
        place, word = known["after"], words[number]
        found.append(OddWord(number + 1, len(word), word, place, symbol, surprisal))
    return found


def _known(pdfa: PDFA, tally: Tally) -> Floats:
    """Return how often each step was taken that leads to a state, or ends the word."""
    counts = tally.counts[:, :-1].copy()
    counts[:, 1:][pdfa.transitions < 0] = 0.0
    return counts


def _shares(counts: Floats, otherwise: Floats) -> Floats:
    """Return counts divided by the sums of their rows, and other rows where there are none."""
    sums = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.where(sums > 0, counts / np.where(sums > 0, sums, 1), otherwise))


def _with_rows(pdfa: PDFA, rows: Floats) -> PDFA:
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=pdfa.transitions,
        probabilities=rows,
        initial=pdfa.initial,
    )


def odd_data(
    pdfa: PDFA, corpus: Corpus, tally: Tally, names: Sequence[str] | None
) -> dict[str, Any]:
    """Return the words with the most surprising steps, the most surprising first."""
    events = [symbol_text(symbol) for symbol in (*pdfa.alphabet, "(unknown)")]
    shorts = leave_out_common_ends(events)
    is_joined = are_characters(pdfa.alphabet)
    entries = []
    for one in find_odd_words(pdfa, corpus):
        begin = one.codes[: min(one.position, _MOST_STEPS)]
        known = [code for code in begin if code < len(pdfa.alphabet)]  # others lead nowhere
        states = accumulate(
            known, lambda state, code: int(pdfa.table[state, code]), initial=pdfa.initial
        )
        before = [shorts[code] for code in one.codes[max(0, one.position - _SHOWN) : one.position]]
        entries.append(
            {
                "name": f"{one.number:,}" if names is None else names[one.number - 1],
                "length": one.length,
                "position": one.position,
                "symbol": symbol_text(one.symbol),
                "surprisal": finite_or_none(one.surprisal),
                "before": ("… " if one.position > _SHOWN else "")
                + ("" if is_joined else " ").join(before),
                "states": list(states),
                "texts": [events[code] for code in known],
            }
        )
    return {
        "words": tally.words,
        "kind": "word" if names is None else "session",
        "cut": tally.cut,
        "entries": entries,
    }


def changes_data(changes: Changes) -> dict[str, Any]:
    """Return the tables of what has changed; transitions name the states that they join."""

    def transitions(pair: PairChange) -> list[dict[str, Any]]:
        return [vars(one) | {"symbol": changes.event_text(one.symbol)} for one in pair.transitions]

    return {
        "statement": changes.statement,
        "events": changes.event_cells()[:_MOST_CHANGES],
        "moreEvents": max(0, len(changes.events) - _MOST_CHANGES),
        "pairs": [
            {"source": one.source, "to": changes.target_text(one), "transitions": transitions(one)}
            for one in changes.pairs[:_MOST_CHANGES]
        ],
        "morePairs": max(0, len(changes.pairs) - _MOST_CHANGES),
    }
