"""Learners that are still at hand when learning has ended."""

from __future__ import annotations

from pdfalearn.learners.protocol import Learner
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.observations.tree import ObservationTree


class Noted:
    """Makes a learner for `learn`, and keeps it.

    Parameters
    ----------
    name : str
        Which learner.
    """

    learner: Learner

    def __init__(self, name: str) -> None:
        self._make = LEARNERS[name]

    def __call__(self, observations: ObservationTree) -> Learner:
        self.learner = self._make(observations)
        return self.learner

    def unresolved(self) -> list[tuple[int, int]]:
        """All transitions that lead to the best match, as states and codes of symbols."""
        symbols = len(self.learner.observations.alphabet)
        return [divmod(place, symbols) for place in self.learner.unresolved().tolist()]
