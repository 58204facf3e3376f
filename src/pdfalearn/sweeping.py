"""Learn with several κ and tolerances from one set of answers, to choose among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

import numpy as np

from pdfalearn.budgets import Budget, SharedBudget
from pdfalearn.checks import check_integer
from pdfalearn.displays import SweepLine, Wanted, show_progress
from pdfalearn.distilling import HeldOut, Sampling, check_sampler
from pdfalearn.equivalence import Quantization, Relation, Tolerance, relation_text
from pdfalearn.errors import InputError
from pdfalearn.learning import default_oracle, learn
from pdfalearn.metrics import divergence
from pdfalearn.models import Interrupts, LanguageModel, as_model, check_members
from pdfalearn.observations import ObservationTree
from pdfalearn.oracles import EquivalenceOracle
from pdfalearn.pdfa import PDFA
from pdfalearn.results import (
    LearningInterrupted,
    Progress,
    Result,
    Sweep,
    SweepInterrupted,
    SweepProgress,
    SweepRow,
)
from pdfalearn.samplers import Sampler, SamplerLike
from pdfalearn.stores import AnswerStore, model_key
from pdfalearn.text import is_iterable
from pdfalearn.typing import Floats

Value = TypeVar("Value", int, float)
DEFAULT_KAPPAS = (5, 10, 20, 50, 100, 200, 500, 1000)
# Which learner compares by what.
_LEARNERS = {Quantization: "quant", Tolerance: "lpstar"}
# What may be asked of a model that can only be asked, if no budget is given.
_DEFAULT_BUDGET = Budget(max_words=100_000)
# A budget divided by this is for words to measure divergence on.
_WORDS_SHARE = 4
_LEAST_WORDS = 2
# How much is asked for these words where the budget does not bound it.
_WORDS_BUDGET = Budget(max_symbols=20_000)
# The distributions of these words are asked under this relation, as a tree needs one.
_SAME = Tolerance(1e-3)
# The name of a model without fingerprint in a store of the sweep's own.
_NAME = "sweep"

OracleMaker = Callable[[Relation], EquivalenceOracle]


def sweep(
    model: PDFA | LanguageModel,
    *,
    kappas: Iterable[int] = DEFAULT_KAPPAS,
    tolerances: Iterable[float] = (),
    oracle: OracleMaker | None = None,
    budget: Budget | None = None,
    sampler: SamplerLike | None = None,
    store: str | os.PathLike[str] | None = None,
    model_id: str | None = None,
    progress: Wanted[SweepProgress] = None,
    audit: int = 16,
    seed: int = 0,
) -> Sweep:
    """Learn with several κ and tolerances from one set of answers, and recommend one of them.

    All runs share a store of answers: the model is asked for each word once, whichever run needs
    it, apart from audits. Each automaton is the one that `learn` gives for that κ alone; its states
    may be numbered in another order, as answers that are there already are not asked one by one.

    Parameters
    ----------
    model : PDFA or LanguageModel
        What to learn from.
    kappas : iterable of int
        Quantization parameters, for QuaNT; 5, 10, 20, 50 and so on up to 1000 if not given.
    tolerances : iterable of float
        Tolerances, for L_p*.
    oracle : callable, optional
        Takes the `Quantization` or `Tolerance` of a run and returns the equivalence oracle for it;
        if not given, what `learn` takes by itself.
    budget : Budget, optional
        How much the whole sweep may cost: of words, symbols, cost and seconds a quarter is for
        words to measure divergence on, and each run may spend an equal share of what is left. The
        other bounds hold for every run. If not given, there is no bound for a PDFA, and for other
        models it is 100,000 words.
    sampler : Sampler or Corpus, optional
        What draws the words that divergence is measured on; `ModelWords` if not given. For a PDFA
        none are drawn, as its divergence is computed.
    store : path, optional
        A file that answers are written to and taken from; a temporary one if not given.
    model_id : str, optional
        Under which name the store keeps the answers; needed for a model without fingerprint.
    progress : bool, "log" or callable, optional
        As in `learn`; a function is called with a `SweepProgress`.
    audit : int
        How many words each run asks again in the end.
    seed : int
        Seed of the words, of the oracles and of the audits.

    Returns
    -------
    Sweep
        A row for each κ and each tolerance, and a recommendation.

    Raises
    ------
    SweepInterrupted
        On Ctrl-C: a `KeyboardInterrupt` with what has been learnt so far.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> found = sweep(figure_3(), kappas=[1, 10, 100])
    >>> [(row.equivalence.kappa, row.states) for row in found]
    [(1, 1), (10, 4), (100, 4)]
    >>> found.recommended.equivalence
    Quantization(kappa=10)
    """
    relations = _relations(kappas, tolerances)
    audit, seed = check_integer(audit, "audit", 0), check_integer(seed, "seed", 0)
    if budget is None:
        budget = Budget() if isinstance(model, PDFA) else _DEFAULT_BUDGET
    if not isinstance(budget, Budget):
        raise InputError(f"budget {budget!r} is not a Budget, such as Budget(max_words=100_000)")
    if oracle is not None and not callable(oracle):
        raise InputError(
            f"oracle {oracle!r} is not a function that takes a Quantization or a Tolerance and "
            "returns an equivalence oracle"
        )
    make = oracle or (lambda equivalence: default_oracle(model, equivalence, seed))
    asked = as_model(model)
    if store is not None:
        model_key(asked, model_id)  # refuses what has no name
    elif not check_members(asked).fingerprint:
        model_id = _NAME
    shown = show_progress(progress, SweepLine, runs=len(relations))
    own = TemporaryDirectory(prefix="pdfalearn-")  # with a store of the sweep's own
    run: _Run | None = None
    try:
        with shown as report, own as folder:
            place = Path(folder, "answers.db") if store is None else store
            run = _Run(model, place, model_id, budget, len(relations), report)
            run.measure_by(sampler, seed)
            for equivalence in relations:
                run.learn(equivalence, make(equivalence), audit, seed)
            return run.sweep()
    except KeyboardInterrupt as interrupt:
        kept = run.sweep() if run is not None and run.rows else None
        raise SweepInterrupted(kept) from interrupt


def _relations(kappas: Iterable[int], tolerances: Iterable[float]) -> list[Relation]:
    """Return κ from the smallest on, then tolerances from the largest on; each may come once."""
    quantized = map(Quantization, _list_values(kappas, "kappas"))
    tolerant = map(Tolerance, _list_values(tolerances, "tolerances"))
    by_kappa = sorted(quantized, key=lambda one: one.kappa)
    by_tolerance = sorted(tolerant, key=lambda one: -one.tolerance)
    relations: list[Relation] = [*by_kappa, *by_tolerance]
    if not relations:
        raise InputError("there is nothing to sweep over; give kappas, tolerances or both")
    for one, other in pairwise(relations):
        if one == other:
            raise InputError(f"{relation_text(one)} is given twice; give each once")
    return relations


def _list_values(values: Iterable[Value], name: str) -> list[Value]:
    if isinstance(values, str) or not is_iterable(values):
        raise InputError(f"{name} {values!r} is not a list of numbers, such as [10, 100]")
    return list(values)


class _Distance(NamedTuple):
    """How far an automaton is from the model."""

    divergence: float
    low: float
    high: float
    infinite_share: float
    # For every word the sum of finite divergences, and the number of infinite ones.
    losses: Floats
    infinite: Floats


@dataclass
class _Measure:
    """What measures automata, and the words that it took to make it."""

    distance: Callable[[PDFA], _Distance]
    lengths: Floats
    drawn_words: int = 0
    questions: int = 0  # words that the model was asked for


def _measure_exactly(target: PDFA) -> _Measure:
    """Measure over all words of an automaton that is known."""

    def distance(pdfa: PDFA) -> _Distance:
        forward = divergence(target, pdfa).forward
        share = forward.infinite_share
        mean = 0.0 if share == 1 else forward.finite_mean
        return _Distance(mean, mean, mean, share, np.array([mean]), np.array([share]))

    return _Measure(distance, np.ones(1))


def _measure_on_words(observations: ObservationTree, sampler: Sampler, seed: int) -> _Measure:
    """Measure on words that are drawn from the model now; the tree is closed in the end."""
    sampling = Sampling(observations, sampler, seed, held_out=1)
    sampling.draw_until(1.0)
    words = sampling.held_out
    if words.word_count < _LEAST_WORDS or not len(words.nodes):
        raise InputError(
            f"a share of the budget is for words to measure divergence on, and it draws "
            f"{words.word_count} words, {_LEAST_WORDS} are the least; give a larger budget "
            "or shorter words, as sampler=ModelWords(max_length=20)"
        )
    held_out = HeldOut(words, observations)

    def distance(pdfa: PDFA) -> _Distance:
        measured = held_out.measure(pdfa)
        mean, low, high = held_out.add_unseen(measured.divergence, pdfa)
        share = measured.infinite_share
        return _Distance(mean, low, high, share, measured.losses, measured.infinite)

    return _Measure(distance, held_out.lengths, held_out.word_count, observations.counts.words)


class _Run:
    """One sweep, with the rows so far."""

    def __init__(
        self,
        model: PDFA | LanguageModel,
        store: str | os.PathLike[str],
        model_id: str | None,
        budget: Budget,
        runs: int,
        report: Callable[[SweepProgress], None] | None,
    ) -> None:
        self._model = model
        self._store, self._model_id = store, model_id
        self._budget = SharedBudget(budget)
        self._runs = runs
        self._report = report
        self._measure: _Measure
        self._distances: list[_Distance] = []
        self.rows: list[SweepRow] = []

    def measure_by(self, sampler: SamplerLike | None, seed: int) -> None:
        """Choose how automata are measured: exactly, or on words that are drawn now."""
        if isinstance(self._model, PDFA):
            self._measure = _measure_exactly(self._model)
            return
        budget = self._budget.share_for(_WORDS_SHARE)
        if not budget.bounds_questions:
            budget = _WORDS_BUDGET
        budget = Budget(budget.max_words, budget.max_symbols, budget.max_cost, budget.max_seconds)
        sampler = check_sampler(sampler, budget, self._model.cost)
        key = model_key(self._model, self._model_id)
        with (
            Interrupts() as interrupts,
            AnswerStore(self._store) as store,
            ObservationTree(self._model, _SAME, budget, interrupts) as observations,
        ):
            observations.record(store, key)
            observations.asker.on_batch = lambda: self._report_progress(None, None)
            self._measure = _measure_on_words(observations, sampler, seed)
            counts, cost = observations.counts, observations.meter.spent
        interrupts.check()
        self._budget.spend(words=counts.words + counts.audited, symbols=counts.symbols, cost=cost)

    def learn(
        self, equivalence: Relation, oracle: EquivalenceOracle, audit: int, seed: int
    ) -> None:
        """Learn with one κ or tolerance, and add the row."""
        try:
            result = learn(
                self._model,
                equivalence=equivalence,
                oracle=oracle,
                learner=_LEARNERS[type(equivalence)],
                budget=self._budget.share_for(self._runs - len(self.rows)),
                store=self._store,
                model_id=self._model_id,
                progress=self._report and partial(self._report_progress, equivalence),
                audit=audit,
                seed=seed,
            )
        except LearningInterrupted as interrupt:
            if interrupt.result is not None:
                self._add(equivalence, interrupt.result)
            raise
        self._add(equivalence, result)

    def _add(self, equivalence: Relation, result: Result) -> None:
        statistics, distance = result.statistics, self._measure.distance(result.pdfa)
        words = statistics.words + statistics.audited_words
        self._budget.spend(words=words, symbols=statistics.symbols, cost=statistics.cost)
        self._distances.append(distance)
        self.rows.append(SweepRow(equivalence, result, *distance[:4]))

    def _report_progress(self, equivalence: Relation | None, learning: Progress | None) -> None:
        if self._report is not None:
            run = 0 if equivalence is None else len(self.rows) + 1
            self._report(SweepProgress(equivalence, run, self._runs, learning))

    def sweep(self) -> Sweep:
        """Put the rows together."""
        measure = self._measure
        return Sweep(
            rows=tuple(self.rows),
            drawn_words=measure.drawn_words,
            held_out_questions=measure.questions,
            kept_losses=np.array([distance.losses for distance in self._distances]),
            kept_infinite=np.array([distance.infinite for distance in self._distances]),
            kept_lengths=measure.lengths,
        )
