"""Oracles that draw words at random: PAC sampling, walks from every state, the query of WL*."""

from __future__ import annotations

import math
import warnings

import numpy as np

from pdfalearn.alphabet import Symbol, shorten
from pdfalearn.checks import check_integer, check_share, make_generator
from pdfalearn.equivalence import full_text
from pdfalearn.errors import InputError, OracleError
from pdfalearn.observations import ObservationTree
from pdfalearn.oracles.comparison import first_differences, shortest_wrong_prefixes
from pdfalearn.oracles.protocol import NOTHING_KNOWN, check_codes
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable, shortest_words
from pdfalearn.results import Certificate
from pdfalearn.samplers import ModelWords, SamplerLike, as_sampler
from pdfalearn.typing import Codes, Floats
from pdfalearn.words import NO_WORDS, Words, draw_words, join_words, offsets_of, prefixes_of

_MOST_WORDS = 10**12
# Words are drawn, asked for and compared in parts of this size, or up to this size.
_PART = 1024


class UnreachableSymbolWarning(UserWarning):
    """A sampler never draws some symbol, so a certificate says nothing about it.

    Examples
    --------
    >>> import warnings
    >>> from pdfalearn import Corpus, learn
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.oracles import PACOracle
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
    sampler : Sampler or Corpus
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
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.samplers import UniformWords
    >>> oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(max_length=5), seed=0)
    >>> print(learn(figure_3(), equivalence=Quantization(10), oracle=oracle).certificate.kind)
    pac
    """

    def __init__(
        self, *, epsilon: float, delta: float, sampler: SamplerLike, seed: int = 0
    ) -> None:
        self._epsilon = check_share(epsilon, "epsilon")
        self._delta = check_share(delta, "delta")
        self._sampler = as_sampler(sampler)
        self._random = make_generator(seed)
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
        sampler = self._sampler
        if not self._queries:
            missing = sampler.unreachable_symbols(hypothesis.alphabet)
            if missing:
                self._warn_of(missing)
        self._queries += 1
        count = math.ceil((-math.log(self._delta) + self._queries * math.log(2)) / self._epsilon)
        longest = 0
        for begin in range(0, count, _PART):
            part = min(_PART, count - begin)
            words = sampler.draw(part, hypothesis, observations, self._random)
            if not isinstance(words, Words) or len(words) != part:  # the certificate would not hold
                raise OracleError(f"the sampler {sampler!r} did not give the {part} words asked")
            check_codes(words, len(hypothesis.alphabet), f"the sampler {sampler!r} gave")
            longest = max(longest, int(words.lengths.max()))
            found = first_differences(words, hypothesis, observations)
            if len(found):
                return found
        # If more than a share ε of the model's words were cut or showed a difference, then with a
        # probability of at least 1 - δ/2ⁱ one of these words would have been cut or shown one.
        are_whole = isinstance(sampler, ModelWords) and longest < sampler.max_length
        self.certificate = Certificate(
            "pac",
            f"with probability at least 1 - {self._delta}, at most a share {self._epsilon} of "
            f"{sampler.name} have any prefix on which model and automaton differ "
            f"under {full_text(observations.equivalence)}",
            {
                "epsilon": self._epsilon,
                "delta": self._delta,
                "sampler": sampler.name,
                "words": count,
                "queries": self._queries,
                "equivalence": repr(observations.equivalence),
                "whole_words_of_model": are_whole,
            },
        )
        return NO_WORDS

    def _warn_of(self, missing: list[Symbol]) -> None:
        warnings.warn(
            f"{self._sampler.name} never have the symbols {shorten(missing)}: nothing that "
            "comes after them will be tested",
            UnreachableSymbolWarning,
            stacklevel=2,
        )


class StatePrefixOracle:
    """Walks at random from every state, and compares model and hypothesis all along the way.

    A walk is a shortest word that leads to the state in the hypothesis, and random symbols after
    it: all but the last keep to transitions that the hypothesis has, and the last is any symbol.
    States that hardly any sampled word would reach are tested as often as all others.

    Parameters
    ----------
    walks_per_state : int
        How many walks begin at each state; fresh ones at every query.
    walk_length : int
        The most symbols that a walk has after the state. It ends where there is no transition.
    seed : int
        Seed of all random choices.

    Notes
    -----
    A query ends with the first part of 1,024 walks in which there are differences.

    Examples
    --------
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import figure_3
    >>> oracle = StatePrefixOracle(walks_per_state=10, walk_length=3)
    >>> print(learn(figure_3(), equivalence=Quantization(10), oracle=oracle).certificate)
    tested: no difference on 10 random walks of 3 symbols from each of the 4 states
    """

    _name = "random walks"

    def __init__(self, *, walks_per_state: int, walk_length: int, seed: int = 0) -> None:
        self._walks = check_integer(walks_per_state, "walks_per_state", 1)
        self._length = check_integer(walk_length, "walk_length", 1)
        self._random = make_generator(seed)
        self.certificate = NOTHING_KNOWN
        """What it means that the last query found no counterexample."""

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the shortest prefixes of walks after which model and hypothesis differ."""
        self.certificate = NOTHING_KNOWN
        part = reachable(hypothesis)
        access, rows = shortest_words(hypothesis, part), _ways_on(hypothesis)
        count = len(access) * self._walks
        for begin in range(0, count, _PART):
            places = np.arange(begin, min(begin + _PART, count)) // self._walks
            walks = self._walk(hypothesis, part.states[places], rows)
            words = join_words(prefixes_of(access, places, access.lengths[places]), walks)
            found = first_differences(words, hypothesis, observations)
            if len(found):
                return found
        self.certificate = Certificate(
            "tested",
            f"no difference on {self._walks} {self._name} of {self._length} symbols from each of "
            f"the {len(access)} states",
            {"walks_per_state": self._walks, "walk_length": self._length, "states": len(access)},
        )
        return NO_WORDS

    def _walk(self, hypothesis: PDFA, states: Codes, rows: Floats) -> Words:
        """Walk from states, and take one symbol more."""
        count, length = len(states), self._length - 1
        ways, _ = draw_words(hypothesis.table, rows, states, count, length, self._random)
        last = self._random.integers(len(hypothesis.alphabet), size=count, dtype=np.int32)
        return join_words(ways, Words(last, np.arange(count + 1)))


def _ways_on(hypothesis: PDFA) -> Floats:
    """Return equal probabilities for the transitions of a state; stop only where there is none."""
    rows: Floats = np.zeros(hypothesis.probabilities.shape)
    rows[:, 1:] = hypothesis.transitions >= 0
    rows[:, 0] = rows.sum(axis=1) == 0
    rows /= rows.sum(axis=1, keepdims=True)
    return rows


class WeissOracle:
    """Draws words alternately from the model and the hypothesis until a prefix shows a difference.

    Parameters
    ----------
    attempts : int
        How many words are drawn before the hypothesis is accepted.
    max_length : int
        Words are cut at this length.
    seed : int
        Seed of all random choices; they go on from query to query.

    Notes
    -----
    Weiss, Goldberg and Yahav (2019). Their program draws one word at a time; here words are drawn
    in growing parts, so that a model is asked in batches. The counterexample is the same as if each
    word had been looked at in turn: the shortest differing prefix of the first word that has one.

    Examples
    --------
    >>> from pdfalearn import Tolerance, learn
    >>> from pdfalearn.datasets import tomita
    >>> oracle = WeissOracle(attempts=200, seed=1)
    >>> found = learn(tomita(5), learner="lpstar", equivalence=Tolerance(0.1), oracle=oracle)
    >>> print(found.certificate)
    tested: no difference in 200 words drawn from model and automaton in turn
    """

    def __init__(self, *, attempts: int = 1000, max_length: int = 1000, seed: int = 0) -> None:
        self._attempts = check_integer(attempts, "attempts", 1)
        self._model_words = ModelWords(check_integer(max_length, "max_length", 0))
        self._random = make_generator(seed)
        self.certificate = NOTHING_KNOWN
        """What it means that the last query found no counterexample."""

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the first differing prefix of the first word that has one."""
        self.certificate = NOTHING_KNOWN
        drawn, part = 0, 2
        while drawn < self._attempts:
            part = min(part, self._attempts - drawn)
            words = self._draw(part, hypothesis, observations)
            path = observations.ask_path(words)
            owners, lengths, _ = shortest_wrong_prefixes(words, path, hypothesis, observations)
            if len(owners):
                return prefixes_of(words, owners[:1], lengths[:1])
            drawn, part = drawn + part, min(2 * part, _PART)
        self.certificate = Certificate(
            "tested",
            f"no difference in {self._attempts} words drawn from model and automaton in turn",
            {"words": self._attempts, "max_length": self._model_words.max_length},
        )
        return NO_WORDS

    def _draw(self, count: int, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Draw words, the first from the model, the second from the hypothesis, and so on."""
        from_hypothesis = count // 2
        ours = self._model_words.draw(
            count - from_hypothesis, hypothesis, observations, self._random
        )
        theirs, _ = draw_words(
            hypothesis.table,
            hypothesis.probabilities,
            hypothesis.initial,
            from_hypothesis,
            self._model_words.max_length,
            self._random,
        )
        lengths = np.concatenate((ours.lengths, theirs.lengths))
        both = Words(np.concatenate((ours.symbols, theirs.symbols)), offsets_of(lengths))
        in_turn = np.argsort(np.append(np.arange(len(ours)), np.arange(len(theirs))), kind="stable")
        return prefixes_of(both, in_turn, lengths[in_turn])
