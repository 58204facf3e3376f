"""One run of a learner on a target: what is asked for, and the row that comes out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Word
from pdfalearn.equivalence import Quantization, Tolerance, distinguish
from pdfalearn.experiments.definitions import Setting
from pdfalearn.experiments.targets import Target
from pdfalearn.experiments.workers import UNDISTURBED
from pdfalearn.generate import random_pdfa
from pdfalearn.learning import LEARNERS, SIMILARITY_LEARNERS, learn
from pdfalearn.metrics import evaluate
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


LEARNER_NAMES = (*LEARNERS, *SIMILARITY_LEARNERS)


class Key(NamedTuple):
    """What a run is known by in an experiment's results."""

    experiment: int
    target: str
    kappa: int
    learner: str
    run: int

    def __str__(self) -> str:
        return (
            f"experiment {self.experiment}, target {self.target}, κ={self.kappa}, "
            f"{self.learner}, run {self.run}"
        )


@dataclass(frozen=True)
class Task:
    """A run that is to be done."""

    experiment: int
    target: Target
    learner: str
    run: int

    @property
    def key(self) -> Key:
        """What the run is known by."""
        kappa = self.target.setting.kappa
        return Key(self.experiment, self.target.name, kappa, self.learner, self.run)


@dataclass(frozen=True)
class Run:
    """A run that was done: a row of the results."""

    experiment: int
    target: str
    nominal_states: int
    target_states: int
    """The target's actual size."""
    alphabet_size: int
    distributions: int | None
    kappa: int
    tolerance: float
    learner: str
    run: int
    target_seed: int | None
    words_seed: int
    states: int
    """Of the learnt automaton."""
    words: int
    symbols: int
    equivalence_queries: int
    structure_size: int
    tree_depth: int
    learning_seconds: float
    equivalence_seconds: float
    learning_process_seconds: float
    equivalence_process_seconds: float
    word_error_rate: float
    ndcg: float
    log_probability_error: float | None
    other_class: float
    """The share of distributions in another class at κ."""
    out_of_tolerance: float
    """The share of distributions that differ by more than t."""
    l1: float
    kl: float
    target_perplexity: float
    perplexity: float
    certificate: str
    executor: str
    """Where it ran."""
    load: float | None
    """The load of the machine when it began, for each of its processors."""

    @property
    def key(self) -> Key:
        """What the run is known by."""
        return Key(self.experiment, self.target, self.kappa, self.learner, self.run)

    @property
    def is_disturbed(self) -> bool:
        """Whether other runs may have been beside it."""
        return self.executor not in UNDISTURBED

    @property
    def seconds(self) -> float:
        """The time from begin to end, as the paper measures it: learning and equivalence."""
        return self.learning_seconds + self.equivalence_seconds

    @property
    def process_seconds(self) -> float:
        """The processor's time for both."""
        return self.learning_process_seconds + self.equivalence_process_seconds


def perform(task: Task, executor: str) -> Run:
    """Learn a target, measure what came out, and return the row."""
    target, setting = task.target.pdfa(), task.target.setting
    _warm_up(task.learner)
    load = machine_load()
    result = learn(target, by=_relation(task.learner, setting), learner=task.learner, audit=0)
    statistics = result.statistics
    return Run(
        experiment=task.experiment,
        target=task.target.name,
        nominal_states=setting.states,
        target_states=len(target),
        alphabet_size=setting.symbols,
        distributions=setting.distributions,
        kappa=setting.kappa,
        tolerance=setting.tolerance,
        learner=task.learner,
        run=task.run,
        target_seed=task.target.seed,
        words_seed=task.target.words_seed,
        states=statistics.states,
        words=statistics.words,
        symbols=statistics.symbols,
        equivalence_queries=statistics.equivalence_queries,
        structure_size=statistics.structure_size,
        tree_depth=statistics.tree_depth,
        learning_seconds=statistics.learning_seconds,
        equivalence_seconds=statistics.equivalence_seconds,
        learning_process_seconds=statistics.learning_process_seconds,
        equivalence_process_seconds=statistics.equivalence_process_seconds,
        **vars(measures(target, result.pdfa, setting, task.target.words_seed)),
        certificate=result.certificate.kind,
        executor=executor,
        load=load,
    )


def machine_load() -> float | None:
    """Return the load of the last minute per processor; None where the system does not tell."""
    if not hasattr(os, "getloadavg"):
        return None
    return round(os.getloadavg()[0] / (os.cpu_count() or 1), 3)


def _relation(learner: str, setting: Setting) -> Quantization | Tolerance:
    if learner in SIMILARITY_LEARNERS:
        return Tolerance(setting.tolerance)
    return Quantization(setting.kappa)


@cache
def _warm_up(learner: str) -> None:
    """Learn something, so that a process's first run does not pay for imports and cold caches."""
    setting = Setting(states=100, symbols=2, distributions=4, kappa=1000, tolerance=0.001)
    target = random_pdfa(setting.states, distributions=setting.distributions, seed=0)
    learn(target, by=_relation(learner, setting), learner=learner)
