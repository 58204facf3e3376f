"""Questions to a frontier: what its automaton says exactly, corrected for the model behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from pdfalearn.analysis.probabilities import Product, probability
from pdfalearn.checks import check_share
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA, LanguageLike, complement, intersection, language_dfa
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Bounds, Frontier, KeptWords
from pdfalearn.text import count_text, described
from pdfalearn.typing import Codes, Flags, Floats

# Positions times symbols that are looked at together.
_AT_ONCE = 2**20
# Intervals are wider by this on either side.
_ROUNDING = 1e-12
# Fewer held-out words than these decide nothing.
_FEWEST_WORDS = 5
# The automaton's figure is outside of an interval if it is by this share of itself.
_OUTSIDE = 1e-5


@dataclass(frozen=True)
class Estimate(Bounds):
    """An interval for the model behind a frontier, and what the automaton says.

    Examples
    --------
    >>> from pdfalearn import Budget, FunctionModel, distill, probability
    >>> model = FunctionModel(lambda words: [[0.5, 0.3, 0.2]] * len(words), "ab")
    >>> frontier = distill(model, budget=Budget(max_symbols=500), seed=1)
    >>> found = probability(frontier, "a*")
    >>> found.states, round(found.of_automaton, 4), found.low <= 0.5 / 0.7 <= found.high
    (1, 0.7143, True)
    """

    value: float
    """The estimate: the automaton's figure with its correction."""
    of_automaton: float
    """What is exactly so of the automaton."""
    states: int
    """How many states the automaton has."""
    words: int
    """How many held-out words decide: they leave what was learnt from where it may still match.

    With fewer than five the interval is what the model's answers alone make certain.
    """

    @property
    def disagrees(self) -> bool:
        """Whether the automaton's figure lies outside of the interval, not by rounding alone."""
        slack = _OUTSIDE * self.of_automaton
        return not self.low - slack <= self.of_automaton <= self.high + slack

    def __str__(self) -> str:
        if self.words < _FEWEST_WORDS:
            why = "certain by its answers, as too few held-out words say more"
        else:
            words = count_text(self.words, "held-out words")
            why = f"with confidence {self.confidence:g} where {words} decide"
        text = (
            f"[{self.low:.6g}, {self.high:.6g}] for {self.holds_for}, {why}; exactly "
            f"{self.of_automaton:.6g} of the automaton of {count_text(self.states, 'states')}"
        )
        if not self.disagrees:
            return text
        return (
            f"{text}\nwarning: the automaton's figure is outside, so it is not near enough for "
            "this question; explore asks the model itself"
        )


def estimate_probability(
    frontier: Frontier,
    language: LanguageLike,
    given: LanguageLike | None = None,
    *,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate for the model behind a frontier how likely a word is in a language.

    Parameters
    ----------
    frontier : Frontier
        What `distill` has found of a model whose own words it drew.
    language, given
        As for `probability`.
    confidence : float
        How often such intervals hold the true probability, about.

    Notes
    -----
    Let V(u) be how likely the automaton comes to a word of the language after the prefix u, and let
    the change at u be what the model expects of V one symbol later, less V(u): 0 where both have
    the same distribution. Then the model's probability is V of the empty word plus the expected sum
    of the changes along its words. At the prefixes that were learnt from, this is known exactly.
    Beyond them it is estimated from the held-out words that leave them where the language is open,
    by an interval of Student's, as if one more had come on each side, twice as far from their mean
    as the farthest is; how likely words leave there is known. Fewer than five words decide nothing.
    So the interval is the narrower, the nearer the automaton is and the shorter words are, and it
    is never wider than what is certain.

    Examples
    --------
    >>> from pdfalearn import Budget, distill
    >>> from pdfalearn.datasets import figure_1
    >>> frontier = distill(figure_1(), budget=Budget(max_symbols=300), sizes=[2])
    >>> estimate = estimate_probability(frontier, [["a"]])
    >>> estimate.low <= 0.5 <= estimate.high, round(estimate.of_automaton, 3)
    (True, 0.5)
    """
    kept, pdfa = frontier.kept_words, frontier.best
    if kept is None:
        raise InputError(
            "no words of a model are kept with this frontier: it is of recorded words, of another "
            "sampler than ModelWords, or from an older file; give its automaton, frontier.best, "
            "or ask the model itself by explore"
        )
    confidence = check_share(confidence, "confidence")
    dfa = language_dfa(language, pdfa.alphabet)
    if given is None:
        low, high, value, exact, words = _estimate(kept, pdfa, dfa, confidence)
    else:
        condition = language_dfa(given, pdfa.alphabet)
        # Each part has its own interval, and both hold at once.
        parts = [intersection(dfa, condition), intersection(complement(dfa), condition)]
        both, alone = (_estimate(kept, pdfa, one, (1 + confidence) / 2) for one in parts)
        if both[3] + alone[3] <= 0 or both[1] + alone[1] <= 0:
            raise InputError(f"the condition {described(given)} has probability 0; take another")
        low, high = _share(both[0], alone[1]), _share(both[1], alone[0])
        value, exact = _share(both[2], alone[2]), _share(both[3], alone[3])
        words = max(both[4], alone[4])
    statement = "the model behind the frontier"
    return Estimate(low, high, statement, confidence, (), value, exact, len(pdfa), words)


def _share(part: float, other: float) -> float:
    return part / (part + other) if part else 0.0


def _estimate(
    kept: KeptWords, pdfa: PDFA, dfa: DFA | None, confidence: float
) -> tuple[float, float, float, float, int]:
    """Return low, high and estimate for the model, what is so of the automaton, and the words."""
    if dfa is None:
        return 0.0, 0.0, 0.0, 0.0, 0
    levels = list(_levels(kept.parents[1:]))
    # How likely the model comes to each prefix, and which one on its way was not learnt from.
    reached, exits = np.ones(len(kept.rows)), np.zeros(len(kept.rows), dtype=np.int64)
    before = kept.answers[kept.rows[kept.parents], kept.symbols + 1]
    for level in levels:
        above = kept.parents[level]
        reached[level] = before[level] * reached[above]
        first = np.where(kept.is_learnt[level], 0, np.arange(level.start, level.stop))
        exits[level] = np.where(exits[above] > 0, exits[above], first)
    known = np.where(kept.is_learnt, reached, 0.0)
    exact = probability(pdfa, dfa)
    along = _Along.of(kept, _refit(kept, pdfa, known, levels), dfa, levels)
    beyond = np.where(kept.is_learnt, 0.0, along.changes)
    for level in levels:
        beyond[level] += beyond[kept.parents[level]]
    # What leaves the known prefixes and may still come to the language: to others, or to be cut.
    inner = np.where(along.is_open, known, 0.0)
    leaving = known * along.open_shares
    np.subtract.at(leaving, kept.parents[1:], inner[1:])
    leaving = np.maximum(leaving, 0.0)
    cut, left = float(leaving[kept.is_cut].sum()), float(leaving[~kept.is_cut].sum())
    promised = float((known * along.onwards)[kept.is_cut].sum())
    at_prefixes = along.exact + float(known @ along.changes) - promised
    least = float((known * along.endings).sum())
    words = kept.ends[(exits[kept.ends] > 0) & along.is_open[exits[kept.ends]]]
    added = beyond[words] - np.where(kept.is_cut[words], along.onwards[words], 0.0)
    open_ends = np.where(kept.is_cut[words], along.open_shares[words], 0.0)
    low, high = at_prefixes, at_prefixes + cut
    if left > 0:
        low += left * _bound_mean(added, -1, confidence)
        high += left * _bound_mean(added + open_ends, 1, confidence)
    low, high = max(low, least) - _ROUNDING, min(high, least + left + cut) + _ROUNDING
    low, high = max(0.0, low), min(1.0, high)
    mean = float((added + open_ends / 2).mean()) if len(words) else 0.0
    value = min(max(at_prefixes + left * mean + cut / 2, low), high)
    return low, high, value, exact, len(words)


def _refit(kept: KeptWords, pdfa: PDFA, known: Floats, levels: list[slice]) -> PDFA:
    """Return an automaton with rows that have seen nothing of the held-out words.

    Which states there are may have: contexts are chosen again with all answers.
    """
    states = _run(pdfa.table, pdfa.initial, kept, levels)
    sums = np.zeros((len(pdfa) + 1, kept.answers.shape[1]))  # the last is that of no state
    np.add.at(sums, states, known[:, None] * kept.answers[kept.rows])
    possible = np.pad(pdfa.transitions >= 0, ((0, 0), (1, 0)), constant_values=True)
    rows = sums[:-1] * possible
    # States that only held-out words come to have the mean row.
    rows[~rows.any(axis=1)] = rows.sum(axis=0) + _ROUNDING
    rows = rows * possible / (rows * possible).sum(axis=1, keepdims=True)
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=pdfa.transitions,
        probabilities=rows,
        initial=pdfa.initial,
    )


class _Along(NamedTuple):
    """What automaton and language say along prefixes."""

    exact: float
    # By how much what comes next is expected to be likelier to come to the language.
    changes: Floats
    # How likely it does so after another symbol, by the model's symbol and then the automaton.
    onwards: Floats
    # How likely the word ends here in the language, and goes on so that it may still come to it.
    endings: Floats
    open_shares: Floats
    is_open: Flags

    @classmethod
    def of(cls, kept: KeptWords, pdfa: PDFA, dfa: DFA, levels: list[slice]) -> _Along:
        """Run automaton and language along the prefixes."""
        product = Product.of(pdfa, dfa)
        # Beyond the automaton's own words, and where the language is out of reach, it is 0.
        chances = np.zeros((len(pdfa) + 1, len(dfa) + 1))
        chances[product.walk.lefts, product.walk.rights] = product.flow.values(product.successes)
        states = _run(pdfa.table, pdfa.initial, kept, levels)
        places = _run(dfa.table, dfa.initial, kept, levels)
        changes, onwards, open_shares = np.zeros((3, len(states)))
        ends = np.append(dfa.accepting, False)
        endings = kept.answers[kept.rows, 0] * ends[places]
        size = max(1, _AT_ONCE // kept.answers.shape[1])
        for begin in range(0, len(states), size):
            part = slice(begin, begin + size)
            here, there, rows = states[part], places[part], kept.answers[kept.rows[part], 1:]
            after = dfa.table[there]
            onwards[part] = (rows * chances[pdfa.table[here], after]).sum(axis=1)
            open_shares[part] = (rows * (after >= 0)).sum(axis=1)
            changes[part] = endings[part] + onwards[part] - chances[here, there]
        exact = float(chances[pdfa.initial, dfa.initial])
        return cls(exact, changes, onwards, endings, open_shares, places >= 0)


def _levels(parents: Codes) -> Iterator[slice]:
    """Yield the prefixes of each length from 1 on, given the parents of these in their order."""
    highest, begin = np.maximum.accumulate(parents), 1
    while begin <= len(parents):
        end = 1 + int(np.searchsorted(highest, begin))
        yield slice(begin, end)
        begin = end


def _run(table: Codes, initial: int, kept: KeptWords, levels: list[slice]) -> Codes:
    """Return the state after each prefix, -1 where it is undefined."""
    states = np.full(len(kept.parents), initial, dtype=np.int32)
    for level in levels:
        states[level] = table[states[kept.parents[level]], kept.symbols[level]]
    return states


def _bound_mean(values: Floats, side: int, confidence: float) -> float:
    """Return one end of the interval of a mean; infinite if there are too few values to tell.

    No value is further than 1 from another one. Where all are the same, a share of 3 / count may
    be so far off and not have been seen, in one case of twenty.
    """
    from scipy.special import stdtrit

    if len(values) < _FEWEST_WORDS:
        return side * inf
    if np.ptp(values) <= _ROUNDING:
        return float(values[0]) + side * 3 / len(values)
    count = len(values) + 1
    farthest = values.max() if side > 0 else values.min()
    values = np.append(values, 2 * farthest - values.mean())
    error = float(values.std(ddof=1)) / sqrt(count)
    quantile = float(stdtrit(count - 2, (1 + confidence) / 2))
    return float(values.mean()) + side * quantile * error
