"""Which row of a sweep to take, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pdfalearn.equivalence.relations import relation_text
from pdfalearn.results.choices import NOTHING, comparable, standard_error
from pdfalearn.text import count_text

if TYPE_CHECKING:
    from pdfalearn.results.sweeps import Sweep, SweepRow


_GROWTH = 1.5
"""States that become this many times more from one run to the next keep growing."""

_SAME = 1.05
"""States that become at most this many times more stay the same."""

_DISTILL = "distill: it finds the automaton of each size that is nearest to the model"


class Recommendation(NamedTuple):
    """What to take, None for distilling, and why."""

    row: SweepRow | None
    text: str


def recommendation_of(sweep: Sweep) -> Recommendation:
    """Choose the smallest automaton that is as near to the model as the nearest.

    Only runs that have ended are chosen from. Where runs that a bound has stopped are nearer to the
    model, or states kept growing until a bound was reached, the model has no small automaton.
    """
    ended = _by_size(sweep, [place for place, row in enumerate(sweep) if row.has_ended])
    if not ended:
        return Recommendation(None, f"{_DISTILL}; {_unended(sweep)}")
    best = min(ended, key=lambda place: _loss(sweep, place))
    chosen = next(place for place in ended if not _is_worse(sweep, place, best, errors=1))
    stopped = [place for place in range(len(sweep)) if place not in ended]
    return _why_not(sweep, chosen, ended, stopped) or _why(sweep, chosen, ended, stopped)


def _unended(sweep: Sweep) -> str:
    """Return a text: no run has ended; a larger budget may help, unless states kept growing."""
    if any(row.result.certificate.details.get("is_growing") for row in sweep):
        return "no run came to its end, and states kept growing with the questions"
    return "no run came to its end; a larger budget may let one do so"


def _by_size(sweep: Sweep, places: list[int]) -> list[int]:
    """Return rows from the smallest automaton to the largest; of equal ones the cheapest first."""
    return sorted(places, key=lambda place: (sweep.rows[place].states, sweep.rows[place].words))


def _why_not(
    sweep: Sweep, chosen: int, ended: list[int], stopped: list[int]
) -> Recommendation | None:
    """Return why distilling is better than the chosen row; None if it is not known to be."""
    row = sweep.rows[chosen]
    nearer = [place for place in stopped if _is_worse(sweep, chosen, place, errors=2)]
    if nearer:
        best = min(nearer, key=lambda place: _loss(sweep, place))
        return Recommendation(
            None,
            f"{_DISTILL}; {relation_text(sweep.rows[best].by)} is nearer to the model than "
            f"{relation_text(row.by)}, but learning did not end there, so that the model may have "
            "no small automaton",
        )
    beyond = _of_its_kind(sweep, chosen, stopped, after=True)
    before_it = _of_its_kind(sweep, chosen, ended, after=False)
    is_largest = chosen == ended[-1]
    if beyond and is_largest and before_it and _growth(sweep, max(before_it), chosen) >= _GROWTH:
        before = sweep.rows[max(before_it)]
        return Recommendation(
            None,
            f"{_DISTILL}; from {relation_text(before.by)} to {relation_text(row.by)} states grew "
            f"from {before.states:,} to {row.states:,}, and beyond learning did not end",
        )
    return None


def _why(sweep: Sweep, chosen: int, ended: list[int], stopped: list[int]) -> Recommendation:
    row = sweep.rows[chosen]
    texts = [f"{relation_text(row.by)}, {count_text(row.states, 'states')}"]
    larger = ended[ended.index(chosen) + 1 :]
    same = [place for place in larger if _growth(sweep, chosen, place) <= _SAME]
    if same:
        names = [relation_text(sweep.rows[place].by) for place in sorted(same)]
        texts.append(f"states stay the same at {', '.join(names)}, and divergence falls no further")
    elif larger:
        texts.append("larger automata are not nearer to the model")
    elif sweep.is_exact and _loss(sweep, chosen) <= NOTHING:
        texts.append(f"its divergence is at most {NOTHING:g}")
    elif len(ended) > 1:
        texts.append(
            "the largest automaton that was learnt is the nearest: a finer κ or tolerance may be "
            "nearer still; if states keep growing, distill"
        )
    else:
        texts.append("the only run that came to its end")
    if stopped:
        others = ", ".join(relation_text(sweep.rows[place].by) for place in stopped)
        texts.append(f"learning did not end at {others}, and what it gave there is not nearer")
    if row.infinite_share:
        texts.append(f"at {row.infinite_share:.2%} of positions its divergence is infinite")
    return Recommendation(row, "; ".join(texts))


def _of_its_kind(sweep: Sweep, chosen: int, places: list[int], *, after: bool) -> list[int]:
    """Return which of some rows are finer than the chosen one, or coarser, and compare as it."""
    kind = type(sweep.rows[chosen].by)
    alike = [place for place in places if isinstance(sweep.rows[place].by, kind)]
    return [place for place in alike if (place > chosen if after else place < chosen)]


def _growth(sweep: Sweep, before: int, after: int) -> float:
    return sweep.rows[after].states / sweep.rows[before].states


def _loss(sweep: Sweep, place: int) -> float:
    losses = comparable(sweep.kept_losses[place], sweep.kept_infinite[place])
    return float(losses.sum() / sweep.kept_lengths.sum())


def _is_worse(sweep: Sweep, one: int, other: int, *, errors: int) -> bool:
    """Return whether a row is worse than another by more than this many standard errors."""
    losses = comparable(sweep.kept_losses, sweep.kept_infinite)
    difference = losses[one] - losses[other]
    mean = float(difference.sum() / sweep.kept_lengths.sum())
    error = 0.0 if sweep.is_exact else standard_error(difference, sweep.kept_lengths)
    return mean > max(errors * error, NOTHING)
