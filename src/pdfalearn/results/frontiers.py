"""The best automata by size, what they lose, and how far the search for them has come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.checks import check_integer
from pdfalearn.errors import InputError
from pdfalearn.extras import COLOUR, MARK, finish, given_or_new_axes, write_numbers_in_full
from pdfalearn.frozen import ArrayValue
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Certificate, NotebookValue
from pdfalearn.results.recommendations import (
    comparable,
    find_supported,
    knee,
    smallest_good,
    standard_error,
)
from pdfalearn.text import count_text, format_table

DIVERGENCE_AXES = {"xscale": "log", "xlabel": "states", "ylabel": "KL divergence per symbol (nats)"}
EVERY = 32
"""A frontier has all sizes up to this one."""
# A size with fewer answers per state than this is not a knee: it only memorises words.
_ANSWERS_A_STATE = 20


@dataclass(frozen=True)
class Point:
    """One automaton of a frontier, measured on held-out words.

    Examples
    --------
    >>> from pdfalearn import Budget, distill
    >>> from pdfalearn.datasets import figure_3
    >>> frontier = distill(figure_3(), budget=Budget(max_symbols=2000), seed=1)
    >>> point = frontier.point(2)
    >>> point.states, len(point.pdfa), point.low <= point.divergence <= point.high
    (2, 2, True)
    """

    states: int
    pdfa: PDFA
    divergence: float
    """KL(model ‖ automaton) per symbol in nats: the mean over positions where it is finite.

    It was measured before the rows, and contexts, were given all answers, held-out ones too.
    Recorded words say at each position what followed, and nothing else: for a frontier of words
    this is their cross-entropy."""
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
    """exp of the mean cross-entropy, the model's answers or what followed in words against the
    automaton's rows."""
    training_divergence: float
    """The divergence on the words that the automaton was made from; of recorded words the
    cross-entropy, each position left out in turn."""
    unseen_divergence: float
    """The divergence on held-out prefixes that nothing was learnt from; that on all if there are
    none, or for recorded words. Held-out words share their short prefixes with the words that were
    learnt from."""

    @property
    def cross_entropy(self) -> float:
        """The mean of -ln row over held-out positions, in nats per symbol, terminals counted."""
        return log(self.perplexity)


@dataclass(frozen=True, eq=False)
class KeptWords(ArrayValue):
    """The prefixes whose answers a frontier was made of, and the words that were held out."""

    parents: NDArray[np.int32]
    """The number of the prefix one symbol shorter, by length; -1 for the empty word, the first."""
    symbols: NDArray[np.int32]
    """The code of the last symbol of each prefix."""
    rows: NDArray[np.int32]
    """The number of the model's answer after each prefix."""
    is_learnt: NDArray[np.bool_]
    """Which prefixes were asked for words to learn from; others are of held-out words alone."""
    ends: NDArray[np.int32]
    """The last prefix of every held-out word."""
    is_cut: NDArray[np.bool_]
    """Behind which prefixes words are cut, so that nothing that follows was asked."""
    answers: NDArray[np.float64]
    """The different answers, the end first."""


@dataclass(frozen=True, eq=False, repr=False)
class Frontier(ArrayValue, NotebookValue):
    """The best automaton found for each of some sizes, the smallest first.

    It is a value: it can be compared, copied, pickled, and saved to a file (`save`). Iterating
    yields its points.

    Examples
    --------
    >>> from pdfalearn import Budget, distill
    >>> from pdfalearn.datasets import figure_3
    >>> frontier = distill(figure_3(), budget=Budget(max_symbols=2000), seed=1)
    >>> [point.states for point in frontier], frontier.knee, len(frontier.at_most(3))
    ([1, 2, 3, 4], 4, 3)
    """

    points: tuple[Point, ...]
    sizes: tuple[int, ...]
    """The sizes that were searched for. Automata that are not better than smaller ones are left
    out: by a standard error on the held-out words, or on the words that they were made from and not
    worse by as much on the held-out ones; of recorded words all that are not better on these."""
    certificate: Certificate
    """What was sampled, what was measured, with what confidence."""
    model_perplexity: float | None
    """exp of the mean entropy of the model's answers on held-out words; None for recorded ones."""
    kept_losses: NDArray[np.float64]
    """For each point and held-out word, the sum of the finite divergences."""
    kept_infinite: NDArray[np.float64]
    """The same of how many divergences are infinite."""
    kept_lengths: NDArray[np.float64]
    """For each held-out word, its number of positions."""
    notes: tuple[str, ...] = ()
    """What went wrong after the automata were finished."""
    kept_words: KeptWords | None = None
    """The held-out words and the answers along them, if the model itself drew them."""

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __hash__(self) -> int:
        return hash(self.points)  # arrays have no hash, and equal frontiers have equal points

    def __repr__(self) -> str:
        first, last = self.points[0].states, self.points[-1].states
        return f"Frontier({len(self)} automata of {first} to {last} states, best {len(self.best)})"

    def point(self, states: int) -> Point:
        """Return the largest automaton of at most this many states, with its measures.

        Parameters
        ----------
        states : int
            The most states that it may have.
        """
        states = check_integer(states, "states", 1)
        fitting = [point for point in self.points if point.states <= states]
        if not fitting:
            raise InputError(
                f"there is no automaton of at most {states} states; the smallest has "
                f"{self.points[0].states}"
            )
        return fitting[-1]

    def at_most(self, states: int) -> PDFA:
        """Return the largest automaton of the frontier with at most this many states."""
        return self.point(states).pdfa

    @property
    def is_of_words(self) -> bool:
        """Whether it was made from recorded words, and not from a model."""
        return self.model_perplexity is None

    @cached_property
    def best(self) -> PDFA:
        """The smallest automaton that is not worse than the best by a standard error.

        The differences are taken word by word over the held-out words. From recorded words, it is
        the largest automaton of which both these and the words that it was made from say that it
        is better than smaller ones.
        """
        losses = comparable(self.kept_losses, self.kept_infinite)
        if self.is_of_words:
            states = [point.states for point in self]
            symbols = self.points[0].pdfa.alphabet
            positions = float(str(self.certificate.details["training_positions"]))
            training = np.array([point.training_divergence for point in self]) * positions
            noted = self.certificate.details.get("is_taught")
            taught = noted if isinstance(noted, list) else []
            lengths = self.kept_lengths
            place = find_supported(states, len(symbols), training, losses, lengths, taught)
            return self.points[place].pdfa
        return self.points[smallest_good(losses, self.kept_lengths)].pdfa

    @cached_property
    def knee(self) -> int | None:
        """The number of states where the curve bends most, or None.

        The curve is that of training divergences; for recorded words that of what held-out words
        lose beyond the best automaton's loss and its standard error.
        """
        if self.is_of_words:
            losses = comparable(self.kept_losses, self.kept_infinite)
            means = losses.sum(axis=1) / self.kept_lengths.sum()
            error = standard_error(losses[means.argmin()], self.kept_lengths)
            excess = dict(zip(self.points, means - means.min() + error, strict=True))
            # Larger automata are not better, so the curve goes on flat.
            last = self.points[-1].states
            sizes = sorted({*(point.states for point in self), last + 1, 2 * last})
            found = knee(sizes, [float(excess[self.point(size)]) for size in sizes])
            return None if found is None else self.point(found).states
        smallest, answers = self.points[0].states, self.certificate.details.get("answers", 0)
        # Sizes beyond what the answers support would show a knee of memorised words.
        largest = max(EVERY, int(str(answers)) // _ANSWERS_A_STATE)
        sizes = [size for size in self.sizes if smallest <= size <= largest]
        found = knee(sizes, [self.point(size).training_divergence for size in sizes])
        return None if found is None else self.point(found).states

    def table(self) -> str:
        """Return a table of all points as text."""
        header = frontier_header(self)
        rows = [(*row[:-1], f" {row[-1]}") for row in (header, *frontier_cells(self))]
        lines = [format_table(rows, left=(len(header) - 1,), gap=" ")]
        if self.model_perplexity is not None:
            lines.append(f"perplexity of the model itself: {self.model_perplexity:.3f}")
            lines.append(f"answers of best are {scope_text(self)}")
        return "\n".join(lines)

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
        axes = given_or_new_axes(axes)
        figures = [(point.states, point.divergence, point.low, point.high) for point in self]
        states, values, lows, highs = np.array(figures).T
        axes.fill_between(states, lows, highs, color=COLOUR, alpha=0.2, linewidth=0, label="95%")
        name = frontier_header(self)[1]
        axes.plot(states, values, marker="o", markersize=4, color=COLOUR, label=name)
        best = self.point(len(self.best))
        label = f"best: {count_text(best.states, 'states')}"
        place = [best.states], [best.divergence]
        axes.plot(*place, "o", fillstyle="none", markersize=11, color=MARK, label=label)
        partly = np.array([point.infinite_share > 0 for point in self])
        if partly.any():
            label = "infinite at some positions"
            axes.plot(states[partly], values[partly], "x", color=MARK, label=label)
        if self.knee is not None:
            label = f"knee: {count_text(self.knee, 'states')}"
            axes.axvline(self.knee, linestyle=":", color="#555555", label=label)
        names = {"ylabel": "cross-entropy per symbol (nats)"} if self.is_of_words else {}
        scale = "log" if values.min() > 0 and not self.is_of_words else "linear"
        finish(axes, yscale=scale, **DIVERGENCE_AXES | names)
        write_numbers_in_full(axes.xaxis)
        return axes


class Simplified(NamedTuple):
    """A smaller automaton and what it loses.

    Examples
    --------
    >>> from pdfalearn import simplify
    >>> from pdfalearn.datasets import random_pdfa
    >>> small = simplify(random_pdfa(40, seed=1), states=5)
    >>> small.states, len(small.pdfa), round(small.divergence, 4)
    (5, 5, 0.0418)
    """

    states: int
    """How many states it has."""
    pdfa: PDFA
    divergence: float
    """KL(original ‖ pdfa) per symbol, exact, in nats; see `divergence`."""

    def _repr_html_(self) -> str:
        from pdfalearn.viewing import value_html

        return value_html(self)


Phase = Literal[
    "words", "questions", "automata", "merging", "teacher", "taught", "larger", "measuring"
]


@dataclass(frozen=True)
class DistillingProgress:
    """How far distilling has come.

    Examples
    --------
    >>> from pdfalearn import Budget, distill
    >>> from pdfalearn.datasets import figure_3
    >>> seen = []
    >>> _ = distill(figure_3(), budget=Budget(max_symbols=2000), progress=seen.append)
    >>> seen[0].phase, seen[-1].phase, seen[-1].symbols <= 2000
    ('words', 'measuring', True)
    """

    phase: Phase
    """What is done: words are drawn, blind spots asked, automata searched and measured. Of recorded
    words prefixes are merged and a teacher trained, too; "larger" is a second search."""
    words: int
    """Words drawn so far."""
    symbols: int
    """Symbols that the model was led through."""
    cost: float
    """What asking has cost by the model's `QueryCost`."""
    share: float
    """The share of the budget that is spent; of recorded words, about that of the run."""
    states: int | None = None
    """The size of the automaton that was found last."""
    training_divergence: float | None = None
    """Its divergence on the words that it was made from."""
    held_out_divergence: float | None = None
    """Its divergence on words that are held out, unless it is very large."""
    member: tuple[int, int] | None = None
    """Which part of a teacher is trained, of how many."""


class DistillingInterrupted(KeyboardInterrupt):
    """Distilling was interrupted; ``frontier`` is what was found until then, if anything was.

    Examples
    --------
    >>> from pdfalearn import Budget, distill
    >>> from pdfalearn.datasets import figure_3
    >>> def stop(progress):
    ...     if progress.phase == "automata":
    ...         raise KeyboardInterrupt
    >>> try:
    ...     distill(figure_3(), budget=Budget(max_symbols=2000), progress=stop)
    ... except DistillingInterrupted as interrupted:
    ...     print(type(interrupted.frontier).__name__)
    Frontier
    """

    def __init__(self, frontier: Frontier | None) -> None:
        super().__init__("distilling was interrupted")
        self.frontier = frontier


DIVERGENCE_HEADER = ("divergence", "from", "to", "infinite")


def frontier_header(frontier: Frontier) -> tuple[str, ...]:
    """Return the titles of the columns of a frontier's table."""
    measure = "cross-entropy" if frontier.is_of_words else DIVERGENCE_HEADER[0]
    return ("states", measure, *DIVERGENCE_HEADER[1:], "L1", "WER", "perplexity", "")


def _nats_text(value: float) -> str:
    """Write a divergence in seven characters; of a small one the digits that count."""
    return f"{value:.1e}" if 0 < value < 1e-4 else f"{value:.5f}"


def scope_text(frontier: Frontier) -> str:
    """Return of what answers of a frontier's best automaton are exact, and how near that is."""
    best, measure = frontier.point(len(frontier.best)), frontier_header(frontier)[1]
    text = (
        f"exact of the automaton of {count_text(best.states, 'states')}, whose {measure} on "
        f"held-out words is {best.divergence:.4g} per symbol ({best.low:.4g} to {best.high:.4g})"
    )
    return text if frontier.is_of_words else f"{text}; explore asks the model itself"


def frontier_cells(frontier: Frontier) -> list[tuple[str, ...]]:
    """Return a row of texts for each point; the last says whether it is the best or the knee."""
    marks = {"best": len(frontier.best), "knee": frontier.knee}
    return [
        (
            f"{point.states:,}",
            *map(_nats_text, (point.divergence, point.low, point.high)),
            f"{point.infinite_share:.2%}",
            f"{point.l1:.4f}",
            f"{point.word_error_rate:.2%}",
            f"{point.perplexity:.3f}",
            ", ".join(name for name, size in marks.items() if size == point.states),
        )
        for point in frontier
    ]
