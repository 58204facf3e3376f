"""The best automata by size, and their measures on held-out words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.values import ArrayValue
from pdfalearn.certificates import Certificate
from pdfalearn.checks import checked_integer
from pdfalearn.distilling.estimates import comparable, smallest_good
from pdfalearn.distilling.knees import knee
from pdfalearn.distilling.sizes import EVERY
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA
from pdfalearn.registry import shown

_ANSWERS_A_STATE = 20
"""A size with fewer answers per state than this is not a knee: it only memorises words."""


@dataclass(frozen=True)
class Point:
    """One automaton of a frontier, measured on held-out words.

    Examples
    --------
    >>> from pdfalearn import Budget, distill, figure_3
    >>> frontier = distill(figure_3(), budget=Budget(max_symbols=2000), seed=1)
    >>> point = frontier.point(2)
    >>> point.states, len(point.pdfa), point.low <= point.divergence <= point.high
    (2, 2, True)
    """

    states: int
    pdfa: PDFA
    divergence: float
    """KL(model ‖ automaton) per symbol in nats: the mean over positions where it is finite."""
    low: float
    """Where the 95% confidence interval of the divergence begins."""
    high: float
    """Where it ends; what rare words add, as far as they were asked, is part of it."""
    infinite_share: float
    """The share of positions where the model allows what the automaton does not."""
    l1: float
    """The mean distance Σ |p - p̂|."""
    word_error_rate: float
    """How often the automaton's likeliest symbol is not one of the model's likeliest."""
    perplexity: float
    """exp of the mean cross entropy, the model's answers against the automaton's rows."""
    training_divergence: float
    """The divergence on the words that the automaton was made from."""


@dataclass(frozen=True, eq=False, repr=False)
class Frontier(ArrayValue):
    """The best automaton found for each of some sizes, the smallest first.

    It is a value: it can be compared, copied, pickled, and saved to a file (`save`). Iterating
    yields its points.

    Examples
    --------
    >>> from pdfalearn import Budget, distill, figure_3
    >>> frontier = distill(figure_3(), budget=Budget(max_symbols=2000), seed=1)
    >>> [point.states for point in frontier], frontier.knee, len(frontier.at_most(3))
    ([1, 2, 3, 4], 4, 3)
    """

    points: tuple[Point, ...]
    sizes: tuple[int, ...]
    """The sizes that were searched for. Automata that are not better than smaller ones on the words
    they were made from, or clearly worse on the held-out ones, are left out."""
    certificate: Certificate
    """What was sampled, what was measured, with what confidence."""
    model_perplexity: float
    """exp of the mean entropy of the model's own answers on the held-out words."""
    kept_losses: NDArray[np.float64]
    """For each point and held-out word, the sum of the finite divergences."""
    kept_infinite: NDArray[np.float64]
    """For each point and held-out word, how many divergences are infinite."""
    kept_lengths: NDArray[np.float64]
    """For each held-out word, its number of positions."""
    notes: tuple[str, ...] = ()
    """What went wrong after the automata were finished."""

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __hash__(self) -> int:
        return hash(self.points)

    def __repr__(self) -> str:
        first, last = self.points[0].states, self.points[-1].states
        return f"Frontier({len(self)} automata of {first} to {last} states, best {len(self.best)})"

    def _repr_html_(self) -> Any:
        return shown("html", self)

    def point(self, states: int) -> Point:
        """Return the largest automaton of at most this many states, with its measures.

        Parameters
        ----------
        states : int
            The most states that it may have.
        """
        states = checked_integer(states, "states", 1)
        fitting = [point for point in self.points if point.states <= states]
        if not fitting:
            raise InputError(
                f"there is no automaton of at most {states} states; the smallest has "
                f"{self.points[0].states}"
            )
        return fitting[-1]

    def at_most(self, states: int) -> PDFA:
        """Return the largest automaton of the frontier with at most this many states.

        Parameters
        ----------
        states : int
            The most states that it may have.
        """
        return self.point(states).pdfa

    @property
    def best(self) -> PDFA:
        """The smallest automaton that is not worse than the best by a standard error.

        The differences are taken word by word over the held-out words.
        """
        return self.points[self._best_place].pdfa

    @cached_property
    def _best_place(self) -> int:
        return smallest_good(comparable(self.kept_losses, self.kept_infinite), self.kept_lengths)

    @cached_property
    def knee(self) -> int | None:
        """The number of states where the curve of training divergences bends most, or None."""
        smallest, answers = self.points[0].states, self.certificate.details.get("answers", 0)
        largest = max(EVERY, int(str(answers)) // _ANSWERS_A_STATE)
        sizes = [size for size in self.sizes if smallest <= size <= largest]
        found = knee(sizes, [self.point(size).training_divergence for size in sizes])
        return None if found is None else self.point(found).states

    def table(self) -> str:
        """Return a table of all points as text."""
        from pdfalearn.distilling.tables import table_of

        return table_of(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw states against divergence with its interval; needs the extra ``report``.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; new ones of pyplot if not given, which a notebook shows.

        Returns
        -------
        Axes
            What was drawn on.
        """
        from pdfalearn.distilling.plots import plotted

        return plotted(self, axes)
