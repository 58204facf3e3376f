"""For which models bounds hold: what a certificate says about the model behind an automaton."""

from __future__ import annotations

from dataclasses import dataclass

from pdfalearn.equivalence.relations import Relation, check_relation
from pdfalearn.equivalence.tolerance import Tolerance
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.results.frontiers import Frontier
from pdfalearn.results.learning_runs import Result

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
    by: Relation
    statement: str
    """For which models bounds hold."""
    epsilon: float = 0.0
    """The share of the model's words about which nothing is known."""
    confidence: float = 1.0
    """The probability that the share is at most ``epsilon``."""

    @classmethod
    def of(cls, automaton: PDFA | Result | Frontier, by: Relation | None) -> Claim:
        """Find out what is known; refuse an automaton about which nothing is known."""
        if isinstance(automaton, Frontier):
            raise _nothing_known("distilled")
        if isinstance(automaton, Result):
            return _claim_of_run(automaton, by)
        pdfa = checked_pdfa(automaton, "automaton")
        if by is None:
            raise InputError(
                "bounds of a PDFA need by=Quantization(kappa), the classes that models may differ "
                "in; the Result of learn knows its own"
            )
        relation = check_relation(by)
        if isinstance(relation, Tolerance):
            raise InputError(
                f"{relation!r} does not say of a PDFA alone that every answer was compared with "
                "its state's row; give the Result of a run whose certificate is exact or PAC"
            )
        return cls(pdfa, relation, "every model whose answers are in the classes of their states")


def _claim_of_run(result: Result, by: Relation | None) -> Claim:
    certificate = result.certificate
    if result.by is None:
        raise InputError("the run's file does not say by what answers were compared; no bounds")
    if by is not None and by != result.by:
        raise InputError(f"by={by!r}, but the run compared answers by {result.by!r}; leave by out")
    if certificate.details.get("by", repr(result.by)) != repr(result.by):
        raise InputError(
            f"the run compared answers by {result.by!r}, but its oracle by "
            f"{certificate.details['by']}; no bounds hold for either"
        )
    if certificate.kind == "exact":
        return Claim(result.pdfa, result.by, "the target, and every model that is as near")
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
    return Claim(result.pdfa, result.by, statement, epsilon, 1 - delta)


def _nothing_known(kind: str) -> InputError:
    return InputError(
        f"nothing is claimed: {_NO_CLAIM[kind]}; give its pdfa with by=Quantization(kappa) to ask "
        "about all models that such classes would allow"
    )
