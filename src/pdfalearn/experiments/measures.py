"""How good a learnt automaton is, on words that all learners of a target are measured on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pdfalearn.alphabet import Word
from pdfalearn.equivalence.differences import distinguish
from pdfalearn.equivalence.relations import Quantization, Tolerance
from pdfalearn.experiments.definitions import Setting
from pdfalearn.metrics.evaluation import evaluate
from pdfalearn.pdfa import PDFA

WORDS = 1000
LONGEST_WORD = 50
"""Symbols and lengths are uniform: words of the target's own would end early and see little."""


@dataclass(frozen=True)
class Measures:
    """The metrics of a run; the columns of its row have the same names."""

    word_error_rate: float
    ndcg: float
    log_probability_error: float | None
    other_class: float
    out_of_tolerance: float
    l1: float
    kl: float
    target_perplexity: float
    perplexity: float


@lru_cache(maxsize=8)  # the runs of a learner on a target give the same automaton
def measures(target: PDFA, learnt: PDFA, setting: Setting, seed: int) -> Measures:
    """Measure a learnt automaton against its target, over all prefixes of random words."""
    words = _words(target, seed)
    by_class = evaluate(target, learnt, words, by=Quantization(setting.kappa))
    over = by_class.over_prefixes
    return Measures(
        word_error_rate=over.word_error_rate,
        ndcg=over.ndcg,
        log_probability_error=by_class.log_probability_error,
        other_class=over.difference,
        out_of_tolerance=_out_of_tolerance(target, learnt, words, setting.tolerance),
        l1=over.l1,
        kl=over.kl,
        target_perplexity=by_class.target_perplexity,
        perplexity=by_class.perplexity,
    )


def _out_of_tolerance(target: PDFA, learnt: PDFA, words: list[Word], t: float) -> float:
    by = Tolerance(t)
    if distinguish(target, learnt, by=by) is None:  # similar after all words, so after these
        return 0.0
    return evaluate(target, learnt, words, by=by).over_prefixes.difference


def _words(target: PDFA, seed: int) -> list[Word]:
    random, symbols = np.random.default_rng(seed), target.alphabet.symbols
    lengths = random.integers(LONGEST_WORD + 1, size=WORDS)
    codes = (random.integers(len(symbols), size=length).tolist() for length in lengths)
    return [tuple(symbols[code] for code in word) for word in codes]
