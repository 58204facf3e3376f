"""What an equivalence oracle has to offer, and several of them, one after the other or mixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from pdfalearn.equivalence import is_own
from pdfalearn.errors import InputError, OracleError
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Certificate, Kind
from pdfalearn.text import described
from pdfalearn.words import NO_WORDS, Words

NOTHING_KNOWN = Certificate("tested", "nothing is known: no query has passed")
"""What oracles certify whose last query found counterexamples, was broken off, or is to come."""

_STRONGEST_FIRST: list[Kind] = ["exact", "pac", "tested", "stopped", "interrupted"]


class EquivalenceOracle(Protocol):
    """Tries to break a hypothesis.

    That no counterexample is found does not mean that there is none, unless the oracle's
    certificate says so.

    Examples
    --------
    >>> import numpy as np
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.samplers import Words
    >>> class TheseWords:
    ...     certificate = Certificate("tested", "agrees on the words of a list")
    ...
    ...     def __init__(self, words):
    ...         self.words = words
    ...
    ...     def counterexamples(self, hypothesis, observations):
    ...         codes = [hypothesis.alphabet.encode(word) for word in self.words]
    ...         nodes = np.array([observations.node(one) for one in codes])
    ...         rows = np.array([hypothesis.next_distribution(word) for word in self.words])
    ...         wrong = observations.asked_classes(nodes) != observations.classes_of(rows)
    ...         return Words.of([codes[place] for place in wrong.nonzero()[0]][:1])
    >>> oracle = TheseWords(["0", "1", "01", "011"])
    >>> len(learn(figure_3(), equivalence=Quantization(10), oracle=oracle).pdfa)
    4
    """

    @property
    def certificate(self) -> Certificate:
        """What it means that the last query found no counterexample."""
        ...

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return words after which model and hypothesis differ, the best first, or no words.

        Parameters
        ----------
        hypothesis : PDFA
            The automaton to break, over the model's alphabet.
        observations : ObservationTree
            What the model has answered. An oracle that has to ask the model asks here.

        Returns
        -------
        Words
            The codes of the symbols are positions in the hypothesis's alphabet.
        """
        ...


def certificate_of(oracle: EquivalenceOracle) -> Certificate:
    """Return an oracle's certificate; that of a user's oracle says whose promise it is."""
    certificate = getattr(oracle, "certificate", NOTHING_KNOWN)
    if not isinstance(certificate, Certificate):
        raise OracleError(
            f"the certificate of {type(oracle).__name__} is {described(certificate)}, not a "
            'Certificate, such as Certificate("tested", "agrees on a list of words")'
        )
    if is_own(oracle) and certificate is not NOTHING_KNOWN:
        statement = f"{certificate.statement} (as {type(oracle).__name__} promises)"
        return replace(certificate, statement=statement)
    return certificate


def check_codes(words: Words, symbols: int, who: str) -> None:
    """Refuse words with codes that are not those of symbols; say who gave them."""
    codes = words.symbols
    if len(codes) and not 0 <= codes.min() <= codes.max() < symbols:
        raise OracleError(
            f"{who} the codes {codes.min()} to {codes.max()}, but there are {symbols} symbols"
        )


class ChainOracle:
    """Asks oracles in turn; the first that finds counterexamples ends the query.

    Parameters
    ----------
    *oracles : EquivalenceOracle
        The oracles, the cheapest first.

    Examples
    --------
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.oracles import AllWordsOracle, KnownAnswersOracle
    >>> oracle = ChainOracle(KnownAnswersOracle(), AllWordsOracle(max_length=4))
    >>> print(learn(figure_3(), equivalence=Quantization(10), oracle=oracle).certificate.statement)
    agrees with all answers so far; model and automaton agree on all words of up to 4 symbols
    """

    def __init__(self, *oracles: EquivalenceOracle) -> None:
        if not oracles:
            raise InputError("a chain needs at least one oracle")
        for oracle in oracles:
            if not hasattr(oracle, "counterexamples"):
                raise InputError(
                    f"{oracle!r} is not an equivalence oracle, such as KnownAnswersOracle()"
                )
        self._oracles: tuple[EquivalenceOracle, ...] = oracles
        self.certificate = NOTHING_KNOWN
        """What all members say, the strongest first: its kind and its figures are the chain's."""

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the counterexamples of the first member that finds any."""
        self.certificate = NOTHING_KNOWN
        for oracle in self._oracles:
            found = oracle.counterexamples(hypothesis, observations)
            if len(found):
                return found
        certificates = sorted(
            map(certificate_of, self._oracles),
            key=lambda certificate: _STRONGEST_FIRST.index(certificate.kind),
        )
        self.certificate = Certificate(
            certificates[0].kind,
            "; ".join(certificate.statement for certificate in certificates),
            {
                **certificates[0].details,
                "members": [{**vars(each), "details": dict(each.details)} for each in certificates],
            },
        )
        return NO_WORDS


class MixedOracle(ChainOracle):
    """Asks oracles in turn, those first that have found most for their words so far.

    Of every member it counts the queries that found a counterexample and the words that were asked
    for; those with the largest share (finds + 1)/(words + 1) come first, as given where shares are
    equal. As in a `ChainOracle`, a hypothesis passes only if no member finds anything.

    Parameters
    ----------
    *oracles : EquivalenceOracle
        The oracles.

    Examples
    --------
    >>> from pdfalearn import FunctionModel, Quantization, learn
    >>> from pdfalearn.datasets import chain
    >>> from pdfalearn.oracles import AllWordsOracle, WpOracle
    >>> oracle = MixedOracle(AllWordsOracle(3), WpOracle(extra_states=2))
    >>> model = FunctionModel(chain(9).next_distributions, "a")
    >>> len(learn(model, equivalence=Quantization(10), oracle=oracle).pdfa)
    1
    >>> oracle.finds, oracle.words
    ([0, 0], [2, 0])
    """

    def __init__(self, *oracles: EquivalenceOracle) -> None:
        super().__init__(*oracles)
        self._members = [_CountedOracle(oracle) for oracle in oracles]

    @property
    def finds(self) -> list[int]:
        """How many queries of each member have found a counterexample."""
        return [member.finds for member in self._members]

    @property
    def words(self) -> list[int]:
        """How many words have been asked for each member."""
        return [member.words for member in self._members]

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the counterexamples of the first member that finds any."""
        ordered = sorted(self._members, key=lambda one: -(one.finds + 1) / (one.words + 1))
        self._oracles = tuple(ordered)
        return super().counterexamples(hypothesis, observations)


class _CountedOracle:
    """An oracle, and what it has found for how many words."""

    def __init__(self, oracle: EquivalenceOracle) -> None:
        self._oracle = oracle
        self.finds = self.words = 0

    @property
    def certificate(self) -> Certificate:
        return self._oracle.certificate

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        before = observations.counts.words
        try:
            found = self._oracle.counterexamples(hypothesis, observations)
        finally:
            self.words += observations.counts.words - before
        self.finds += len(found) > 0
        return found
