"""Compare two automata: all exact measures of how far, and where, they are apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf
from typing import overload

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.analysis import (
    FALSE_ALARMS,
    Differences,
    Distances,
    differences,
    distances,
    find_changes,
)
from pdfalearn.chains import Pairs, sums_by, visits_and_weights
from pdfalearn.checks import check_integer
from pdfalearn.corpora import CorpusLike, as_corpus, is_corpus, join_corpora
from pdfalearn.equivalence import Exact, Relation, check_relation, distinguish, over_union
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import (
    Changes,
    DirectedDivergence,
    DistillingProgress,
    Divergence,
    TableValue,
)
from pdfalearn.text import are_characters, short_word_text


def divergence(a: PDFA, b: PDFA) -> Divergence:
    """Compute the Kullback-Leibler divergence of two PDFA, exactly and both ways.

    Parameters
    ----------
    a, b : PDFA
        The automata; a symbol that one of them does not know has probability 0 there, and their
        terminals may have other names. Rows are divided by their sums, which files may leave off 1
        by 1e-6.

    Returns
    -------
    Divergence
        ``forward`` is KL(a ‖ b) and ``backward`` KL(b ‖ a): each per word, per symbol, and the part
        of every state. It is infinite where one gives probability 0 to what the other allows.

    Raises
    ------
    InputError
        If words reach more than four million pairs of states.

    Notes
    -----
    Words drawn from a visit pairs of states of the two automata. The expected numbers of visits v
    solve v = e + Pᵀv, where e is the initial pair and P are a's probabilities, and KL(a ‖ b) is the
    sum of v times the divergence of the two rows. Where words of a never end with a positive
    probability, ``per_symbol`` is what the mean over the first n positions of such words tends to;
    ``per_word`` is then infinite unless that is 0.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = divergence(figure_1(), figure_1(0.25))
    >>> round(result.forward.per_word, 6), round(result.forward.per_symbol, 6)
    (0.287682, 0.095894)
    >>> result.forward.by_state.sum() == result.forward.per_symbol
    np.True_
    """
    a, b = check_pdfa(a, "a"), check_pdfa(b, "b")
    return Divergence(forward=directed_divergence(a, b), backward=directed_divergence(b, a))


def directed_divergence(first: PDFA, second: PDFA) -> DirectedDivergence:
    """Compute one direction only: KL(first ‖ second)."""
    first, second = over_union(check_pdfa(first, "first"), check_pdfa(second, "second"))
    pairs = Pairs.visited(first, second)
    values = pairs.row_divergences()
    visits, weights = visits_and_weights(pairs.flow)
    # An infinite divergence counts as such, however small the weight is: inf · 0 would be NaN.
    finite = np.isfinite(values)
    terms = np.where(finite, weights * np.where(finite, values, 0.0), inf)
    by_state = sums_by(pairs.lefts, terms, len(first))
    shares = sums_by(pairs.lefts, weights, len(first))
    for array in (by_state, shares):
        array.setflags(write=False)
    per_symbol, ends = float(by_state.sum()), not pairs.flow.endless.any()
    per_word = inf if per_symbol and not ends else float(visits @ np.where(visits, values, 0.0))
    finite_weight = float(weights[finite].sum())
    return DirectedDivergence(
        per_word=inf if isinf(per_symbol) else per_word,
        per_symbol=per_symbol,
        expected_length=float(visits.sum()) - 1 if ends else inf,
        by_state=by_state,
        visits=shares,
        infinite_share=float(weights[~finite].sum() / weights.sum()),
        finite_mean=float(terms[finite].sum()) / finite_weight if finite_weight else np.nan,
    )


EXACT = Exact()


@dataclass(frozen=True)
class Comparison(TableValue):
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

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return tables of the distances, both divergences, the words and the pairs of states."""
        joined, word = are_characters(self.a.alphabet), self.word
        text = "no word" if word is None else short_word_text(word, joined=joined)
        measures: list[tuple[str, ...]] = [
            ("different after", text),
            *self.distances.tables()[0][1:],
        ]
        ways = [("divergence", "a ‖ b", "b ‖ a"), *self.divergence.rows()]
        return [measures, ways, *(rows for rows in self.differences.tables() if len(rows) > 1)]


@overload
def compare(a: PDFA, b: PDFA, *, equivalence: Relation = EXACT, count: int = 10) -> Comparison: ...


@overload
def compare(
    a: CorpusLike,
    b: CorpusLike,
    *,
    model: PDFA | None = None,
    false_alarms: float = FALSE_ALARMS,
    processes: int = 1,
    progress: Callable[[DistillingProgress], None] | None = None,
) -> Changes: ...


def compare(
    a: PDFA | CorpusLike,
    b: PDFA | CorpusLike,
    *,
    equivalence: Relation = EXACT,
    count: int = 10,
    model: PDFA | None = None,
    false_alarms: float = FALSE_ALARMS,
    processes: int = 1,
    progress: Callable[[DistillingProgress], None] | None = None,
) -> Comparison | Changes:
    """Compare two automata exactly, over all words at once, or find what two corpora do otherwise.

    Parameters
    ----------
    a, b : PDFA, Corpus or iterable of words
        Two automata, or two corpora. Automata are compared over the symbols of both: one that an
        automaton does not know has probability 0 there, and leads nowhere.
    equivalence : Equivalence or Tolerance
        When two distributions are the same, or similar, for ``word``; for automata only, as
        ``count`` is.
    count : int
        How many words, and how many pairs of states, ``differences`` has at most.
    model : PDFA, optional
        For corpora: the automaton whose transitions are compared. If not given, one is distilled
        from the words of both, which has to hold them in memory; with it, files of any size are
        read once.
    false_alarms : float
        For corpora: the probability that any change is named although there is none, at most.
    processes : int
        For corpora: how many processes read them.
    progress : callable, optional
        For corpora without a model: called while one is distilled, as by `distill`.

    Returns
    -------
    Comparison or Changes
        Of automata ``word``, ``distances``, ``divergence`` and ``differences``, each computed when
        it is first asked for. Of corpora the changed transitions by pair of states, and new and
        vanished events. ``print`` shows all as tables.

    Notes
    -----
    Words, such as the sessions of a log, are what is independent, and not their symbols. The test
    of a transition is a G-test (the likelihood ratio's) of how often it is taken of all visits to
    its state, divided by the design effect: by how much more that varies from word to word than if
    all symbols were independent, and at least 1. Where fewer than ten words are expected in the
    smaller corpus to take it, or not to, it is Fisher's exact test on the first visit of each word
    to the state. An event is tested by Fisher's test on the words that have it. All p-values are
    after Holm, without those tests that so few words could never make significant (Tarone 1990).

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
    probability of the word       a          b     share
    a                           0.5       0.75  0.239567
    aaaa                     0.0625  0.0117188  0.190592
    <BLANKLINE>
    probability of the next symbol    a     b  share
    a after a                       0.5  0.25      1
    """
    if is_corpus(a) and is_corpus(b):
        corpora = as_corpus(a), as_corpus(b)
        if model is None:
            from pdfalearn.distilling import distill  # on a floor above

            model = distill(join_corpora(*corpora), progress=progress).best
        return find_changes(model, *corpora, false_alarms=false_alarms, processes=processes)
    if model is not None:
        raise InputError("model is for corpora, and a and b are not both corpora; leave it out")
    a, b = over_union(check_pdfa(a, "a"), check_pdfa(b, "b"))
    return Comparison(a, b, check_relation(equivalence), check_integer(count, "count", 0))
