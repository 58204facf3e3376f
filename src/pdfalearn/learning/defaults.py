"""What `learn` uses by default."""

from __future__ import annotations

from pdfalearn.budgets import Budget
from pdfalearn.equivalence.relations import Quantization, Relation
from pdfalearn.models.constrained.product import wrapped_pdfa
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.oracles.chain import ChainOracle
from pdfalearn.oracles.exact import ExactOracle
from pdfalearn.oracles.pac import PACOracle
from pdfalearn.oracles.protocol import EquivalenceOracle
from pdfalearn.oracles.stored_answers import StoredAnswersOracle
from pdfalearn.pdfa import PDFA
from pdfalearn.samplers.drawing import HypothesisWords, UniformWords

DEFAULT_EQUIVALENCE = Quantization(1000)
DEFAULT_LIMITS = Budget(max_words=10**6, max_bytes=2**30)
"""Where learning may never end, it stops here unless a budget is given."""
EPSILON = DELTA = 0.01
"""The promise of the default oracle for black boxes."""
MAX_LENGTH = 20
"""The length of the words that it samples."""


def default_oracle(model: PDFA | LanguageModel, by: Relation, seed: int) -> EquivalenceOracle:
    """Return the exact oracle for a PDFA; for a black box stored answers, then PAC sampling.

    A PDFA in wrappers is an automaton again, and has the exact oracle, too, unless the product is
    very large. The sampled words are uniform ones, or walks over the hypothesis's support where
    the model is constrained, as there most uniform words are undefined.
    """
    if isinstance(model, PDFA):
        return ExactOracle(model, by=by)
    automaton = wrapped_pdfa(model)
    if automaton is not None:
        return ExactOracle(automaton, by=by)
    sampler = HypothesisWords if model.is_constrained else UniformWords
    sampling = PACOracle(epsilon=EPSILON, delta=DELTA, sampler=sampler(MAX_LENGTH), seed=seed)
    return ChainOracle(StoredAnswersOracle(), sampling)
