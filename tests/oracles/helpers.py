"""What tests of several oracles need."""

from __future__ import annotations

from pdfalearn import PDFA, Quantization, Tolerance
from pdfalearn.equivalence.relations import Relation
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.results.trees import Word
from tests.learners.checks import label_after

BY = Quantization(10)


def tree(target: PDFA, equivalence: Relation = BY) -> ObservationTree:
    """A tree that has not asked anything yet."""
    return ObservationTree(AutomatonModel(target), equivalence)


def differs(target: PDFA, hypothesis: PDFA, word: Word, equivalence: Relation) -> bool:
    """Whether a word is a counterexample."""
    if isinstance(equivalence, Tolerance):
        left, right = target.next_distribution(word), hypothesis.next_distribution(word)
        if left is None or right is None:
            return (left is None) != (right is None)
        return not equivalence.similar(left, right)
    return label_after(target, word, equivalence) != label_after(hypothesis, word, equivalence)
