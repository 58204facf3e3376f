"""How well one model predicts another: evaluations and divergences, and their tables."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf
from typing import Any

from pdfalearn.equivalence import Equivalence, Quantization, Tolerance
from pdfalearn.extras import import_extra
from pdfalearn.results.certificates import NotebookValue
from pdfalearn.text import format_table
from pdfalearn.typing import Floats


@dataclass(frozen=True)
class Agreement:
    """Means over pairs of distributions, the target's and the candidate's after the same word.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.metrics import evaluate_exactly
    >>> found = evaluate_exactly(figure_1(), figure_1(0.25)).over_words
    >>> found.word_error_rate, round(found.l1, 6), found.infinite_kl
    (0.0, 0.5, 0.0)
    """

    word_error_rate: float
    """How often the candidate's likeliest symbol is not one of the target's likeliest."""
    ndcg: float
    """How well the candidate orders the likeliest symbols, NDCG@k: 1 is as the target does."""
    difference: float
    """The share of distributions in another class, or out of tolerance."""
    l1: float
    """The distance Σ |p - p̂|."""
    kl: float
    """The divergence Σ p ln(p / p̂); infinite if it is so for one pair."""
    infinite_kl: float
    """The share of pairs whose divergence is infinite."""


@dataclass(frozen=True)
class Evaluation(NotebookValue):
    """How well a candidate predicts a target.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.metrics import evaluate_exactly
    >>> found = evaluate_exactly(figure_1(), figure_1(0.25))
    >>> found.mean_length, round(found.perplexity, 6), found.one_sided_words
    (2.0, 1.747161, 0.0)
    """

    words: int | None
    """How many words; None for all words, each with its probability in the target."""
    cut_words: int
    """How many of them were drawn up to the maximal length and cut there."""
    mean_length: float
    """The mean length of the words."""
    equivalence: Equivalence | Tolerance
    """When two distributions are the same, or similar."""
    k: int
    """How many places count for NDCG."""
    over_prefixes: Agreement
    """After every prefix of every word, as Weiss et al. (2019) average."""
    over_words: Agreement
    """After whole words only, as the program of the paper's authors averages."""
    log_probability_error: float | None
    """The mean of |ln P(w) - ln P̂(w)| over whole words; None where it is over all words."""
    one_sided_words: float
    """The share of words that are possible in one of the two only."""
    target_perplexity: float
    """exp of the target's mean of -ln p over all symbols and terminals of the words."""
    perplexity: float
    """The same of the candidate."""

    @property
    def kl_of_words(self) -> float:
        """The divergence of whole words, if the words are the target's own: E ln(P(w) / P̂(w))."""
        return self.over_prefixes.kl * (self.mean_length + 1)

    def __str__(self) -> str:
        return self.table()

    def table(self) -> str:
        """Return all measures as a table, for people.

        Examples
        --------
        >>> from pdfalearn import Quantization, evaluate, quotient
        >>> from pdfalearn.datasets import figure_3
        >>> coarse = quotient(figure_3(), equivalence=Quantization(1))
        >>> for line in evaluate(figure_3(), coarse, ["", "0", "01"]).table().splitlines()[:4]:
        ...     print(line)
                                     all prefixes  whole words
        word error rate                      0.25     0.333333
        NDCG@1                              0.875     0.833333
        different                             0.5     0.666667
        """
        facts = [(*cells, "") for cells in fact_cells(self)]
        return format_table([EVALUATION_HEADER, *comparison_cells(self), *facts])

    def to_frame(self) -> Any:
        """Make a table of pandas, a line for each measure; needs the extra ``exchange``.

        Its columns are ``over_prefixes`` and ``over_words``.
        """
        over = {name: vars(getattr(self, name)) for name in ("over_prefixes", "over_words")}
        return import_extra("pandas", "tables").DataFrame(over)


EVALUATION_HEADER = ("", "all prefixes", "whole words")
FACTS = {
    "words": "words",
    "cut_words": "of these cut",
    "mean_length": "mean length",
    "log_probability_error": "log-probability error",
    "one_sided_words": "possible in one only",
    "target_perplexity": "perplexity of the target",
    "perplexity": "perplexity of the candidate",
}
"""What the figures of whole words are called."""


def comparison_cells(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """Return a row of texts for each measure, over all prefixes and over whole words."""
    relation, difference = evaluation.equivalence, "different"
    if isinstance(relation, Quantization):
        difference = f"different at kappa {relation.kappa}"
    elif isinstance(relation, Tolerance):
        difference = f"out of tolerance {relation.tolerance:g}"
    # In the order of an agreement's fields.
    ndcg = f"NDCG@{evaluation.k}"
    labels = ("word error rate", ndcg, difference, "L1", "KL", "KL is infinite")
    over = (vars(evaluation.over_prefixes).values(), vars(evaluation.over_words).values())
    return [(label, *map(figure, both)) for label, *both in zip(labels, *over, strict=True)]


def fact_cells(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return a row of texts for each of the other figures that there are."""
    return [
        (label, figure(value))
        for name, label in FACTS.items()
        if (value := getattr(evaluation, name)) is not None
    ]


def figure(value: object) -> str:
    """Write a figure."""
    return f"{value:.6g}" if isinstance(value, float) else f"{value:,}"


@dataclass(frozen=True, eq=False)
class DirectedDivergence:
    """The divergence of a second PDFA from a first, whose words these are, in nats.

    Examples
    --------
    >>> from pdfalearn import divergence
    >>> from pdfalearn.datasets import figure_1
    >>> forward = divergence(figure_1(), figure_1(0.25)).forward
    >>> round(forward.per_word, 6), round(forward.expected_length, 6), forward.is_infinite
    (0.287682, 2.0, False)
    """

    per_word: float
    """KL of the distributions over words: E ln(P(w) / P̂(w)), w drawn from the first."""
    per_symbol: float
    """``per_word`` divided by ``expected_length`` + 1, or the long-run rate of endless words."""
    expected_length: float
    """The expected length of the first's words; infinite if they may never end."""
    by_state: Floats
    """The part of ``per_symbol`` that arises in each state of the first; they sum to it."""
    visits: Floats
    """The share of positions at which the first is in each of its states; they sum to 1."""
    infinite_share: float
    """The share of positions at which the second gives 0 to what the first allows."""
    finite_mean: float
    """The mean over all other positions; NaN if there are none."""

    @property
    def is_infinite(self) -> bool:
        """Whether the second gives 0 to a symbol that the first allows, after any word."""
        return isinf(self.per_symbol)


@dataclass(frozen=True, eq=False)
class Divergence(NotebookValue):
    """How far two PDFA ``a`` and ``b`` are apart, both ways, in nats.

    Examples
    --------
    >>> from pdfalearn import divergence
    >>> from pdfalearn.datasets import figure_1
    >>> both = divergence(figure_1(), figure_1(0.25))
    >>> round(both.forward.per_symbol, 6), round(both.backward.per_symbol, 6)
    (0.095894, 0.07475)
    """

    forward: DirectedDivergence
    """KL(a ‖ b): words are drawn from a, and b has to account for them."""
    backward: DirectedDivergence
    """KL(b ‖ a)."""

    def __str__(self) -> str:
        return "; ".join(
            f"KL({which}) = {one.per_symbol:.6g} per symbol, {one.per_word:.6g} per word"
            for which, one in (("a ‖ b", self.forward), ("b ‖ a", self.backward))
        )

    def table(self) -> str:
        """Return a small table of both directions, for people.

        Examples
        --------
        >>> from pdfalearn import divergence
        >>> from pdfalearn.datasets import figure_1
        >>> print(divergence(figure_1(), figure_1(0.25)).table())
                                            a ‖ b      b ‖ a
        per symbol                      0.0958940  0.0747497
        per word                         0.287682   0.174416
        expected length                   2.00000    1.33333
        positions where it is infinite          0          0
        mean over all other positions   0.0958940  0.0747497
        """
        return format_table([("", "a ‖ b", "b ‖ a"), *self.rows()])

    def rows(self) -> list[tuple[str, ...]]:
        """Return what each figure is, and its two values, as texts."""
        labels = {
            "per_symbol": "per symbol",
            "per_word": "per word",
            "expected_length": "expected length",
            "infinite_share": "positions where it is infinite",
            "finite_mean": "mean over all other positions",
        }
        ways = self.forward, self.backward
        values = {text: [getattr(way, name) for way in ways] for name, text in labels.items()}
        return [(text, *(f"{v:#.6g}" if v else "0" for v in both)) for text, both in values.items()]
