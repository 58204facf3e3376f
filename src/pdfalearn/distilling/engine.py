"""The loops of every search: move transitions, merge states, add some and merge again.

What machines are made to fit is an `Objective`: a tree of prefixes (`polishing.py`), or another
automaton, whose visits are exact (`originals.py`).
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pdfalearn.distilling.machines import Machine, States
from pdfalearn.distilling.settings import SearchSettings
from pdfalearn.typing import Integers

Numbers = NDArray[np.floating[Any]]


class Fitted(Protocol):
    """A machine whose rows are the best ones, and how good that is."""

    @property
    def machine(self) -> Machine:
        """The machine."""

    @property
    def loss(self) -> float:
        """The mean of KL(answer ‖ row)."""


F = TypeVar("F", bound=Fitted)


class Objective(Protocol[F]):
    """What machines are made to fit."""

    settings: SearchSettings

    def refit(self, fit: F, transitions: States) -> F:
        """Return a machine with other transitions, and the best rows for these."""

    def find_moves(self, fit: F, *, closer: bool) -> tuple[Integers, Integers]:
        """Return transitions that are worth moving and their targets, the best first.

        A transition is state · symbols + symbol. With ``closer`` all targets are looked at.
        """

    def is_coarse(self, fit: F) -> bool:
        """Return whether it helps to look closer."""

    def merge_costs(self, fit: F) -> Numbers:
        """Return what it costs to lead all that enters a state (row) to another (column)."""

    def merge(self, fit: F, sources: Integers, targets: Integers) -> F:
        """Lead what enters the sources to their targets; no target is a source."""

    def grow(self, fit: F, count: int) -> F:
        """Return a machine with at most this many more states, where these help most."""

    def prune(self, fit: F) -> F:
        """Return a machine without states that no word reaches."""

    def count_rounds(self, fit: F) -> int:
        """Return for how many rounds a machine may be polished."""

    def count_tries(self, fit: F) -> int:
        """Return how many merges are tried for the next one; 0 merges many states at once."""


def polish_fit(objective: Objective[F], fit: F) -> F:
    """Move transitions as long as that makes the loss fall."""
    share, closer = 0.5, False
    for _ in range(objective.count_rounds(fit)):
        before, is_coarse = fit.loss, not closer and objective.is_coarse(fit)
        fit, share = _move(objective, fit, share, closer=closer)
        closer = fit.loss > (1 - objective.settings.polished) * before
        if closer and not is_coarse:
            break
    return fit


def _move(objective: Objective[F], fit: F, share: float, *, closer: bool) -> tuple[F, float]:
    """Move a share of the transitions, and half as many whenever that does not help.

    Return the share for the next time, too.
    """
    moves, targets = objective.find_moves(fit, closer=closer)
    count, before = len(moves) + 1, fit.loss
    while fit.loss >= before:
        if count == 1 or not len(moves):
            return fit, share
        count = max(1, int(share * len(moves)))
        transitions = fit.machine.transitions.copy()
        transitions.reshape(-1)[moves[:count]] = targets[:count]
        fit = min(fit, objective.refit(fit, transitions), key=_loss)
        share /= 2
    return fit, min(1.0, 4 * share)


def reduce(objective: Objective[F], fit: F, most: int) -> F:
    """Merge states until there are at most ``most``: many at a time, and few one by one."""
    settings = objective.settings
    while (size := len(fit.machine.rows)) > most:
        costs = objective.merge_costs(fit)
        if tries := objective.count_tries(fit):
            order = np.argsort(costs, axis=None, kind="stable")[: min(tries, size * (size - 1))]
            merges = [np.divmod(place[None], size) for place in order]
        else:
            share = settings.shares[size > settings.few]
            merges = [choose_merges(costs, min(size - most, max(1, int(share * size))))]
        fit = min((objective.merge(fit, *merge) for merge in merges), key=_loss)
    return fit


def choose_merges(costs: Numbers, most: int) -> tuple[Integers, Integers]:
    """Choose merges of states into others, the cheapest first; no target is merged itself."""
    nearest = costs.argmin(axis=1)
    is_removed, is_needed = np.zeros(len(costs), dtype=bool), np.zeros(len(costs), dtype=bool)
    chosen: list[int] = []
    for state in np.argsort(costs.min(axis=1), kind="stable").tolist():
        target = int(nearest[state])
        if not is_needed[state] and not is_removed[target]:
            is_removed[state] = is_needed[target] = True
            chosen.append(state)
        if len(chosen) == most:
            break
    sources = np.array(chosen, dtype=np.int64)
    return sources, nearest[sources]


def polish_and_prune(objective: Objective[F], fit: F) -> F:
    """Move transitions, then leave out states that no word reaches."""
    return objective.prune(polish_fit(objective, fit))


def improve_by_cycles(objective: Objective[F], fit: F, most: int | None = None) -> F:
    """Make a machine larger and smaller again as long as that makes it better.

    It may have ``most`` states in the end; those that it has, if not given.
    """
    settings = objective.settings
    for share in settings.growth:
        size = most or len(fit.machine.rows)
        larger = polish_and_prune(objective, objective.grow(fit, max(1, round(share * size))))
        again = polish_and_prune(objective, reduce(objective, larger, size))
        if again.loss < (1 - settings.better) * fit.loss:
            fit = again
        elif size > settings.each:
            break
    return fit


def _loss(fit: Fitted) -> float:
    return fit.loss
