"""Which of several automata to take, by their losses on the same words; which row of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence import relation_text
from pdfalearn.text import count_text
from pdfalearn.typing import Floats

if TYPE_CHECKING:
    from pdfalearn.results.sweeps import Sweep, SweepRow


_STEP = 1.2
# Curves that bend less than this have no knee.
_LEAST = 0.4
# The knee is where this share of the fall is left.
_EARLIER = 0.25
IMPOSSIBLE = 20.0
"""The nats that an infinite divergence counts as where automata are compared."""
NOTHING = 1e-6
"""Smaller differences of divergences do not count."""
# States that become this many times more from one run to the next keep growing.
_GROWTH = 1.5

_DISTILL = "distill: it finds the automaton of each size that is nearest to the model"


def knee(states: Sequence[int], losses: Sequence[float]) -> int | None:
    """Return the number of states where a curve bends most, or None if it hardly bends.

    The bend at s is [ℓ(s/1.2) - ℓ(s)] - [ℓ(s) - ℓ(1.2·s)], with steps of at least one state, where
    ℓ is the logarithm of the least loss of any automaton of at most that size.
    """
    if len(states) < 3:
        return None
    sizes = np.asarray(states)
    logs = np.log(np.maximum(np.minimum.accumulate(losses), 1e-12))
    below, above = np.minimum(sizes - 1, sizes / _STEP), np.maximum(sizes + 1, sizes * _STEP)
    inside = (below >= sizes[0]) & (above <= sizes[-1])
    if not inside.any():
        return None
    # The largest automaton of at most each size, as an index.
    places = np.searchsorted(sizes, (below[inside], sizes[inside], above[inside]), "right") - 1
    before, here, after = logs[places]
    bends = before - 2 * here + after
    best = int(bends.argmax())
    if not bends[best] > _LEAST:
        return None
    # Within the step the loss may have fallen earlier.
    enough = here[best] + _EARLIER * (before[best] - here[best])
    return int(sizes[int((logs <= enough).argmax())])


def standard_error(losses: Floats, lengths: Floats) -> float:
    """Return the standard error of the ratio of sums over words that were drawn independently."""
    count = len(losses)
    if count < 2:
        return float("inf")
    ratio = losses.sum() / lengths.sum()
    # The delta method: a ratio of sums varies as its residuals do.
    spread = ((losses - ratio * lengths) ** 2).sum() / (count - 1)
    return float(np.sqrt(spread * count) / lengths.sum())


def comparable(losses: Floats, infinite: Floats) -> Floats:
    """Return losses that can be compared between automata, even if some of them are infinite."""
    return np.asarray(losses + IMPOSSIBLE * infinite)


def is_worse(difference: Floats, lengths: Floats, errors: float) -> bool:
    """Return whether losses are larger by more than some standard errors of their difference."""
    allowed = errors * standard_error(difference, lengths) if errors else 0.0
    return bool(difference.sum() / lengths.sum() > max(allowed, NOTHING))


def not_worse(losses: Floats, lengths: Floats) -> NDArray[np.bool_]:
    """Return which of some automata, in the order of size, no smaller one beats clearly.

    "Clearly" means by two standard errors of the difference over the same words.
    """
    kept = np.ones(len(losses), dtype=bool)
    best = 0
    for place in range(1, len(losses)):
        difference = losses[place] - losses[best]
        kept[place] = not is_worse(difference, lengths, 2)
        if difference.sum() < 0:
            best = place
    return kept


def smallest_good(losses: Floats, lengths: Floats, errors: int = 1) -> int:
    """Return the first of some automata that is not worse than the best by a standard error.

    ``losses`` has the sums of divergences, a row for each automaton and a column for each word.
    """
    best = losses[int(losses.sum(axis=1).argmin())]
    return next(
        place for place, these in enumerate(losses) if not is_worse(these - best, lengths, errors)
    )


def find_supported(
    states: Sequence[int],
    symbols: int,
    training: Floats,
    losses: Floats,
    lengths: Floats,
    is_taught: Sequence[bool],
) -> int:
    """Return the automaton of recorded words, of some in the order of size, that these support.

    A larger one is taken if three things speak for it: held-out words lose less with it; so do the
    words that it was made from, with each position left out in turn, by more nats than it takes to
    say which transitions got states of their own; and either is sure: the first by a standard
    error, or the second by more than it takes to say where the new states lead, too. Held-out words
    alone are too few to tell small gains from chance, and the others alone are too kind to what was
    made from them. What a teacher has taught (``is_taught``) was not made from them: there it is
    enough that held-out words lose less for sure.

    ``training`` has the loss on these in all, ``losses`` a row for each automaton and a column for
    each held-out word.
    """
    chosen = 0
    for place in range(1, len(states)):
        difference = losses[place] - losses[chosen]
        more, edges = states[place] - states[chosen], states[place] * symbols
        # The logarithm of the number of ways to choose the transitions that get states.
        ways = lgamma(edges + 1) - lgamma(more + 1) - lgamma(edges - more + 1)
        gain = training[chosen] - training[place] - ways
        if difference.sum() < 0 and (gain > 0 or any(is_taught[place : place + 1])):
            error = standard_error(difference, lengths)
            if (
                gain > more * symbols * np.log(states[place])
                or -difference.sum() / lengths.sum() > error
            ):
                chosen = place
    return chosen


class Recommendation(NamedTuple):
    """What to take, None for distilling, and why."""

    row: SweepRow | None
    text: str


def recommendation_of(sweep: Sweep) -> Recommendation:
    """Choose the smallest automaton that is as near to the model as the nearest.

    Only runs that have ended are chosen from. Where runs that a bound has stopped are nearer to the
    model, or states kept growing until a bound was reached, the model has no small automaton.
    """
    rows, lengths = sweep.rows, sweep.kept_lengths
    losses = comparable(sweep.kept_losses, sweep.kept_infinite)
    errors = 0 if sweep.is_exact else 1
    places = [place for place, row in enumerate(rows) if row.has_ended]
    if not places:
        return Recommendation(None, f"{_DISTILL}; no run came to its end")
    ended = sorted(places, key=lambda place: (rows[place].states, rows[place].words))
    chosen = ended[smallest_good(losses[ended], lengths, errors)]
    here, is_largest = rows[chosen], chosen == ended[-1]
    name = relation_text(here.equivalence)
    for place, row in enumerate(rows):
        apart = losses[chosen] - losses[place]
        if not row.has_ended and is_worse(apart, lengths, 2 * errors):
            nearer = f"{relation_text(row.equivalence)} is nearer to the model than {name}"
            return Recommendation(
                None,
                f"{_DISTILL}; {nearer}, but learning did not end there, so that the model may have "
                "no small automaton",
            )
    # Rows are ordered from coarse to fine, those of κ apart from those of tolerances.
    alike = [row for row in rows if isinstance(row.equivalence, type(here.equivalence))]
    place = alike.index(here)
    coarser = [row.states for row in alike[:place] if row.has_ended]
    has_grown = is_largest and bool(coarser) and here.states >= _GROWTH * coarser[-1]
    if has_grown and not all(row.has_ended for row in alike[place + 1 :]):
        growth = f"states grew from {coarser[-1]:,} to {here.states:,} at {name}"
        return Recommendation(None, f"{_DISTILL}; {growth}, and beyond learning did not end")
    reason = "larger automata are not nearer to the model"
    if is_largest:
        reason = "the largest automaton that was learnt is the nearest; a finer one may be nearer"
    return Recommendation(here, f"{name}, {count_text(here.states, 'states')}; {reason}")
