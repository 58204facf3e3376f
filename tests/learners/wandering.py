"""An oracle whose counterexamples are long."""

from __future__ import annotations

import numpy as np

from pdfalearn import PDFA
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ExactOracle
from pdfalearn.results.certificates import Certificate
from pdfalearn.results.trees import Word
from pdfalearn.words import Words
from tests.learners.checks import label_after


class WanderingOracle:
    """Looks for counterexamples among random walks through the target, then exactly."""

    certificate = Certificate("exact", "equivalent to the target")

    def __init__(self, target: PDFA, equivalence: Equivalence, seed: int) -> None:
        self.alphabet = target.alphabet
        self._target = target
        self._equivalence = equivalence
        self._random = np.random.default_rng(seed)
        self._exact = ExactOracle(target, equivalence=equivalence)

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        walks = [self._walk() for _ in range(8)]
        found = [walk for walk in walks if self._differ(hypothesis, walk)]
        return (
            self.alphabet.encode_words(found) if found else self._exact.counterexamples(hypothesis)
        )

    def _walk(self) -> Word:
        state, word = self._target.initial, []
        for _ in range(self._random.integers(3 * len(self._target) + 2)):
            successors = self._target.transitions[state]
            onwards = (successors >= 0).nonzero()[0]
            if not len(onwards):
                break
            word.append(int(self._random.choice(onwards)))
            state = int(successors[word[-1]])
        return self.alphabet.decode(word)

    def _differ(self, hypothesis: PDFA, word: Word) -> bool:
        expected = label_after(self._target, word, self._equivalence)
        return expected != label_after(hypothesis, word, self._equivalence)
