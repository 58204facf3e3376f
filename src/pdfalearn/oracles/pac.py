"""PAC sampling (Angluin 1987): a bound on the error that holds with a stated probability."""

from __future__ import annotations

import math
import warnings

from pdfalearn.alphabet import Symbol, shortened
from pdfalearn.checks import checked_generator, checked_share
from pdfalearn.errors import InputError, OracleError
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles.comparison import first_differences
from pdfalearn.oracles.protocol import NOTHING_KNOWN
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Certificate
from pdfalearn.samplers.drawing import ModelWords, Sampler
from pdfalearn.words import NO_WORDS, Words

_MOST_WORDS = 10**12
_PART = 1024
"""Words are drawn, asked for and compared in parts of this size."""


class UnreachableSymbolWarning(UserWarning):
    """A sampler never draws some symbol, so a certificate says nothing about it.

    Examples
    --------
    >>> import warnings
    >>> from pdfalearn import Corpus, PACOracle, figure_3, learn
    >>> oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=Corpus(["00", "000"]))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", UnreachableSymbolWarning)
    ...     _ = learn(figure_3(), oracle=oracle)
    >>> caught[0].category.__name__
    'UnreachableSymbolWarning'
    """


class PACOracle:
    """Draws words at random, and compares model and hypothesis after every prefix of them.

    The i-th query draws ⌈(ln(1/δ) + i·ln 2)/ε⌉ fresh words. Suppose that more than a share
    ε of the sampler's words shows a difference. Then the hypothesis passes this query with a
    probability of at most δ/2ⁱ. So the probability that such a hypothesis passes any of the queries
    is at most δ.

    Parameters
    ----------
    epsilon : float
        The share ε of words, above 0 and below 1.
    delta : float
        The probability δ of being wrong about it, above 0 and below 1.
    sampler : Sampler
        Where words come from. The certificate is about the words of this sampler.
    seed : int
        Seed of all random choices.

    Notes
    -----
    A query ends with the first part of 1,024 words in which there are differences. An oracle that
    is used for several runs goes on counting its queries and drawing fresh words, so that δ holds
    for all of these runs together.

    Examples
    --------
    >>> from pdfalearn import Quantization, UniformWords, figure_3, learn
    >>> oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(max_length=5), seed=0)
    >>> print(learn(figure_3(), by=Quantization(10), oracle=oracle).certificate.kind)
    pac
    """

    def __init__(self, *, epsilon: float, delta: float, sampler: Sampler, seed: int = 0) -> None:
        self._epsilon = checked_share(epsilon, "epsilon")
        self._delta = checked_share(delta, "delta")
        if not hasattr(sampler, "draw"):
            raise InputError(f"{sampler!r} is not a sampler, such as UniformWords(max_length=20)")
        self._sampler = sampler
        self._random = checked_generator(seed)
        self._queries = 0
        if (-math.log(self._delta) + math.log(2)) / self._epsilon > _MOST_WORDS:
            raise InputError(
                f"epsilon {epsilon!r} and delta {delta!r} ask for more than {_MOST_WORDS:,} words "
                "in a query; choose them larger"
            )
        self.certificate = NOTHING_KNOWN
        """What it means that the last query found no counterexample."""

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the shortest prefixes of drawn words after which model and hypothesis differ."""
        self.certificate = NOTHING_KNOWN
        if not self._queries:
            missing = self._sampler.unreachable_symbols(hypothesis.alphabet)
            if missing:
                self._warn_of(missing)
        self._queries += 1
        count = math.ceil((-math.log(self._delta) + self._queries * math.log(2)) / self._epsilon)
        longest = 0
        for begin in range(0, count, _PART):
            words = self._drawn(min(_PART, count - begin), hypothesis, observations)
            longest = max(longest, int(words.lengths.max()))
            found = first_differences(words, hypothesis, observations)
            if len(found):
                return found
        # If more than a share ε of the model's words were cut or showed a difference, then with a
        # probability of at least 1 - δ/2ⁱ one of these words would have been cut or shown one.
        sampler = self._sampler
        are_whole = isinstance(sampler, ModelWords) and longest < sampler.max_length
        self.certificate = Certificate(
            "pac",
            f"with probability at least 1 - {self._delta}, at most a share {self._epsilon} of "
            f"{sampler.name} have any prefix on which model and automaton differ",
            {
                "epsilon": self._epsilon,
                "delta": self._delta,
                "sampler": sampler.name,
                "words": count,
                "queries": self._queries,
                "by": repr(observations.by),
                "whole_words_of_model": are_whole,
            },
        )
        return NO_WORDS

    def _drawn(self, count: int, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Draw words; refuse too few, as the certificate would not hold."""
        words = self._sampler.draw(count, hypothesis, observations, self._random)
        if not isinstance(words, Words) or len(words) != count:
            raise OracleError(f"the sampler {self._sampler!r} did not give the {count} words asked")
        if len(words.symbols):
            least, most = int(words.symbols.min()), int(words.symbols.max())
            if not 0 <= least <= most < len(hypothesis.alphabet):
                raise OracleError(
                    f"the sampler {self._sampler!r} gave the codes {least} to {most}, but there "
                    f"are {len(hypothesis.alphabet)} symbols"
                )
        return words

    def _warn_of(self, missing: list[Symbol]) -> None:
        warnings.warn(
            f"{self._sampler.name} never have the symbols {shortened(missing)}: nothing that "
            "comes after them will be tested",
            UnreachableSymbolWarning,
            stacklevel=2,
        )
