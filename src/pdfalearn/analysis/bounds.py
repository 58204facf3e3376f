"""Sound bounds: what an answer is at least and at most for every model that the classes allow."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from pdfalearn.analysis.boxes import Boxes, interval_chain
from pdfalearn.analysis.products import Product
from pdfalearn.chains import (
    IntervalChain,
    end_components,
    greatest_reach,
    greatest_steps,
    least_reach,
    least_steps,
)
from pdfalearn.equivalence import Relation, Tolerance, check_relation
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA, HasLength, LanguageLike, complement, intersection, language_dfa
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.results import Bounds, Frontier, Result
from pdfalearn.text import described

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

    @classmethod
    def of(cls, automaton: PDFA | Result | Frontier, equivalence: Relation | None) -> Claim:
        """Find out what is known; refuse an automaton about which nothing is known."""
        if isinstance(automaton, Frontier):
            raise _nothing_known("distilled")
        if isinstance(automaton, Result):
            return _claim_of_run(automaton, equivalence)
        pdfa = checked_pdfa(automaton, "automaton")
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
_FAR = 0.5
"""A bound at 0 or 1 says nothing if the other bound is at least this far from it."""


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
    boxes = Boxes.of(claim.pdfa, claim.equivalence)
    dfa = language_dfa(language, claim.pdfa.alphabet)
    if given is None:
        low, high = _reach(claim, boxes, dfa)
    else:
        low, high = _given(claim, boxes, dfa, given)
    says_nothing = (low <= _NEARLY or high >= 1 - _NEARLY) and high - low >= _FAR
    blamed = _blamed(claim.pdfa, boxes) if says_nothing else ()
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
    boxes = Boxes.of(claim.pdfa, claim.equivalence)
    chain = _chain_of(claim.pdfa, boxes)[0]
    low, high = least_steps(chain), greatest_steps(chain)
    blamed = _blamed(claim.pdfa, boxes) if high == inf else ()
    return Bounds(low, high, claim.statement, claim.confidence, blamed)


def _chain_of(pdfa: PDFA, boxes: Boxes, dfa: DFA | None = None) -> tuple[IntervalChain, Product]:
    """Return the chain of a language's words, or of all of them, and the product that it is of."""
    if dfa is None:
        dfa = language_dfa(HasLength(), pdfa.alphabet)
    product = Product.of(pdfa, dfa, followed=boxes.highs[:, 1:] > 0)
    return interval_chain(product, boxes), product


def _reach(claim: Claim, boxes: Boxes, dfa: DFA | None) -> tuple[float, float]:
    """Return the least and the greatest probability of a language, None for one without words.

    A share ε of words is allowed for about which nothing is known: up to such words, the model
    draws as one that the classes allow (a coupling of the two).
    """
    low = high = 0.0
    if dfa is not None:
        chain, _ = _chain_of(claim.pdfa, boxes, dfa)
        low, high = least_reach(chain), greatest_reach(chain)
    return max(0.0, low - claim.epsilon), min(1.0, high + claim.epsilon)


def _given(claim: Claim, boxes: Boxes, dfa: DFA, given: LanguageLike) -> tuple[float, float]:
    """Bound a/(a + b), a of the words in both languages and b of those in the condition alone."""
    condition = language_dfa(given, claim.pdfa.alphabet)
    both, alone = intersection(dfa, condition), intersection(complement(dfa), condition)
    least, greatest = _reach(claim, boxes, both)
    other_least, other_greatest = _reach(claim, boxes, alone)
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


def _blamed(pdfa: PDFA, boxes: Boxes) -> tuple[int, ...]:
    """Return the states that may go on for ever, or else those whose classes are widest."""
    chain, product = _chain_of(pdfa, boxes)
    states = product.walk.lefts
    endless = states[end_components(chain) >= 0]
    if not len(endless):
        widths = boxes.widths[states]
        endless = states[widths >= widths.max()]
    return tuple(np.sort(endless).tolist())
