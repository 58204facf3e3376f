"""Compare two automata: all exact measures of how far, and where, they are apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from pdfalearn.alphabet import Symbol
from pdfalearn.analysis import Differences, Distances, differences, distances
from pdfalearn.checks import checked_integer
from pdfalearn.equivalence import Exact, Relation, check_relation, distinguish, over_union
from pdfalearn.metrics.divergences import divergence
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.results import Divergence
from pdfalearn.text import are_characters, short_word_text, symbol_text

EXACT = Exact()


@dataclass(frozen=True)
class Comparison:
    """How far two automata are apart, and where; each measure is computed when it is asked for.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = compare(figure_1(), figure_1(0.25))
    >>> found.word, round(found.distances.hellinger, 6), found.differences.words[0].word
    (('a',), 0.229586, ('a',))
    """

    a: PDFA
    b: PDFA
    """The two automata, over the symbols of both."""
    equivalence: Relation
    """When two distributions are the same, or similar."""
    count: int
    """How many differing words, and how many prefixes, are looked for."""

    @cached_property
    def word(self) -> tuple[Symbol, ...] | None:
        """A short word after which the two differ, by `distinguish`; None if there is none."""
        return distinguish(self.a, self.b, equivalence=self.equivalence)

    @cached_property
    def distances(self) -> Distances:
        """How far the distributions over words are apart."""
        return distances(self.a, self.b)

    @cached_property
    def divergence(self) -> Divergence:
        """The divergence of each from the other."""
        return divergence(self.a, self.b)

    @cached_property
    def differences(self) -> Differences:
        """The words and the prefixes that make most of the difference."""
        return differences(self.a, self.b, self.count)

    def __str__(self) -> str:
        far, where = self.distances, self.differences
        bounds = f"{far.total_variation_low:.6g} to {far.total_variation_high:.6g}"
        measures: list[tuple[str, ...]] = [
            ("different after", "no word" if self.word is None else self._write_word(self.word)),
            ("Hellinger distance", f"{far.hellinger:.6g}"),
            ("total variation", bounds),
            ("Bhattacharyya distance", f"{far.bhattacharyya:.6g}"),
            ("L2 distance", f"{far.l2:.6g}"),
        ]
        words = [
            (self._write_word(one.word), *_write_figures(one.probability_a, one.probability_b))
            for one in where.words
        ]
        prefixes = [
            (
                f"{symbol_text(one.symbol)} after {self._write_word(one.prefix)}",
                *_write_figures(one.probability_a, one.probability_b),
            )
            for one in where.prefixes
        ]
        tables: list[list[tuple[str, ...]]] = [
            measures,
            [("divergence", "a ‖ b", "b ‖ a"), *self.divergence.rows()],
            [("probability of the word", "a", "b"), *words],
            [("probability of the next symbol", "a", "b"), *prefixes],
        ]
        return "\n\n".join(_align_columns(rows) for rows in tables if len(rows) > 1)

    def _write_word(self, word: tuple[Symbol, ...]) -> str:
        return short_word_text(word, joined=are_characters(self.a.alphabet))


def _write_figures(*figures: float) -> tuple[str, ...]:
    return tuple(f"{value:.6g}" for value in figures)


def _align_columns(rows: Iterable[tuple[str, ...]]) -> str:
    """Write rows below each other, the first column to the left and all others to the right."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
        for row in zip(*columns, strict=True)
    )


def compare(a: PDFA, b: PDFA, *, equivalence: Relation = EXACT, count: int = 10) -> Comparison:
    """Compare two automata exactly, over all words at once.

    Parameters
    ----------
    a, b : PDFA
        The automata. They are compared over the symbols of both: one that an automaton does not
        know has probability 0 there, and leads nowhere.
    equivalence : Equivalence or Tolerance
        When two distributions are the same, or similar, for ``word``.
    count : int
        How many words, and how many prefixes, ``differences`` has at most.

    Returns
    -------
    Comparison
        ``word``, ``distances``, ``divergence`` and ``differences``, each computed when it is first
        asked for; ``print`` shows all of them as tables.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> print(compare(figure_1(), figure_1(0.25), count=2))
    different after                            a
    Hellinger distance                  0.229586
    total variation         0.138013 to 0.320377
    Bhattacharyya distance               0.05415
    L2 distance                         0.276026
    <BLANKLINE>
    divergence                          a ‖ b      b ‖ a
    per symbol                      0.0958940  0.0747497
    per word                         0.287682   0.174416
    expected length                   2.00000    1.33333
    positions where it is infinite          0          0
    mean over all other positions   0.0958940  0.0747497
    <BLANKLINE>
    probability of the word       a          b
    a                           0.5       0.75
    aaaa                     0.0625  0.0117188
    <BLANKLINE>
    probability of the next symbol    a     b
    a after a                       0.5  0.25
    a after aa                      0.5  0.25
    """
    a, b = over_union(checked_pdfa(a, "a"), checked_pdfa(b, "b"))
    return Comparison(a, b, check_relation(equivalence), checked_integer(count, "count", 0))
