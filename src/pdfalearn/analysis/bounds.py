"""Sound bounds: what an answer is at least and at most for every model that the classes allow."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import BinaryIO

import numpy as np

from pdfalearn.analysis.probabilities import Product
from pdfalearn.chains import (
    IntervalChain,
    end_components,
    greatest_reach,
    greatest_steps,
    least_reach,
    least_steps,
)
from pdfalearn.equivalence import Exact, Quantization, Relation, Rounded, Tolerance, check_relation
from pdfalearn.errors import InputError
from pdfalearn.files import write_named
from pdfalearn.io import write_intervals
from pdfalearn.languages import DFA, HasLength, LanguageLike, complement, intersection, language_dfa
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import Bounds, Frontier, Result
from pdfalearn.text import described
from pdfalearn.typing import Floats

# More than the shift by 2⁻⁵⁰ and all rounding can move a probability across a boundary.
_MARGIN = 2.0**-49


@dataclass(frozen=True, eq=False)
class Boxes:
    """The least and the greatest value of every probability of every state, the terminal first.

    All distributions of a state's class lie in its box. What is undefined has probability 0.
    """

    lows: Floats
    highs: Floats

    @classmethod
    def of(cls, pdfa: PDFA, equivalence: Relation) -> Boxes:
        """Return the boxes of an automaton's rows, each closed and a little too wide.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> Boxes.of(figure_1(), Quantization(4)).highs.tolist()
        [[0.25, 1.0], [0.75, 0.75]]
        """
        lows, highs = _box(pdfa.probabilities, equivalence)
        lows, highs = np.clip(lows, 0.0, 1.0), np.clip(highs, 0.0, 1.0)
        highs[:, 1:][pdfa.transitions < 0] = 0.0
        lows[:, 1:][pdfa.transitions < 0] = 0.0
        empty = (lows.sum(axis=1) > 1 + 1e-12) | (highs.sum(axis=1) < 1 - 1e-12)
        if empty.any():
            raise InputError(
                f"state {int(empty.argmax())}: no distribution that sums to 1 is in its class by "
                f"{equivalence!r}, as its own row does not; divide the rows by their sums"
            )
        return cls(lows, highs)


def _box(rows: Floats, equivalence: Relation, margin: float = _MARGIN) -> tuple[Floats, Floats]:
    if isinstance(equivalence, Quantization):
        kappa, intervals = equivalence.kappa, equivalence.intervals(rows)
        # The last interval has no end, as it takes what rounding leaves above 1.
        highs = np.where(intervals == kappa - 1, 1.0, (intervals + 1) / kappa)
        return intervals / kappa - margin, highs + (margin - _MARGIN)
    if isinstance(equivalence, Rounded):
        decimals = equivalence.decimals
        margin += 0.5 * 10.0**-decimals
        return _box(np.round(rows, decimals), equivalence.equivalence, margin)
    if isinstance(equivalence, Tolerance):
        return rows - equivalence.limit - margin, rows + equivalence.limit + margin
    if isinstance(equivalence, Exact):
        return rows - margin, rows + margin
    raise InputError(
        f"equivalence={equivalence!r} does not say how far the members of a class are apart; "
        "bounds need Quantization(kappa), Rounded, Tolerance or Exact"
    )


def interval_chain(product: Product, boxes: Boxes) -> IntervalChain:
    """Return the chain of a product: words of the language end in ``yes``, others in ``no``."""
    walk, size = product.walk, len(product)
    places = np.arange(size)
    lefts = walk.lefts[walk.sources]
    lows, highs = (
        np.concatenate(
            (table[lefts, walk.symbols + 1], table[walk.lefts, 0], product.sum_lost(table))
        )
        for table in (boxes.lows, boxes.highs)
    )
    ends_in = np.where(product.accepting, size, size + 1)
    sources = np.concatenate((walk.sources, places, places))
    targets = np.concatenate((walk.successors, ends_in, np.full(size, size + 1)))
    rounding = boxes.lows.shape[1] * 2.0**-51
    return IntervalChain.of_cells(size, sources, targets, lows, highs, rounding)


def save_intervals(pdfa: PDFA, path: str | os.PathLike[str], *, equivalence: Relation) -> None:
    """Write an automaton with the interval of every probability, as an interval Markov chain.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    path : str or os.PathLike
        A file whose name ends with ``.drn``.
    equivalence : Equivalence or Tolerance
        The classes of the states, such as ``Quantization(1000)``.

    Notes
    -----
    Storm solves such chains if every interval begins above 0; `probability_bounds` needs no such
    thing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pdfalearn import Quantization
    >>> from pdfalearn.datasets import figure_1
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_intervals(figure_1(), pathlib.Path(folder, "x.drn"), equivalence=Quantization(4))
    ...     text = pathlib.Path(folder, "x.drn").read_text()
    >>> text.splitlines()[1], text.splitlines()[14].strip()
    ('@value_type: double-interval', '2 : [0.0, 0.25]')
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    boxes = Boxes.of(pdfa, check_relation(equivalence))

    def write(pdfa: PDFA, stream: BinaryIO) -> None:
        write_intervals(pdfa, boxes.lows, boxes.highs, stream)

    write_named(pdfa, path, {".drn": write})


_NO_CLAIM = {
    "tested": "testing found no difference, and no more is known",
    "stopped": "a bound stopped learning before all transitions were resolved",
    "interrupted": "learning was interrupted",
    "distilled": "a distilled automaton is near the model on average, and nowhere for sure",
}


@dataclass(frozen=True)
class Claim:
    """An automaton, the relation between it and models, and the models for which that holds."""

    pdfa: PDFA
    equivalence: Relation
    statement: str
    """For which models bounds hold."""
    epsilon: float = 0.0
    """The share of the model's words about which nothing is known."""
    confidence: float = 1.0
    """The probability that the share is at most ``epsilon``."""

    @cached_property
    def boxes(self) -> Boxes:
        """The intervals of all probabilities of such models."""
        return Boxes.of(self.pdfa, self.equivalence)

    @classmethod
    def of(cls, automaton: PDFA | Result | Frontier, equivalence: Relation | None) -> Claim:
        """Find out what is known; refuse an automaton about which nothing is known."""
        if isinstance(automaton, Frontier):
            raise _nothing_known("distilled")
        if isinstance(automaton, Result):
            return _claim_of_run(automaton, equivalence)
        pdfa = check_pdfa(automaton, "automaton")
        if equivalence is None:
            raise InputError(
                "bounds of a PDFA need equivalence=Quantization(kappa), the classes that models "
                "may differ in; the Result of learn knows its own"
            )
        relation = check_relation(equivalence)
        if isinstance(relation, Tolerance):
            raise InputError(
                f"{relation!r} does not say of a PDFA alone that every answer was compared with "
                "its state's row; give the Result of a run whose certificate is exact or PAC"
            )
        return cls(pdfa, relation, "every model whose answers are in the classes of their states")


def _claim_of_run(result: Result, equivalence: Relation | None) -> Claim:
    certificate = result.certificate
    if result.equivalence is None:
        raise InputError("the run's file does not say by what answers were compared; no bounds")
    if equivalence is not None and equivalence != result.equivalence:
        raise InputError(
            f"equivalence={equivalence!r}, but the run compared answers by "
            f"{result.equivalence!r}; leave it out"
        )
    if certificate.details.get("equivalence", repr(result.equivalence)) != repr(result.equivalence):
        raise InputError(
            f"the run compared answers by {result.equivalence!r}, but its oracle by "
            f"{certificate.details['equivalence']}; no bounds hold for either"
        )
    if certificate.kind == "exact":
        return Claim(result.pdfa, result.equivalence, "the target, and every model that is as near")
    if certificate.kind != "pac":
        raise _nothing_known(certificate.kind)
    if not certificate.details.get("whole_words_of_model"):
        raise InputError(
            "nothing is claimed: a PAC certificate bounds what the model's own words do only if "
            "they were drawn from it and none was cut; use "
            "PACOracle(…, sampler=ModelWords(max_length)) with a greater length"
        )
    epsilon, delta = (float(str(certificate.details[name])) for name in ("epsilon", "delta"))
    statement = f"the model, with probability at least 1 - {delta:g}"
    return Claim(result.pdfa, result.equivalence, statement, epsilon, 1 - delta)


def _nothing_known(kind: str) -> InputError:
    return InputError(
        f"nothing is claimed: {_NO_CLAIM[kind]}; give its pdfa with "
        "equivalence=Quantization(kappa) to ask about all models that such classes would allow"
    )


_NEARLY = 1e-9
# A bound at 0 or 1 says nothing if the other bound is at least this far from it.
_FAR = 0.5


def probability_bounds(
    automaton: PDFA | Result | Frontier,
    language: LanguageLike,
    *,
    equivalence: Relation | None = None,
    given: LanguageLike | None = None,
) -> Bounds:
    """Bound the probability of a language over all models that the classes of the states allow.

    After each word, such a model answers with any distribution in the class of the word's state; it
    may answer differently after two words that lead to the same state.

    Parameters
    ----------
    automaton : PDFA or Result
        The automaton; or what `learn` has returned, which knows by what answers were compared and
        how sure that is.
    language : str, DFA, Language, or iterable of words
        As for `probability`.
    equivalence : Equivalence, optional
        The classes, such as ``Quantization(1000)``. A `Result` brings its own.
    given : str, DFA, Language, or iterable of words, optional
        A condition: only words that are in this language count. The bounds are then sound, but not
        as narrow as they could be. They hold for models that give the condition a probability.

    Returns
    -------
    Bounds
        Rounded outward.

    Raises
    ------
    InputError
        If nothing is known of the model behind the automaton: for a distilled one, a run that was
        stopped, or a PAC certificate for words that are not the model's own whole ones; for a
        `Tolerance` without a run; or if no model gives the condition a probability.

    Notes
    -----
    Values are extreme over interval Markov chains, one place for each pair of a state and a state
    of the language's DFA. For greatest values end components are collapsed, for least ones set to
    0, so that exactly one solution is left, and that is proved by one step more.

    Examples
    --------
    >>> from pdfalearn import Quantization
    >>> from pdfalearn.datasets import figure_1
    >>> bounds = probability_bounds(figure_1(), HasLength(most=2), equivalence=Quantization(4))
    >>> round(bounds.low, 9), round(bounds.high, 9)
    (0.75, 0.8125)
    """
    claim = Claim.of(automaton, equivalence)
    dfa = language_dfa(language, claim.pdfa.alphabet)
    low, high = _reach(claim, dfa) if given is None else _given(claim, dfa, given)
    says_nothing = (low <= _NEARLY or high >= 1 - _NEARLY) and high - low >= _FAR
    blamed = _find_culprits(claim) if says_nothing else ()
    return Bounds(low, high, claim.statement, claim.confidence, blamed)


def length_bounds(
    automaton: PDFA | Result | Frontier, *, equivalence: Relation | None = None
) -> Bounds:
    """Bound the expected length of words over all models that the classes of the states allow.

    Parameters
    ----------
    automaton, equivalence
        As for `probability_bounds`.

    Returns
    -------
    Bounds
        Rounded outward. The upper one is infinite if the classes allow words that never end.

    Raises
    ------
    InputError
        As `probability_bounds`; and for every PAC certificate, as the words about which
        nothing is known may have any length.

    Examples
    --------
    >>> from pdfalearn import Quantization
    >>> from pdfalearn.datasets import figure_1
    >>> bounds = length_bounds(figure_1(), equivalence=Quantization(4))
    >>> round(bounds.low, 9), round(bounds.high, 9)
    (1.5, 2.0)
    """
    claim = Claim.of(automaton, equivalence)
    if claim.epsilon:
        raise InputError(
            "nothing is claimed: a PAC certificate leaves a share of words open, which may have "
            "any length; ask for the probability of a length with probability_bounds"
        )
    chain = _chain_of(claim)[0]
    low, high = least_steps(chain), greatest_steps(chain)
    blamed = _find_culprits(claim) if high == inf else ()
    return Bounds(low, high, claim.statement, claim.confidence, blamed)


def _chain_of(claim: Claim, dfa: DFA | None = None) -> tuple[IntervalChain, Product]:
    """Return the chain of a language's words, or of all of them, and the product that it is of."""
    if dfa is None:
        dfa = language_dfa(HasLength(), claim.pdfa.alphabet)
    product = Product.of(claim.pdfa, dfa, followed=claim.boxes.highs[:, 1:] > 0)
    return interval_chain(product, claim.boxes), product


def _reach(claim: Claim, dfa: DFA | None) -> tuple[float, float]:
    """Return the least and the greatest probability of a language, None for one without words.

    A share ε of words is allowed for about which nothing is known: up to such words, the model
    draws as one that the classes allow (a coupling of the two).
    """
    low = high = 0.0
    if dfa is not None:
        chain, _ = _chain_of(claim, dfa)
        low, high = least_reach(chain), greatest_reach(chain)
    return max(0.0, low - claim.epsilon), min(1.0, high + claim.epsilon)


def _given(claim: Claim, dfa: DFA, given: LanguageLike) -> tuple[float, float]:
    """Bound a/(a + b), a of the words in both languages and b of those in the condition alone."""
    condition = language_dfa(given, claim.pdfa.alphabet)
    # The share grows with a and falls with b: their extremes bound it, if no model has both, too.
    both, alone = intersection(dfa, condition), intersection(complement(dfa), condition)
    least, greatest = _reach(claim, both)
    other_least, other_greatest = _reach(claim, alone)
    if not greatest + other_greatest:
        raise InputError(
            f"the condition {described(given)} has probability 0 for {claim.statement}; take "
            "another condition"
        )
    return _share(least, other_greatest)[0], _share(greatest, other_least)[1]


def _share(part: float, other: float) -> tuple[float, float]:
    """Return part/(part + other), rounded down and up; 0 and 1 if both are 0."""
    if not part + other:
        return 0.0, 1.0
    share = part / (part + other)
    return max(0.0, share * (1 - 2.0**-50)), min(1.0, share * (1 + 2.0**-50))


def _find_culprits(claim: Claim) -> tuple[int, ...]:
    """Return the states that may go on for ever, or else those whose classes are widest."""
    chain, product = _chain_of(claim)
    states = product.walk.lefts
    endless = states[end_components(chain) >= 0]
    if not len(endless):
        widths = (claim.boxes.highs - claim.boxes.lows).sum(axis=1)[states]
        endless = states[widths >= widths.max()]
    return tuple(np.sort(endless).tolist())
