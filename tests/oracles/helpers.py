"""What tests of several oracles need."""

from __future__ import annotations

from pdfalearn import PDFA, AutomatonModel, Quantization
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.learners.protocol import Word
from pdfalearn.observations.tree import ObservationTree
from tests.learners.checks import label_after

BY = Quantization(10)


def tree(target: PDFA, by: Equivalence = BY) -> ObservationTree:
    """A tree that has not asked anything yet."""
    return ObservationTree(AutomatonModel(target), by)


def differs(target: PDFA, hypothesis: PDFA, word: Word, by: Equivalence) -> bool:
    """Whether a word is a counterexample."""
    return label_after(target, word, by) != label_after(hypothesis, word, by)
