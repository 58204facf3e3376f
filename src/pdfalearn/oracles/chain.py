"""Several oracles, one after the other."""

from __future__ import annotations

from pdfalearn.errors import InputError
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles.comparison import NO_WORDS
from pdfalearn.oracles.protocol import NOTHING_KNOWN, EquivalenceOracle
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Certificate, Kind
from pdfalearn.words import Words

_STRONGEST_FIRST: list[Kind] = ["exact", "pac", "tested", "stopped", "interrupted"]


class ChainOracle:
    """Asks oracles in turn; the first that finds counterexamples ends the query.

    Parameters
    ----------
    *oracles : EquivalenceOracle
        The oracles, the cheapest first.

    Examples
    --------
    >>> from pdfalearn import AllWordsOracle, Quantization, StoredAnswersOracle, figure_3, learn
    >>> oracle = ChainOracle(StoredAnswersOracle(), AllWordsOracle(max_length=4))
    >>> print(learn(figure_3(), by=Quantization(10), oracle=oracle).certificate.statement)
    agrees with all stored answers; model and automaton agree on all words of up to 4 symbols
    """

    def __init__(self, *oracles: EquivalenceOracle) -> None:
        if not oracles:
            raise InputError("a chain needs at least one oracle")
        for oracle in oracles:
            if not hasattr(oracle, "counterexamples"):
                raise InputError(
                    f"{oracle!r} is not an equivalence oracle, such as StoredAnswersOracle()"
                )
        self._oracles = oracles
        self._has_passed = False

    @property
    def certificate(self) -> Certificate:
        """What all members say, the strongest first: its kind and its figures are the chain's."""
        if not self._has_passed:
            return NOTHING_KNOWN
        certificates = sorted(
            (oracle.certificate for oracle in self._oracles),
            key=lambda certificate: _STRONGEST_FIRST.index(certificate.kind),
        )
        members = [
            {"kind": each.kind, "statement": each.statement, "details": dict(each.details)}
            for each in certificates
        ]
        return Certificate(
            certificates[0].kind,
            "; ".join(certificate.statement for certificate in certificates),
            {**certificates[0].details, "members": members},
        )

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the counterexamples of the first member that finds any."""
        self._has_passed = False
        for oracle in self._oracles:
            found = oracle.counterexamples(hypothesis, observations)
            if len(found):
                return found
        self._has_passed = True
        return NO_WORDS
