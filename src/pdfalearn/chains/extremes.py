"""The least and the greatest values over all choices that an interval chain allows, proved.

Choices are improved until nothing gets better (Howard's policy iteration). What comes out is not
trusted: values V are raised to V + δ·w, or lowered to V - δ·w, where w is twice the greatest number
of steps that a way can be expected to take, and δ the most that one step changes V, rounding
included. Then one step more takes no value further out, so that no choice ever gets there:
max xᵀ(V + δw) ≤ V + δ + δ(w - 1), as w ≥ 1 + max xᵀw.
"""

from __future__ import annotations

import numpy as np

from pdfalearn.chains.flows import sums_by
from pdfalearn.chains.intervals import (
    IntervalChain,
    avoiding_places,
    collapse_components,
    end_components,
    ending_places,
)
from pdfalearn.errors import InputError
from pdfalearn.typing import Floats

_MOST_ROUNDS = 50
# Choices that gain no more than this share are not worth another round.
_ENOUGH = 2.0**-50
_HARDLY = 2.0**-40
# Numbers of steps need no more accuracy than this, as a half is allowed for.
_ROUGHLY = 0.1


def greatest_reach(chain: IntervalChain) -> float:
    """Return what the probability of ending in ``yes`` from place 0 on is never above."""
    if not (chain.targets == chain.yes).any():
        return 0.0
    simple, numbers = collapse_components(chain, end_components(chain))
    bound = _prove_value(simple, int(numbers[0]), yes=1.0, greatest=True)
    return 1.0 if bound is None else min(1.0, bound)


def least_reach(chain: IntervalChain) -> float:
    """Return what the probability of ending in ``yes`` from place 0 on is never below."""
    kept = ~avoiding_places(chain)
    bound = _prove_value(chain.restrict_to(kept), 0, yes=1.0, greatest=False) if kept[0] else None
    return 0.0 if bound is None else max(0.0, bound)


def greatest_steps(chain: IntervalChain) -> float:
    """Return what the expected number of steps between places is never above; may be infinite."""
    endless = (end_components(chain) >= 0).any()
    bound = None if endless else _prove_value(chain, 0, gain=1.0, greatest=True)
    return np.inf if bound is None else bound


def _prove_value(
    chain: IntervalChain, start: int, *, gain: float = 0.0, yes: float = 0.0, greatest: bool
) -> float | None:
    """Return V ± δ·w of a place, as above, rounded outward; None if nothing can be proved."""
    values, steps = _extreme(chain, gain=gain, yes=yes, greatest=greatest), _bound_steps(chain)
    if steps is None or not np.isfinite(values).all():
        return None
    worth, sign = np.append(values + gain, [yes, 0.0]), 1.0 if greatest else -1.0
    further = sign * (chain.best(worth, greatest=greatest)[0] - values)
    change = max(0.0, float(further.max()) + chain.error(worth))
    value = values[start] + sign * change * steps[start]
    return _round_away(value, sign)


def least_steps(chain: IntervalChain) -> float:
    """Return what the expected number of steps between places is never below; may be infinite.

    Notes
    -----
    Every step to a place costs 1, so that a way that never ends costs infinitely much. Values V are
    lowered to (1 - η)·V; then what one step costs, η times at least the least probability r to go
    on, makes up for what rounding may have added: η·r ≥ (1 - η)·(V - min(1 + xᵀV)).
    """
    kept, distances = ending_places(chain)
    if not kept[0]:
        return np.inf
    simple = chain.restrict_to(kept, cut=True)  # other places cost without end: nobody goes there
    near = np.append(distances[kept], [0.0, 0.0])
    values = _extreme(
        simple, gain=1.0, greatest=False, weights=simple.best(near, greatest=False)[1]
    )
    if not np.isfinite(values).all():
        return 0.0
    goes_on = _least_to_go_on(simple)
    values[goes_on < _HARDLY] = 0.0  # it is hardly more, and nothing is to be proved of it
    worth = np.append(values + 1, [0.0, 0.0])
    change = values - simple.best(worth, greatest=False)[0] + simple.error(worth)
    doubtful = (change > 0) & (values > 0)
    shares = change[doubtful] / goes_on[doubtful]
    least = values[0] * (1 - min(1.0, float(shares.max(initial=0.0))))
    return max(0.0, _round_away(least, -1.0))


def _least_to_go_on(chain: IntervalChain) -> Floats:
    """Return the least probability of a step to another place, rounded down."""
    outer = chain.targets >= chain.size
    stops = sums_by(chain.sources[outer], chain.highs[outer], chain.size)
    goes_on = sums_by(chain.sources[~outer], chain.lows[~outer], chain.size)
    return np.maximum(goes_on, 1 - stops) - chain.most_cells * 2.0**-50


def _bound_steps(chain: IntervalChain) -> Floats | None:
    """Return w with w ≥ 1 + max xᵀw; None if ways may be too long to prove anything."""
    steps = _extreme(chain, gain=1.0, greatest=True, accuracy=_ROUGHLY)
    if not np.isfinite(steps).all():
        return None
    worth = np.append(steps + 1, [0.0, 0.0])
    excess = (chain.best(worth, greatest=True)[0] - steps).max() + chain.error(worth)
    return 2 * (steps + 1) if excess <= 0.5 else None


def _extreme(
    chain: IntervalChain,
    *,
    gain: float = 0.0,
    yes: float = 0.0,
    greatest: bool,
    weights: Floats | None = None,
    accuracy: float = 0.0,
) -> Floats:
    """Return the extreme values of all places, but for rounding, by Howard's policy iteration.

    A step to another place brings ``gain``, and ending in ``yes`` as much as it says. No choice may
    go round for ever, or none where that is worth while, from the first one, ``weights``, on.
    """
    if weights is None:
        nothing = np.append(np.full(chain.size, gain), [yes, 0.0])
        weights = chain.best(nothing, greatest=greatest)[1]
    values = np.zeros(chain.size)
    for _ in range(_MOST_ROUNDS):
        values = _evaluate_choice(chain, weights, gain, yes)
        if not np.isfinite(values).all():
            break
        worth = np.append(values + gain, [yes, 0.0])
        expected, weights = chain.best(worth, greatest=greatest)
        gained = expected - values if greatest else values - expected
        if gained.max() <= max(accuracy, _ENOUGH * worth.max()):
            break
    return values


def _evaluate_choice(chain: IntervalChain, weights: Floats, gain: float, yes: float) -> Floats:
    """Return what is expected from every place on if these probabilities are always chosen."""
    worth = np.append(np.full(chain.size, gain), [yes, 0.0])
    gains = sums_by(chain.sources, weights * worth[chain.targets], chain.size)
    try:
        return chain.flow(weights).values(gains)
    except InputError:  # ways are too long to be solved for
        return np.full(chain.size, np.inf)


def _round_away(value: float, sign: float) -> float:
    """Round up or down, by more than all that was rounded before."""
    return float(np.nextafter(value * (1 + sign * 2.0**-50), sign * np.inf))
