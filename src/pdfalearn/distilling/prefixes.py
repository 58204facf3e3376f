"""A tree of weighted prefixes as what machines are made to fit."""

from __future__ import annotations

import numpy as np

from pdfalearn.distilling.engine import polish_fit
from pdfalearn.distilling.evidence import Evidence, make_dense
from pdfalearn.distilling.machines import Fit, Machine, States, fit_rows, prune, redirect
from pdfalearn.distilling.polishing import Edges, find_edges, find_moves, grow, merge_costs
from pdfalearn.distilling.settings import DEFAULTS, SearchSettings
from pdfalearn.typing import Integers, Singles


def polish(
    machine: Machine,
    evidence: Evidence,
    settings: SearchSettings = DEFAULTS,
    *,
    within: bool = True,
) -> Fit:
    """Return a machine whose transitions and rows fit evidence better, if there is one."""
    lumped = evidence.lumped
    if lumped is not evidence:  # compare by the frequent symbols alone
        rows, priors = (make_dense(lumped.lump(table)) for table in machine[1:])
        lighter = Machine(machine.transitions, rows, priors)
        transitions = polish(lighter, lumped, settings, within=within).machine.transitions
    else:
        objective = PrefixObjective(evidence, settings, within=within)
        transitions = polish_fit(objective, objective.fit(machine)).machine.transitions
    return fit_rows(machine._replace(transitions=transitions), evidence, within=within)


class PrefixObjective:
    """A tree of weighted prefixes as what machines are made to fit; see `engine.Objective`."""

    def __init__(
        self,
        evidence: Evidence,
        settings: SearchSettings = DEFAULTS,
        *,
        within: bool = True,
    ) -> None:
        self.evidence, self.settings, self._within = evidence, settings, within

    def fit(self, machine: Machine) -> Fit:
        """Return a machine with the best rows."""
        return fit_rows(machine, self.evidence, within=self._within, exact=False)

    def take(self, fit: Fit) -> Fit:
        """Return a fit to this tree, which may have been one to another."""
        return fit if len(fit.states) == self.evidence.size else self.fit(fit.machine)

    def refit(self, fit: Fit, transitions: States) -> Fit:
        """Return a machine with other transitions, and the best rows for these."""
        return self.fit(fit.machine._replace(transitions=transitions))

    def find_moves(self, fit: Fit, *, closer: bool) -> tuple[Integers, Integers]:
        """Return the transitions that are worth moving and their targets, the best first."""
        edges = (Edges if closer else find_edges)(fit, self.evidence)
        return find_moves(edges, self.settings.reluctance)

    def is_coarse(self, fit: Fit) -> bool:
        """Return whether moves are looked for among few targets, and all may be looked at."""
        is_small = len(fit.machine.rows) <= self.settings.whole
        return is_small and find_edges(fit, self.evidence).images is not None

    def merge_costs(self, fit: Fit) -> Singles:
        """Return what it costs to lead all that enters a state (row) to another (column)."""
        return merge_costs(fit, self.evidence, self.settings)

    def merge(self, fit: Fit, sources: Integers, targets: Integers) -> Fit:
        """Lead what enters the sources to their targets; keep what is reached then."""
        places = np.arange(len(fit.machine.rows), dtype=np.int32)
        places[sources] = targets
        return self.fit(redirect(fit.machine, places))

    def grow(self, fit: Fit, count: int) -> Fit:
        """Return a machine with at most this many more states, where these help most."""
        return self.fit(grow(fit, self.evidence, count))

    def prune(self, fit: Fit) -> Fit:
        """Return a machine without states that no possible word reaches."""
        return prune(fit, self.evidence)

    def count_rounds(self, fit: Fit) -> int:
        """Return for how many rounds a machine may be polished."""
        return self.settings.rounds

    def count_tries(self, fit: Fit) -> int:
        """Return how many merges are tried for the next one; none where there are many states."""
        few = len(fit.machine.rows) <= self.settings.one_by_one
        return self.settings.tries if few else 0
