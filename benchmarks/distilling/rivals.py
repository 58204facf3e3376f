"""What distilled automata are held against; every rival may ask for as many symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from benchmarks.distilling.alergia import EPSILONS, SECONDS, alergia
from benchmarks.distilling.answers import LONGEST, Answers
from benchmarks.distilling.distilled import SIZES
from benchmarks.distilling.kgrams import KGrams
from benchmarks.distilling.measuring import divergence
from pdfalearn import (
    PDFA,
    Budget,
    LanguageModel,
    Quantization,
    RecurrentModel,
    Tolerance,
    learn,
    simplify,
)
from pdfalearn.errors import LearningError
from pdfalearn.learners import ObservationTree, WLStar
from pdfalearn.oracles import ChainOracle, KnownAnswersOracle, PACOracle, WeissOracle
from pdfalearn.samplers import ModelWords

ORDERS = range(9)
SHRINKS = (0.0, 0.2, 1.0, 5.0, 20.0)
MOST_PREFIXES = 1000
"""More prefixes take WL* minutes."""
MOST_CELLS = 50_000_000
"""Larger automata, states times symbols, are not made of k-grams."""
MOST_STATES = 3000
"""Larger automata are not simplified; of the others that which is nearest to the words asked."""
KAPPAS = (2, 3, 5, 10, 20, 50, 100, 1000)
TOLERANCES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02)
THRESHOLDS = (0.0, 0.01)
PARTS = (1.0, 1 / 16)
"""At most this many prefixes have all their continuations asked, if the symbols allow it."""


class Candidate(NamedTuple):
    """An automaton of a rival."""

    rival: str
    setting: str
    pdfa: PDFA


class Task(NamedTuple):
    """A model, how many symbols may be asked, and words of the model that cost as many."""

    model: LanguageModel
    symbols: int
    answers: Answers


def kgrams(task: Task) -> Iterator[Candidate]:
    """Yield averaged k-grams, with rows shrunk to those of shorter contexts and without."""
    found = KGrams.of(task.answers, max(ORDERS))
    for order in ORDERS:
        if found.contexts(order) * len(task.model.alphabet) > MOST_CELLS:
            print(f"k-grams of k={order} on are too large: {found.contexts(order):,} contexts.\n")
            return
        for shrink in SHRINKS if order else SHRINKS[:1]:
            pdfa = found.automaton(order, shrink)
            yield Candidate("k-grams", f"k={order}, shrunk by {shrink:g}", pdfa)


def alergias(task: Task) -> Iterator[Candidate]:
    """Yield automata of ALERGIA, as far as it is fast enough."""
    for epsilon in EPSILONS:
        found = alergia(task.answers, epsilon)
        if not found:
            print(f"ALERGIA at ε={epsilon:g} was given up after {SECONDS:g} s.\n")
            return
        for pdfa in found:
            yield Candidate("ALERGIA", f"ε={epsilon:g}", pdfa)


def wlstars(task: Task) -> Iterator[Candidate]:
    """Yield automata of WL* at several tolerances, thresholds and limits of its prefixes."""
    budget = Budget(max_symbols=task.symbols)
    for tolerance, threshold, part in product(TOLERANCES, THRESHOLDS, PARTS):
        prefixes = int(part * task.symbols / (len(task.model.alphabet) + 1))
        prefixes = min(max(2, prefixes), MOST_PREFIXES)
        limits = Limits(prefixes, threshold)
        oracle, equivalence = WeissOracle(max_length=LONGEST, seed=1), Tolerance(tolerance)
        try:
            pdfa = learn(
                task.model,
                learner=limits,
                equivalence=equivalence,
                oracle=oracle,
                budget=budget,
                audit=0,
            ).pdfa
        except LearningError:  # it goes round in circles
            continue
        yield Candidate("WL*", f"t={tolerance:g}, {limits}", pdfa)


@dataclass(frozen=True)
class Limits:
    """Parameters of WL*."""

    prefixes: int
    threshold: float

    def __call__(self, tree: ObservationTree) -> WLStar:
        """Return a learner with these parameters."""
        return WLStar(
            tree,
            max_prefixes=self.prefixes,
            max_seconds=SECONDS,
            prefix_threshold=self.threshold,
            suffix_threshold=self.threshold,
        )

    def __str__(self) -> str:
        return f"{self.prefixes} prefixes, threshold {self.threshold:g}"


def learnt(model: LanguageModel, kappa: int, symbols: int) -> PDFA:
    """Return what `learn` has found when the symbols are asked."""
    pac = PACOracle(epsilon=0.01, delta=0.01, sampler=ModelWords(max_length=LONGEST), seed=1)
    oracle = ChainOracle(KnownAnswersOracle(), pac)
    budget = Budget(max_symbols=symbols)
    return learn(model, equivalence=Quantization(kappa), oracle=oracle, budget=budget, audit=0).pdfa


def learns(task: Task) -> Iterator[Candidate]:
    """Yield automata of `learn` at several κ, and what `simplify` makes of a large one."""
    found = {kappa: learnt(task.model, kappa, task.symbols) for kappa in KAPPAS}
    for kappa, pdfa in found.items():
        yield Candidate("learn", f"κ={kappa}", pdfa)
    fitting = [kappa for kappa in KAPPAS if 1 < len(found[kappa]) <= MOST_STATES]
    if fitting:
        best = min(fitting, key=lambda kappa: divergence(found[kappa], task.answers))
        for pdfa in simplified(found[best]):
            yield Candidate("simplify", f"of learn at κ={best}", pdfa)


def simplified(pdfa: PDFA) -> list[PDFA]:
    """Return an automaton simplified to all `SIZES` that are smaller."""
    sizes = [size for size in SIZES if size < len(pdfa)]
    return [point.pdfa for point in simplify(pdfa, states=sizes)]


def contexts(task: Task) -> Iterator[Candidate]:
    """Yield prediction suffix trees of all sizes, with rows drawn to those of shorter contexts."""
    from benchmarks.distilling.hidden_states import suffix_trees

    for strength in SHRINKS[1:]:
        for pdfa in suffix_trees(task.answers, SIZES, strength):
            yield Candidate("contexts", f"drawn by {strength:g}", pdfa)


def hidden_clusters(task: Task) -> Iterator[Candidate]:
    """Yield automata of clusters of hidden states, where the model has any to show."""
    from benchmarks.distilling.hidden_states import clusters

    if isinstance(task.model, RecurrentModel):
        for pdfa in clusters(task.model, task.answers, SIZES):
            yield Candidate("clusters", f"{len(pdfa)} clusters", pdfa)


RIVALS: dict[str, Callable[[Task], Iterator[Candidate]]] = {
    "k-grams": kgrams,
    "contexts": contexts,
    "clusters": hidden_clusters,
    "ALERGIA": alergias,
    "WL*": wlstars,
    "learn": learns,
}
"""The rivals by name."""
