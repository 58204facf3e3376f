"""What comes out of a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.values import ArrayValue
from pdfalearn.equivalence.relations import Relation
from pdfalearn.learning.results import Progress, Result
from pdfalearn.pdfa import PDFA
from pdfalearn.registry import shown
from pdfalearn.sweeping.recommending import Recommendation, recommendation_of
from pdfalearn.sweeping.relations import relation_text


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep has come.

    Examples
    --------
    >>> from pdfalearn import figure_3, sweep
    >>> told = []
    >>> _ = sweep(figure_3(), kappas=[1, 10], progress=told.append)
    >>> told[-1].by, told[-1].run, told[-1].runs, told[-1].learning.states
    (Quantization(kappa=10), 2, 2, 4)
    """

    by: Relation | None
    """What is learnt with now; None while words are drawn that divergences are measured on."""
    run: int
    """The number of this run, from 1; 0 while words are drawn."""
    runs: int
    """How many runs there are in all."""
    learning: Progress | None
    """How far this run has come."""


@dataclass(frozen=True)
class SweepRow:
    """What learning with one κ or one tolerance gave.

    Examples
    --------
    >>> from pdfalearn import figure_3, sweep
    >>> row = sweep(figure_3(), kappas=[1, 10]).rows[1]
    >>> row.states, row.words, row.new_words, row.divergence, row.has_ended
    (4, 14, 11, 0.0, True)
    """

    by: Relation
    """The κ or the tolerance, as `learn` takes it."""
    result: Result
    """What `learn` returned."""
    divergence: float
    """KL(model ‖ automaton) per symbol in nats: the mean over positions where it is finite."""
    low: float
    """Where the 95% confidence interval of the divergence begins."""
    high: float
    """Where it ends."""
    infinite_share: float
    """The share of positions where the model allows what the automaton does not."""

    @property
    def pdfa(self) -> PDFA:
        """The automaton."""
        return self.result.pdfa

    @property
    def states(self) -> int:
        """How many states the automaton has."""
        return len(self.result.pdfa)

    @property
    def words(self) -> int:
        """How many answers this run needed: as many words as it would have asked alone."""
        return self.result.statistics.words + self.result.statistics.stored_words

    @property
    def new_words(self) -> int:
        """How many of them were asked, as nobody had asked them before."""
        return self.result.statistics.words

    @property
    def has_ended(self) -> bool:
        """Whether learning came to its end, and was not stopped by a bound or by hand."""
        return self.result.certificate.kind not in ("stopped", "interrupted")


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(ArrayValue):
    """What learning with several κ and tolerances gave, and which of them to take.

    It is a value: it can be compared, copied and pickled. Iterating gives its rows.

    Examples
    --------
    >>> from pdfalearn import figure_3, sweep
    >>> found = sweep(figure_3(), kappas=[1, 10])
    >>> found
    Sweep(2 runs, 14 words asked, recommended: κ = 10)
    >>> found.words_alone
    17
    """

    rows: tuple[SweepRow, ...]
    """κ from the smallest on, then tolerances from the largest on."""
    drawn_words: int
    """How many words divergences were measured on; 0 where they are exact."""
    held_out_questions: int
    """How many words the model was asked for, to draw these and to measure on them."""
    kept_losses: NDArray[np.float64]
    """For each row and word, the sum of the finite divergences; where they are exact, for each row
    its divergence."""
    kept_infinite: NDArray[np.float64]
    """For each row and word, how many divergences are infinite, or the share of them."""
    kept_lengths: NDArray[np.float64]
    """For each word, its number of positions."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SweepRow]:
        return iter(self.rows)

    def __hash__(self) -> int:
        return hash(tuple(row.pdfa for row in self.rows))

    def __repr__(self) -> str:
        chosen = self.recommended
        advice = "distill" if chosen is None else relation_text(chosen.by)
        return f"Sweep({len(self)} runs, {self.words_asked:,} words asked, recommended: {advice})"

    @property
    def is_exact(self) -> bool:
        """Whether divergences are over all words, and not estimates on drawn ones."""
        return not self.drawn_words

    @property
    def words_asked(self) -> int:
        """How many words the model was asked for in all; audits are not counted."""
        return self.held_out_questions + sum(row.new_words for row in self.rows)

    @property
    def words_alone(self) -> int:
        """How many it would have been, had every run asked for itself."""
        return self.held_out_questions + sum(row.words for row in self.rows)

    @cached_property
    def _advice(self) -> Recommendation:
        return recommendation_of(self)

    @property
    def recommended(self) -> SweepRow | None:
        """The row to take; None if none is good, and distilling is the better way."""
        return self._advice.row

    @property
    def recommendation(self) -> str:
        """What to do and why, in words."""
        return self._advice.text

    def table(self) -> str:
        """Return a table of all rows as text, with the recommendation below."""
        from pdfalearn.sweeping.tables import table_of

        return table_of(self)

    def to_frame(self) -> Any:
        """Make a table of pandas, a line for each row; needs the extra ``exchange``."""
        from pdfalearn.sweeping.tables import frame_of

        return frame_of(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw states against divergence with its interval; needs the extra ``report``.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; new ones if not given.

        Returns
        -------
        Axes
            What was drawn on.
        """
        from pdfalearn.sweeping.plots import plotted

        return plotted(self, axes)

    def _repr_html_(self) -> str | None:
        text: str | None = shown("html", self)
        return text


class SweepInterrupted(KeyboardInterrupt):
    """A sweep was interrupted; ``sweep`` is what was learnt until then, if there was anything.

    Examples
    --------
    >>> from pdfalearn import figure_3, sweep
    >>> def stop(news):
    ...     raise KeyboardInterrupt
    >>> try:
    ...     sweep(figure_3(), kappas=[10], progress=stop)
    ... except SweepInterrupted as interrupt:
    ...     print(interrupt.sweep)
    None
    """

    def __init__(self, sweep: Sweep | None) -> None:
        super().__init__("the sweep was interrupted")
        self.sweep = sweep
