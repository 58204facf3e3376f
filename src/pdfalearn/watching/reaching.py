"""The probability that a session will come to an event, or be of a language, from every state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.chains import Flow, normalise_rows
from pdfalearn.checks import check_tables_fit
from pdfalearn.languages import DFA, LanguageLike, language_dfa
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Codes, Floats


@dataclass(frozen=True, eq=False)
class Ahead:
    """What is to come: one table for all states."""

    probabilities: Floats
    """By state of the automaton, and by what the session has done so far."""
    moves: Codes
    """Where each column of a `Scale` leads from what the session has done so far."""


def event_ahead(pdfa: PDFA, event: Symbol) -> Ahead:
    """Return the probability that an event comes before the end, by state; 1 where it has come."""
    pdfa = check_pdfa(pdfa, "pdfa")
    moves = np.zeros((2, len(pdfa.alphabet)), dtype=np.int32)
    moves[0, pdfa.alphabet.index(event)] = 1
    moves[1] = 1
    return _solve(pdfa, moves, np.array([False, True]), is_lasting=True)


def language_ahead(pdfa: PDFA, language: LanguageLike) -> Ahead:
    """Return the probability that the whole session will be in a language, by state."""
    pdfa = check_pdfa(pdfa, "pdfa")
    dfa: DFA = language_dfa(language, pdfa.alphabet)
    # What can no longer be in the language is a last state.
    moves = np.where(dfa.table < 0, np.int32(len(dfa)), dfa.table)
    return _solve(pdfa, moves, np.append(dfa.accepting, False), is_lasting=False)


def event_probabilities(pdfa: PDFA, event: Symbol) -> Floats:
    """Return the probability that an event comes before the end of the word, from each state on.

    Examples
    --------
    >>> from pdfalearn import PDFA
    >>> coin = PDFA(alphabet="ht", transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    >>> event_probabilities(coin, "h").round(6).tolist()
    [0.333333]
    """
    return event_ahead(pdfa, event).probabilities[:, 0]


def _solve(pdfa: PDFA, moves: Codes, accepting: np.ndarray, *, is_lasting: bool) -> Ahead:
    """Solve for the pairs of a state and of what was done so far, all of them at once."""
    kinds, symbols = moves.shape
    pairs = len(pdfa) * kinds
    check_tables_fit(
        40 * pairs * symbols,
        f"{pairs:,} pairs of states and {symbols:,} symbols",
        "name a language of fewer states",
    )
    rows = normalise_rows(pdfa.probabilities)
    shape = (len(pdfa), kinds, symbols)
    weights = np.broadcast_to(rows[:, None, 1:], shape)
    after = np.broadcast_to(moves, shape)
    successors = pdfa.transitions[:, None, :].astype(np.int64) * kinds + moves
    ends = np.repeat(rows[:, 0], kinds)
    # An event that has come is never undone: there the walk stops.
    hits = np.broadcast_to(accepting[after], shape) if is_lasting else np.zeros(shape, dtype=bool)
    hit = np.where(hits, weights, 0.0).sum(axis=2).reshape(-1)
    followed = (weights > 0) & ~hits
    sources, _ = followed.reshape(pairs, symbols).nonzero()
    flow = Flow(sources, successors[followed], weights[followed], ends + hit)
    is_done = np.tile(accepting, len(pdfa))
    gains = hit if is_lasting else np.where(is_done, ends, 0.0)
    values = np.minimum(flow.values(gains), 1.0)
    if is_lasting:
        values[is_done] = 1.0
    # The terminal and unknown events: a new session, and the same place.
    stay = np.arange(kinds, dtype=np.int32)
    table = np.column_stack((np.zeros(kinds, dtype=np.int32), moves, stay))
    return Ahead(values.reshape(len(pdfa), kinds), table)
