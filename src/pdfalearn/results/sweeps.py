"""What comes out of a sweep: its rows as values, as texts, and as a plot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence import Relation, relation_text
from pdfalearn.extras import COLOUR, MARK, finish, given_or_new_axes, import_extra
from pdfalearn.frozen import ArrayValue
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import NotebookValue
from pdfalearn.results.frontiers import DIVERGENCE_AXES, DIVERGENCE_HEADER
from pdfalearn.results.learning_runs import Progress, Result
from pdfalearn.results.recommendations import Recommendation, recommendation_of
from pdfalearn.text import format_table


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep has come.

    Examples
    --------
    >>> from pdfalearn import sweep
    >>> from pdfalearn.datasets import figure_3
    >>> told = []
    >>> _ = sweep(figure_3(), kappas=[1, 10], progress=told.append)
    >>> told[-1].equivalence, told[-1].run, told[-1].runs, told[-1].learning.states
    (Quantization(kappa=10), 2, 2, 4)
    """

    equivalence: Relation | None
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
    >>> from pdfalearn import sweep
    >>> from pdfalearn.datasets import figure_3
    >>> row = sweep(figure_3(), kappas=[1, 10]).rows[1]
    >>> row.states, row.words, row.new_words, row.divergence, row.has_ended
    (4, 14, 11, 0.0, True)
    """

    equivalence: Relation
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
class Sweep(ArrayValue, NotebookValue):
    """What learning with several κ and tolerances gave, and which of them to take.

    It is a value: it can be compared, copied and pickled. Iterating gives its rows.

    Examples
    --------
    >>> from pdfalearn import sweep
    >>> from pdfalearn.datasets import figure_3
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
        advice = "distill" if chosen is None else relation_text(chosen.equivalence)
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
        rows = [(*row[:-1], f" {row[-1]}") for row in (SWEEP_HEADER, *sweep_cells(self))]
        table = format_table(rows, left=(0, len(SWEEP_HEADER) - 1), gap=" ")
        facts = f"words asked: {questions_text(self)}\nrecommended: {self.recommendation}"
        return f"{table}\n{facts}"

    def to_frame(self) -> Any:
        """Make a table of pandas, a line for each row; needs the extra ``exchange``."""
        return import_extra("pandas", "tables").DataFrame(sweep_records(self))

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
        axes = given_or_new_axes(axes)
        for has_ended, label, style in ((True, "learning ended", "o"), (False, "stopped", "x")):
            rows = [row for row in self if row.has_ended == has_ended]
            if rows:
                figures = [(row.states, row.low, row.divergence, row.high) for row in rows]
                states, *values = np.array(figures).T
                look = {"fmt": style, "color": COLOUR, "capsize": 3, "label": label}
                axes.errorbar(states, values[1], yerr=np.diff(values, axis=0), **look)
        names: dict[tuple[int, str], list[str]] = {}  # those of the same point stand together
        for row in self:
            point = row.states, f"{row.divergence:.3g}"
            names.setdefault(point, []).append(relation_text(row.equivalence))
        for (states, divergence), texts in names.items():
            place = (states, float(divergence))
            axes.annotate("\n".join(texts), place, (6, 6), textcoords="offset points")
        chosen = self.recommended
        if chosen is not None:
            marked = {"fillstyle": "none", "markersize": 12, "color": MARK, "label": "recommended"}
            axes.plot([chosen.states], [chosen.divergence], "o", **marked)
        return finish(axes, **DIVERGENCE_AXES)


class SweepInterrupted(KeyboardInterrupt):
    """A sweep was interrupted; ``sweep`` is what was learnt until then, if there was anything.

    Examples
    --------
    >>> from pdfalearn import sweep
    >>> from pdfalearn.datasets import figure_3
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


SWEEP_HEADER = ("learnt with", "states", "words", "new", *DIVERGENCE_HEADER, "end")


def sweep_cells(sweep: Sweep) -> list[tuple[str, ...]]:
    """Return a row of texts for each row; the last says how learning ended."""
    chosen = sweep.recommended
    return [
        (
            relation_text(row.equivalence),
            f"{row.states:,}",
            f"{row.words:,}",
            f"{row.new_words:,}",
            *(f"{value:.3g}" for value in (row.divergence, row.low, row.high)),
            f"{row.infinite_share:.2%}",
            row.result.certificate.kind + (", recommended" if row is chosen else ""),
        )
        for row in sweep
    ]


def questions_text(sweep: Sweep) -> str:
    """Return how many words were asked, and how many it would have been without sharing."""
    text = f"{sweep.words_asked:,}"
    if sweep.drawn_words:
        drawn = f"{sweep.drawn_words:,} drawn words"
        text += f", {sweep.held_out_questions:,} of them to measure on {drawn}"
    return f"{text}; {sweep.words_alone:,} if every run asked for itself"


def sweep_records(sweep: Sweep) -> list[dict[str, object]]:
    """Return the figures of each row by name."""
    chosen = sweep.recommended
    names = ["states", "words", "new_words", "divergence", "low", "high", "infinite_share"]
    return [
        {
            "kappa": getattr(row.equivalence, "kappa", None),
            "tolerance": getattr(row.equivalence, "tolerance", None),
            **{name: getattr(row, name) for name in names},
            "certificate": row.result.certificate.kind,
            "recommended": row is chosen,
        }
        for row in sweep
    ]
