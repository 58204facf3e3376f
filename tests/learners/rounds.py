"""The loop of learning by hand, to look at every hypothesis."""

from __future__ import annotations

from collections.abc import Iterator

from pdfalearn import PDFA
from pdfalearn.learners.protocol import Learner
from pdfalearn.oracles.protocol import EquivalenceOracle


def hypotheses(learner: Learner, oracle: EquivalenceOracle) -> Iterator[PDFA]:
    """Yield the hypothesis of every round; learner and oracle share an alphabet."""
    learner.start()
    while True:
        hypothesis = learner.hypothesis()
        yield hypothesis
        counterexamples = oracle.counterexamples(hypothesis, learner.observations)
        if not len(counterexamples):
            return
        learner.refine(counterexamples)
