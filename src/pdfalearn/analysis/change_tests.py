"""What has changed between two corpora: each transition of an automaton is tested, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import gammaln, stdtr, xlogy

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.checks import check_share
from pdfalearn.corpora import (
    Corpus,
    CorpusLike,
    Others,
    RecordedWords,
    as_corpus,
    map_parts,
)
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import Changes, EventChange, TransitionChange
from pdfalearn.typing import Codes, Flags, Floats, Integers
from pdfalearn.words import Words, visited_states

# The G-test needs this many words in the smaller corpus, with the transition and with others.
_ENOUGH = 10
FALSE_ALARMS = 0.05


def find_changes(
    pdfa: PDFA,
    a: CorpusLike,
    b: CorpusLike,
    *,
    false_alarms: float = FALSE_ALARMS,
    processes: int = 1,
) -> Changes:
    """Find the transitions of an automaton that two corpora take differently; see `compare`."""
    pdfa = check_pdfa(pdfa, "model")
    false_alarms = check_share(false_alarms, "false_alarms")
    alphabet, (first, second) = count_taken(pdfa, [a, b], processes)
    return judge_changes(pdfa, alphabet, first, second, false_alarms)


def count_taken(
    pdfa: PDFA, corpora: Sequence[CorpusLike], processes: int = 1
) -> tuple[Alphabet, list[Tally]]:
    """Count what the words of corpora do in an automaton; return all symbols, too."""
    given = [as_corpus(corpus) for corpus in corpora]
    others = Others()
    for corpus in given:
        for found in map_parts(partial(_find_unknown, pdfa.alphabet), corpus, processes):
            others.join(found)
    unknown = [one for one in others.counts if one != pdfa.terminal]
    # The automaton's symbols stand first, so that its codes are those of the words.
    alphabet = Alphabet((*pdfa.alphabet, *unknown), pdfa.terminal)
    tallies = []
    for corpus in given:
        first, *rest = map_parts(_Counting(pdfa, alphabet), corpus, processes)
        for other in rest:
            first.add(other)
        tallies.append(first)
    return alphabet, tallies


def _find_unknown(alphabet: Alphabet, corpus: Corpus) -> Others:
    """Return the events of a part of a corpus that an alphabet does not have."""
    others = Others()
    for _ in corpus.read(alphabet, others):
        pass
    return others


class Tally:
    """Sums over words: x is how often a word takes a transition, m how often it visits the state.

    All are tables with a row for each state and a column for each symbol; column 0 is the end of
    the word, and the last one all events that the automaton does not have.
    """

    def __init__(self, states: int, columns: int, events: int) -> None:
        self.words = self.cut = 0
        # How many words have each event; the last one is all those that are not counted one by one.
        self.events = np.zeros(events + 1)
        self.visits, self.squared_visits = np.zeros(states), np.zeros(states)  # Σ m and Σ m²
        self.visiting = np.zeros(states)  # how many words visit the state
        shape = (states, columns)
        self.counts, self.squares, self.products = (np.zeros(shape) for _ in range(3))
        self.taking, self.only = np.zeros(shape), np.zeros(shape)  # words with x > 0, with x = m
        self.firsts = np.zeros(shape)  # words that take it at their first visit

    def add(self, other: Tally) -> None:
        """Add what other words have."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def note(self, part: RecordedWords, pdfa: PDFA, table: Codes) -> None:
        """Add some words."""
        words, is_cut = part
        columns = self.counts.shape[1]
        self.words += len(words)
        self.cut += int(is_cut.sum())
        owners = np.repeat(np.arange(len(words)), words.lengths)
        both = np.unique(owners * len(self.events) + words.symbols)
        self.events += np.bincount(both % len(self.events), minlength=len(self.events))
        known = Words(np.minimum(words.symbols, columns - 2), words.offsets)
        states = visited_states(table, pdfa.initial, known)
        has_step = states >= 0
        has_step[words.ends[is_cut]] = False
        owners = np.repeat(np.arange(len(words)), words.lengths + 1)[has_step]
        places = (states * np.int64(columns) + known.next_columns())[has_step]
        # Every word with each state that it visits, then with each transition that it takes.
        keys = owners * np.int64(len(pdfa)) + places // columns
        visits, begins, many = np.unique(keys, return_index=True, return_counts=True)
        self._sum("visiting", visits % len(pdfa))
        self._sum("visits", visits % len(pdfa), many)
        self._sum("squared_visits", visits % len(pdfa), many.astype(float) ** 2)
        self._sum("firsts", places[begins])
        taken, counts = np.unique(owners * self.counts.size + places, return_counts=True)
        places = taken % self.counts.size
        keys = taken // self.counts.size * len(pdfa) + places // columns
        many = many[np.searchsorted(visits, keys)]
        self._sum("taking", places)
        self._sum("only", places[counts == many])
        self._sum("counts", places, counts)
        self._sum("squares", places, counts.astype(float) ** 2)
        self._sum("products", places, counts.astype(float) * many)

    def _sum(self, name: str, places: Integers, values: Floats | Integers | None = None) -> None:
        table = getattr(self, name)
        table += np.bincount(places, values, table.size).reshape(table.shape)

    def variances(self, rows: Floats) -> Floats:
        """Return the variance of each row's probabilities, with words as what is independent.

        The rows are those of both corpora together: with its own, a single long word would make
        the mean of its corpus, and seem to vary little from it.
        """
        squares = self.squares - 2 * rows * self.products
        squares += rows**2 * self.squared_visits[:, None]
        enlarged = self.visiting / np.maximum(self.visiting - 1, 1)
        sums = np.maximum(self.visits, 1)
        return np.asarray(np.maximum(squares, 0) * (enlarged / sums**2)[:, None])


@dataclass
class _Counting:
    """Counts the words of a part of a corpus."""

    pdfa: PDFA
    alphabet: Alphabet

    def __call__(self, corpus: Corpus) -> Tally:
        """Return the sums over all words of the part."""
        states, columns = self.pdfa.probabilities.shape
        tally = Tally(states, columns + 1, len(self.alphabet))
        table = np.column_stack((self.pdfa.table, np.full(states + 1, -1, dtype=np.int32)))
        for part in corpus.read(self.alphabet, Others()):
            tally.note(part, self.pdfa, table)
        return tally


class _Tests(NamedTuple):
    """The tests of some hypotheses."""

    p_values: Floats
    least: Floats  # the least p-value that is possible with this many words
    are_exact: Flags


def judge_changes(
    pdfa: PDFA, alphabet: Alphabet, a: Tally, b: Tally, false_alarms: float = FALSE_ALARMS
) -> Changes:
    """Test all transitions and events of what was counted of two corpora."""
    rows, share, change = _rows_and_shares(a, b)
    steps = _test_transitions(a, b)
    events_a, events_b = a.events[:-1], b.events[:-1]
    event_p, event_least = _fisher(events_a, events_b, a.words, b.words)
    p_values = np.concatenate((steps.p_values.ravel(), event_p))
    least = np.concatenate((steps.least.ravel(), event_least))
    adjusted, tests = _adjust(p_values, least, false_alarms)
    of_steps = adjusted[: share.size].reshape(share.shape)
    names: list[Symbol] = [pdfa.terminal, *pdfa.alphabet, None]
    kinds: tuple[Literal["G", "Fisher"], ...] = ("G", "Fisher")

    def transition(state: int, column: int) -> TransitionChange:
        place = state, column
        target = int(pdfa.table[state, column - 1]) if 0 < column < len(names) - 1 else -1
        return TransitionChange(
            source=state,
            symbol=names[column],
            target=None if target < 0 else target,
            share=float(share[place]),
            count_a=int(a.counts[place]),
            count_b=int(b.counts[place]),
            probability_a=float(rows[0][place]),
            probability_b=float(rows[1][place]),
            test=kinds[int(steps.are_exact[place])],
            p_value=float(steps.p_values[place]),
            adjusted=float(of_steps[place]),
        )

    changed = [transition(*place) for place in np.argwhere(of_steps <= false_alarms).tolist()]
    only = np.flatnonzero((events_a > 0) != (events_b > 0))
    events = [
        EventChange(
            alphabet.symbols[code],
            "vanished" if events_a[code] else "new",
            int(events_a[code] + events_b[code]),
            float(event_p[code]),
            None if np.isnan(p := adjusted[share.size + code]) else float(p),
        )
        for code in only.tolist()
    ]
    return Changes(
        pdfa=pdfa,
        words_a=a.words,
        words_b=b.words,
        cut_a=a.cut,
        cut_b=b.cut,
        false_alarms=false_alarms,
        tests=tests,
        change=change,
        transitions=tuple(sorted(changed, key=lambda one: -one.share)),
        events=tuple(sorted(events, key=lambda one: (one.p_value, -one.words))),
    )


def _rows_and_shares(a: Tally, b: Tally) -> tuple[tuple[Floats, Floats], Floats, float]:
    """Return both tables of probabilities, each transition's part of the change, and all of it.

    The change is the Jensen-Shannon divergence of the rows of a state, weighted by visits a word.
    The part of a transition is not negative, as its probability in both together is the mean.
    """
    rows = tuple(one.counts / np.maximum(one.visits, 1)[:, None] for one in (a, b))
    rates = [one.visits[:, None] / max(one.words, 1) for one in (a, b)]
    flows = [rate * row for rate, row in zip(rates, rows, strict=True)]
    mean = sum(flows) / np.maximum(sum(rates), 1e-300)
    parts = [
        xlogy(flow, np.divide(row, mean, where=mean > 0, out=np.ones_like(mean)))
        for flow, row in zip(flows, rows, strict=True)
    ]
    parts = np.maximum(parts[0] + parts[1], 0.0) / 2
    whole = float(parts.sum())
    return (rows[0], rows[1]), parts / (whole or 1.0), whole


def _test_transitions(a: Tally, b: Tally) -> _Tests:
    """Test whether each transition's probability is the same in both.

    The G-test is the likelihood ratio's, on counts that are divided by the design effect: by how
    much more the probabilities vary from word to word than if all events were independent. Where
    few words take the transition, or few do not, only the first visit of each word to the state
    counts: first visits are independent, and Fisher's test is exact.
    """
    p_values, least = _fisher(
        a.firsts, b.firsts, a.firsts.sum(1)[:, None], b.firsts.sum(1)[:, None]
    )
    words = np.minimum(a.visiting, b.visiting) / np.maximum(a.visiting + b.visiting, 1)
    other = (a.visiting + b.visiting)[:, None] - a.only - b.only
    is_large = np.minimum(a.taking + b.taking, other) * words[:, None] >= _ENOUGH
    p_values[is_large], least[is_large] = _likelihood_ratio(a, b, is_large), 0.0
    return _Tests(p_values, least, ~is_large)


def _likelihood_ratio(a: Tally, b: Tally, chosen: Flags) -> Floats:
    """Return p-values of the G-test with the design effect, and half a count for continuity."""
    states = chosen.nonzero()[0]
    of_a, of_b = a.visits[states], b.visits[states]
    count_a, count_b = a.counts[chosen], b.counts[chosen]
    mean = (count_a + count_b) / (of_a + of_b)
    rows = (a.counts + b.counts) / np.maximum(a.visits + b.visits, 1)[:, None]
    own, other = a.variances(rows)[chosen], b.variances(rows)[chosen]
    effect = np.maximum(1.0, (own + other) / (mean * (1 - mean) * (1 / of_a + 1 / of_b)))
    # Welch's degrees of freedom, by the words that visit the state.
    words_a, words_b = a.visiting[states] - 1, b.visiting[states] - 1
    weights = own**2 / words_a + other**2 / words_b
    freedom = np.divide(
        (own + other) ** 2, weights, where=weights > 0, out=np.asarray(words_a + words_b)
    )
    gap = count_a - mean * of_a
    shift = np.sign(gap) * np.minimum(np.abs(gap), effect / 2)
    count_a, count_b = count_a - shift, count_b + shift
    ratio = sum(
        xlogy(count, np.maximum(count, 1e-300) / expected)
        for part, whole in ((count_a, of_a), (count_b, of_b))
        for count, expected in ((part, mean * whole), (whole - part, (1 - mean) * whole))
    )
    return np.asarray(2 * stdtr(freedom, -np.sqrt(np.maximum(2 * ratio / effect, 0))))


def _fisher(
    a: Floats, b: Floats, of_a: Floats | float, of_b: Floats | float
) -> tuple[Floats, Floats]:
    """Return Fisher's p-values of many tables, twice those of the smaller side, and the least ones.

    Of ``of_a`` words ``a`` have something, and of ``of_b`` words ``b``.
    """
    of_a, of_b = np.broadcast_to(of_a, a.shape), np.broadcast_to(of_b, a.shape)
    both = a + b
    low, high = np.maximum(0, both - of_b), np.minimum(both, of_a)
    constant = _log_choose(of_a + of_b, both)

    def chance(count: Floats) -> Floats:
        logs = _log_choose(of_a, count) + _log_choose(of_b, both - count) - constant
        return np.exp(np.minimum(logs, 0.0))

    ends = np.minimum(chance(low), chance(high))
    least = np.where(low < high, np.minimum(1.0, 2 * ends), 1.0)
    # From the count outwards, away from the mean: each term is the one before times a ratio.
    mean = both * of_a / np.maximum(of_a + of_b, 1)
    step = np.where(a >= mean, 1.0, -1.0)
    count, term = a.astype(float), chance(a)
    tail = term.copy()
    while (term > 1e-17 * tail).any():
        up = (
            (of_a - count) * (both - count) / np.maximum((count + 1) * (of_b - both + count + 1), 1)
        )
        down = (
            count * (of_b - both + count) / np.maximum((of_a - count + 1) * (both - count + 1), 1)
        )
        term = term * np.maximum(np.where(step > 0, up, down), 0.0)
        tail += term
        count = count + step
    return np.minimum(1.0, np.where(low < high, 2 * tail, 1.0)), least


def _log_choose(total: Floats, chosen: Floats) -> Floats:
    return np.asarray(gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1))


def _adjust(p_values: Floats, least: Floats, level: float) -> tuple[Floats, int]:
    """Return p-values after Holm, nan for what is not tested, and how many tests there are.

    What no count could make significant is not tested (Tarone 1990): that depends on how many
    words there are with something, and not on how they are shared out.
    """
    order = np.sort(least)
    ranks = np.arange(1, len(order) + 1)
    # The least k so that at most k tests could reach level / k.
    enough = np.searchsorted(order, level / ranks, side="right") <= ranks
    limit = level / ranks[enough.argmax()] if enough.any() else 0.0
    tested = np.flatnonzero(least <= limit)
    adjusted = np.full(len(p_values), np.nan)
    ranked = tested[np.argsort(p_values[tested], kind="stable")]
    steps = p_values[ranked] * np.arange(len(ranked), 0, -1)
    adjusted[ranked] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted, len(tested)
