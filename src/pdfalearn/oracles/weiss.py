"""The equivalence query of WL*: words from the model and from the hypothesis in turn."""

from __future__ import annotations

import numpy as np

from pdfalearn.checks import checked_generator, checked_integer
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles.comparison import differing
from pdfalearn.oracles.protocol import NOTHING_KNOWN
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Certificate
from pdfalearn.samplers.drawing import ModelWords
from pdfalearn.words import NO_WORDS, Words, offsets_of, prefixes_of, sampled_words, visited_states

_LARGEST_PART = 1024
"""Words are drawn in parts, each twice as large as the one before, up to this."""


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
    >>> from pdfalearn import Tolerance, learn, tomita
    >>> oracle = WeissOracle(attempts=200, seed=1)
    >>> print(learn(tomita(5), learner="lpstar", by=Tolerance(0.1), oracle=oracle).certificate)
    tested: no difference in 200 words drawn from model and automaton in turn
    """

    def __init__(self, *, attempts: int = 1000, max_length: int = 1000, seed: int = 0) -> None:
        self._attempts = checked_integer(attempts, "attempts", 1)
        self._model_words = ModelWords(checked_integer(max_length, "max_length", 0))
        self._random = checked_generator(seed)
        self.certificate = NOTHING_KNOWN
        """What it means that the last query found no counterexample."""

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the first differing prefix of the first word that has one."""
        self.certificate = NOTHING_KNOWN
        drawn, part = 0, 2
        while drawn < self._attempts:
            part = min(part, self._attempts - drawn)
            found = _first_difference(
                self._words(part, hypothesis, observations), hypothesis, observations
            )
            if len(found):
                return found
            drawn, part = drawn + part, min(2 * part, _LARGEST_PART)
        self.certificate = Certificate(
            "tested",
            f"no difference in {self._attempts} words drawn from model and automaton in turn",
            {"words": self._attempts, "max_length": self._model_words.max_length},
        )
        return NO_WORDS

    def _words(self, count: int, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Draw words, the first from the model, the second from the hypothesis, and so on."""
        from_hypothesis = count // 2
        ours = self._model_words.draw(
            count - from_hypothesis, hypothesis, observations, self._random
        )
        theirs, _ = sampled_words(
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


def _first_difference(words: Words, hypothesis: PDFA, observations: ObservationTree) -> Words:
    """Return the shortest prefix of the first word after which model and hypothesis differ."""
    path = observations.ask_path(words)
    states = visited_states(hypothesis.table, hypothesis.initial, words)
    wrong = differing(path, states, hypothesis, observations)
    if not wrong.any():
        return NO_WORDS
    place = int(wrong.argmax())
    word = int(np.searchsorted(words.ends, place))
    length = place - int(words.offsets[word]) - word
    return prefixes_of(words, np.array([word]), np.array([length]))
