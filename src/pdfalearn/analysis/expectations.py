"""What is expected of an automaton's words: their length, entropy, visits of states, counts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, sqrt

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pdfalearn.analysis.probabilities import Product
from pdfalearn.chains import (
    ELIMINATION_ERROR,
    MOST_ELIMINATED,
    Flow,
    Reached,
    least_costs,
    normalise_rows,
    sums_by,
    visits_and_weights,
)
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.languages import LanguageLike, language_dfa
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import Frontier, TableValue, scope_text
from pdfalearn.typing import Floats

# Lengths up to this one are counted one by one, before powers of the moves are tried.
_STEPS = 2_000
# The powers are tables of up to this many states, of moves of up to 2 to this many symbols.
_MOST_DENSE, _MOST_LEAPS = 500, 1000
# This many of the longest leaps make all digits of a length.
_LEAPS_KEPT = 56
# Transitions passed through before it is given up; a step is at least as much work as some.
_MOST_WORK, _STEP_WORK = 2**33, 5000
# Shares that differ by no more than this are the same but for rounding.
_NEAR = 2.0**-50
# Squares are subtracted where more than this share is left, and scaled above this length.
_FAR, _HUGE = 1e-3, 1e100


SCOPE = "exact of this automaton"


def scope_of(asked: PDFA | Frontier) -> tuple[PDFA, str]:
    """Return the automaton that is asked, and of what its answers are exact."""
    if isinstance(asked, Frontier):
        return asked.best, scope_text(asked)
    return check_pdfa(asked, "pdfa"), SCOPE


@dataclass(frozen=True, eq=False)
class Length(TableValue):
    """The length of words drawn from an automaton, the terminal not counted.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = length(figure_1())
    >>> round(found.mean, 6), round(found.deviation, 6), found.quantile(0.9), found.endless_mass
    (2.0, 1.414214, 4.0, 0.0)
    """

    mean: float
    """Infinite if words may never end."""
    error: float
    """A bound on the error of ``mean``, rounding included."""
    endless_mass: float
    """The probability that a word never ends."""
    endless_states: tuple[int, ...]
    """The states from which no word ends."""
    _flow: Flow = field(repr=False)
    _means: Floats = field(repr=False)
    about: str = SCOPE
    """Of what the figures are exact; of a frontier's automaton how near that is, too."""

    @property
    def statement(self) -> str:
        """Of what the figures are exact."""
        return self.about

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return the mean, the deviation and what never ends."""
        figures = {
            "mean length": f"{self.mean:.6g}",
            "standard deviation": f"{self.deviation:.6g}",
            "words that never end": f"{self.endless_mass:.6g}",
        }
        return [[("", "value"), *figures.items()]]

    @property
    def variance(self) -> float:
        """Infinite if words may never end, or if it is too large to be written."""
        share, most = self._relative_variance
        return share * most * most

    @property
    def deviation(self) -> float:
        """The standard deviation; infinite if words may never end."""
        share, most = self._relative_variance
        return sqrt(share) * most

    @cached_property
    def _relative_variance(self) -> tuple[float, float]:
        """The variance divided by the square of a length, and that length."""
        if self.mean == inf:
            return 1.0, inf
        flow, most = self._flow, max(1.0, float(self._means.max()))
        most = most if most > _HUGE else 1.0
        means, step = self._means / most, 1 / most
        # E n² keeps its digits where lengths differ much, and what follows where they do not.
        onwards = sums_by(
            flow.sources, flow.weights * (step + 2 * means[flow.successors]), len(flow)
        )
        square, mean = float(flow.values(onwards * step)[0]), self.mean / most
        if square - mean * mean > _FAR * square:
            return square - mean * mean, most
        # By how much the expectation changes in one step, squared, on average.
        changes = step + means[flow.successors] - means[flow.sources]
        steps = sums_by(flow.sources, flow.weights * changes**2, len(flow))
        return float(flow.values(steps + flow.leaving * means**2)[0]), most

    def distribution(self, most: int) -> Floats:
        """Return the probabilities of the lengths 0, 1, …, ``most``.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> length(figure_1()).distribution(3)
        array([0.   , 0.5  , 0.25 , 0.125])
        """
        most = check_integer(most, "the greatest length", 0)
        moves, ends = _normalise_moves(self._flow), self._flow.leaving / self._flow.sums
        here, probabilities = self._flow.start, np.zeros(most + 1)
        for step in range(most + 1):
            probabilities[step] = here @ ends
            here = np.asarray(moves @ here)
        return probabilities

    def quantile(self, share: float) -> float:
        """Return the least length such that at least this share of the words is not longer.

        It is infinite if the words that end have a smaller share than this.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> length(figure_1()).quantile(0.9)
        4.0
        """
        share = check_number(share, "quantile", 0.0, 1.0)
        flow, longer = self._flow, 1.0 - share
        if share == 0:  # the shortest word; infinite if no word ends
            ends, steps = np.where(flow.leaving > 0, 0.0, inf), np.ones(len(flow.sources))
            return float(least_costs(flow.sources, flow.successors, steps, ends)[0])
        if self.endless_mass:
            # Of the words that end, a larger share is needed.
            flow, ending = _end_always(flow)
            rest, whole = (ending - share, ending)
            if ending > 0.5:
                rest, whole = longer - self.endless_mass, max(longer, self.endless_mass)
            if rest < -_NEAR * whole or not ending:
                return inf
            if rest <= _NEAR * whole and _is_unbounded(flow):
                raise InputError(
                    f"{share} is the share of words that end, but for rounding; "
                    "take a smaller quantile"
                )
            share, longer = share / ending, max(0.0, rest / ending)
        if longer == 0 and _is_unbounded(flow):
            return inf
        return _steps_until(flow, share, longer)


def _end_always(flow: Flow) -> tuple[Flow, float]:
    """Return the flow of the words that end, and their share."""
    kept = ~flow.endless
    if not kept[0]:
        return flow, 0.0
    ending = flow.restrict_to(kept)
    inner = flow.leaving[kept]
    shares = ending.values(inner)
    weights = ending.weights * shares[ending.successors]
    return Flow(ending.sources, ending.successors, weights, inner), float(shares[0])


def length(pdfa: PDFA | Frontier) -> Length:
    """Compute how long words drawn from an automaton are.

    Parameters
    ----------
    pdfa : PDFA or Frontier
        The automaton, or a frontier for its best one. Rows are divided by their sums.

    Returns
    -------
    Length
        The mean at once; variance, ``distribution`` and ``quantile`` when asked.

    Notes
    -----
    The mean length xᵢ from state i on solves (tᵢ + Σ pᵢⱼ)·xᵢ = Σ pᵢⱼ(1 + xⱼ), where j ≠ i on the
    left: what leaves a state is added up and never subtracted from 1. Where a few passes do not
    suffice, components of up to 3,000 states are eliminated without a subtraction (Grassmann,
    Taksar and Heyman), which is right to nearly all digits however hardly words end; larger ones
    are approximated, and refused if nine digits cannot be proved. The error is bounded by that of
    the elimination, or by the largest residual, as one position more or less in every place is
    just that much of all positions.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = length(figure_1())
    >>> round(result.mean, 12), round(result.variance, 12), result.endless_mass
    (2.0, 2.0, 0.0)
    """
    pdfa, scope = scope_of(pdfa)
    reached = Reached.of(pdfa)
    flow, mass = reached.flow, reached.endless_mass
    if flow.endless.any():
        return Length(inf, 0.0, mass, reached.endless_states, flow, np.empty(0), scope)
    gains = sums_by(flow.sources, flow.weights, len(flow))
    means = flow.values(gains)
    return Length(float(means[0]), _bound_error(flow, means, gains), mass, (), flow, means, scope)


def _bound_error(flow: Flow, means: Floats, gains: Floats) -> float:
    """Bound the error of the mean length by the residual of the solution, and by rounding."""
    # Rows are added up, and what they give is rounded to a double, the mean itself as well.
    roundings = float(np.bincount(flow.sources, minlength=1).max()) + 4
    residual = np.abs(flow.residual(means, gains)) / flow.sums
    left = float(residual.max() + roundings * np.finfo(np.longdouble).eps * means.max())
    # Elimination without a subtraction is right to this share of it, however long words are.
    share = ELIMINATION_ERROR * len(flow) ** 3 if len(flow) <= MOST_ELIMINATED else inf
    mean = float(means[0])
    return min(left * (mean + 1), share * mean) + roundings * 2.0**-53 * mean


def _normalise_moves(flow: Flow) -> csr_array[np.float64]:
    """Return the matrix that passes probability on by one symbol."""
    weights = flow.weights / flow.sums[flow.sources]
    return csr_array((weights, (flow.successors, flow.sources)), shape=(len(flow), len(flow)))


def _is_unbounded(flow: Flow) -> bool:
    """Return whether there are words of any length: whether words come back to a state."""
    moves = _normalise_moves(flow)
    count, _ = connected_components(moves, connection="strong")
    return bool(count < len(flow) or (moves.diagonal() > 0).any())


def _steps_until(flow: Flow, share: float, longer: float) -> float:
    """Return the least n such that words of up to n symbols have this share, others ``longer``."""
    moves, ends = _normalise_moves(flow), flow.leaving / flow.sums
    here, ended, steps = flow.start, 0.0, 0

    def is_enough(ended: float, left: float) -> bool:
        # The smaller one has more digits.
        return ended >= share * (1 - _NEAR) if share <= 0.5 else left <= longer * (1 + _NEAR)

    while True:
        ended += float(here @ ends)
        here = _keep_mass(np.asarray(moves @ here), ended)
        if is_enough(ended, float(here.sum())):
            return float(steps)
        steps += 1
        if steps >= _STEPS and len(flow) <= _MOST_DENSE:
            break
        if steps * (moves.nnz + _STEP_WORK) > _MOST_WORK:
            raise InputError(
                f"words are too long: {here.sum():.3g} of them have more than {steps:,} symbols; "
                "take a smaller quantile, or draw words instead"
            )
    # Double the leap until it goes too far, then take every leap that does not.
    leaps, doublings = deque([(moves.toarray(), ends)], maxlen=_LEAPS_KEPT), 0
    while True:
        table, ending = leaps[-1]
        if is_enough(ended + float(here @ ending), float((table @ here).sum())):
            break
        if doublings == _MOST_LEAPS:
            raise InputError("words are too long for a quantile; the mean is exact")
        later = ending + ending @ table
        leaps.append((_keep_mass(table @ table, later), later))
        doublings += 1
    for place, (table, ending) in enumerate(reversed(leaps)):
        more, there = ended + float(here @ ending), np.asarray(table @ here)
        if not is_enough(more, float(there.sum())):
            ended, here = more, _keep_mass(there, more)
            steps += 2 ** (doublings - place)
    return float(steps)


def _keep_mass(here: Floats, ended: float | Floats) -> Floats:
    """Correct what has not ended by what has: else rounding adds up in cycles that hardly end."""
    sums = here.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        factors = np.where((np.asarray(ended) < 0.5) & (sums > 0), (1 - ended) / sums, 1.0)
    return np.asarray(here * factors)


@dataclass(frozen=True, eq=False)
class Visits:
    """How often one word is expected to visit states and to take transitions.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> visits = expected_visits(figure_1())
    >>> visits.states.round(6).tolist(), visits.transitions.round(6).tolist()
    ([1.0, 2.0], [[1.0], [1.0]])
    """

    states: Floats
    """Of every state; infinite where words come back for ever."""
    transitions: Floats
    """Of every state and symbol, shape (states, symbols)."""
    endless_states: tuple[int, ...]
    """The states from which no word ends."""


def expected_visits(pdfa: PDFA) -> Visits:
    """Compute how often a word is expected to visit every state, and to take every transition.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = expected_visits(figure_1())
    >>> result.states.round(6).tolist(), result.transitions.round(6).tolist()
    ([1.0, 2.0], [[1.0], [1.0]])
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    reached = Reached.of(pdfa)
    visits, _ = visits_and_weights(reached.flow)
    states = reached.by_state(np.where(reached.flow.components < 0, visits, inf))
    rows = normalise_rows(pdfa.probabilities)[:, 1:]
    with np.errstate(invalid="ignore"):
        transitions = np.where(rows > 0, states[:, None] * rows, 0.0)
    return Visits(states, transitions, reached.endless_states)


def expected_count(pdfa: PDFA, language: LanguageLike) -> float:
    """Compute how many prefixes of a drawn word are expected to be in a language.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.
    language : str, DFA, Language, or iterable of words
        ``EndsWith("a")`` counts how often a symbol occurs, ``EndsWith("ab")`` a word, and a regular
        expression such as ``".*(ab|ba)"`` the places where a match ends. The word itself is one of
        its prefixes, and so is the empty word.

    Returns
    -------
    float
        Infinite if words may go on for ever and be in the language again and again.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.languages import EndsWith
    >>> round(expected_count(figure_1(), EndsWith("a")), 12)
    2.0
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    product = Product.of(pdfa, language_dfa(language, pdfa.alphabet))
    return float(product.flow.values(product.accepting.astype(np.float64))[0])
