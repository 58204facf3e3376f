"""Learn a PDFA from a language model: the loop that joins model, learner and oracle."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256

import numpy as np

from pdfalearn.budgets import Budget, BudgetReached
from pdfalearn.certificates import Certificate
from pdfalearn.checks import checked_integer
from pdfalearn.equivalence.relations import (
    Relation,
    check_equivalence,
    check_relation,
    check_tolerance,
)
from pdfalearn.errors import InputError, OracleError, StoreError
from pdfalearn.learners.lpstar import LPStar
from pdfalearn.learners.protocol import Learner
from pdfalearn.learners.quant import Quant
from pdfalearn.learners.quant_paper import PaperQuant
from pdfalearn.learners.wlstar import WLStar
from pdfalearn.learning.agreeing import agreeing
from pdfalearn.learning.boundaries import BoundaryDistances
from pdfalearn.learning.defaults import DEFAULT_EQUIVALENCE, default_oracle
from pdfalearn.learning.interrupts import InterruptibleModel, Interrupts
from pdfalearn.learning.results import (
    History,
    LearningInterrupted,
    Progress,
    Result,
    Statistics,
)
from pdfalearn.learning.stopping import stopped
from pdfalearn.models.automaton import as_model
from pdfalearn.models.checking import checked_model_members
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import UNBOUNDED, ObservationTree
from pdfalearn.oracles.protocol import EquivalenceOracle
from pdfalearn.pdfa import PDFA
from pdfalearn.stores.store import AnswerStore
from pdfalearn.word_trees import WordTree
from pdfalearn.words import Words

_INTERRUPTED = Certificate("interrupted", "stopped by hand, the newest hypothesis")

_KEY_DIGITS = 20
"""This much of a hash tells models apart, and can be read in a table."""

Maker = Callable[[ObservationTree], Learner]
"""What makes a learner that asks an observation tree."""

LEARNERS: dict[str, Maker] = {
    "quant": Quant,
    "quant-classes": partial(Quant, traces=False),
    "quant-paper": PaperQuant,
}
"""The learners by name."""
SIMILARITY_LEARNERS: dict[str, Maker] = {"lpstar": LPStar, "wlstar": WLStar}
"""Those that compare by a tolerance instead of an equivalence."""


def learn(
    model: PDFA | LanguageModel,
    *,
    by: Relation = DEFAULT_EQUIVALENCE,
    oracle: EquivalenceOracle | None = None,
    learner: str | Maker = "quant",
    budget: Budget = UNBOUNDED,
    store: str | os.PathLike[str] | None = None,
    model_id: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    audit: int = 16,
    seed: int = 0,
) -> Result:
    """Learn a PDFA from a language model.

    Parameters
    ----------
    model : PDFA or LanguageModel
        What to learn from. A Python function becomes a model by `FunctionModel`.
    by : Equivalence or Tolerance
        When two distributions are the same; quantization with κ = 1000 if not given.
    oracle : EquivalenceOracle, optional
        Who tries to break hypotheses. If none is given: the exact oracle for a PDFA; else all
        answers so far, then PAC sampling with ε = δ = 0.01 of uniform words of up to 20 symbols, or
        for a constrained model of walks over the hypothesis's support. The certificate says so.
    learner : {"quant", "quant-classes", "quant-paper", "lpstar", "wlstar"} or callable
        The fast QuaNT, which chooses by the model's price what it asks for; the same always with
        fewer symbols for more words; the paper's to the letter; or one of its rivals, which need a
        `Tolerance`. A callable takes an `ObservationTree` and returns a learner: that is how to
        choose a learner's parameters.
    budget : Budget
        How much learning may cost. Reaching a bound is not an error: the result is the automaton as
        far as it has come, and its certificate says where it stopped.
    store : path, optional
        A file that answers are written to as they come and taken from where they are there: a run
        that was killed goes on where it stopped. It may hold the answers of many models.
    model_id : str, optional
        Under which name the store keeps the answers; needed for a model without identity, such as
        a function. Another model, or the same with other settings, needs another name.
    progress : callable, optional
        Called with a `Progress` after every batch of questions and every equivalence query.
    audit : int
        In the end, and now and then on the way, so many words are asked again, to catch a model
        that does not always give the same answer; they are counted apart.
    seed : int
        Seed of the audit's sample.

    Returns
    -------
    Result
        The automaton, its access words and tree, statistics, history and certificate.

    Raises
    ------
    ModelError
        If an answer of the model fails a check; the message names the word.
    OracleError
        If the oracle returns a word that is not a counterexample.
    LearningInterrupted
        On Ctrl-C: a `KeyboardInterrupt` with what has been learnt so far.

    Examples
    --------
    >>> from pdfalearn import Quantization, figure_3
    >>> result = learn(figure_3(), by=Quantization(10))
    >>> result.pdfa
    PDFA(4 states, alphabet=('0', '1'), initial=0)
    >>> result.access_words
    [(), ('0',), ('1',), ('0', '1')]
    >>> print(result.certificate)
    exact: equivalent to the target
    """
    maker = _maker(learner, by)
    audit, seed = checked_integer(audit, "audit", 0), checked_integer(seed, "seed", 0)
    asked = as_model(model)
    if oracle is None:
        oracle = default_oracle(model, by, seed)
    if not hasattr(oracle, "counterexamples"):
        raise InputError(
            f"{oracle!r} is not an equivalence oracle, such as ExactOracle(target, by=…)"
        )
    if not isinstance(budget, Budget):
        raise InputError(f"budget {budget!r} is not a Budget, such as Budget(max_words=1000)")
    key = None if store is None else _key(asked, model_id)
    run: _Run | None = None
    try:
        with Interrupts() as interrupts:
            observations = ObservationTree(InterruptibleModel(asked, interrupts), by, budget)
            run = _Run(observations, oracle, progress, interrupts)
            result = run.finished(maker, store, key, audit, seed)
        interrupts.check()
        return result
    except KeyboardInterrupt as interrupt:
        raise LearningInterrupted(None if run is None else run.salvaged()) from interrupt


def _maker(learner: str | Maker, by: Relation) -> Maker:
    """Find a learner, and refuse a relation that it cannot compare by."""
    if callable(learner):
        check_relation(by)
        return learner
    for makers, check in ((LEARNERS, check_equivalence), (SIMILARITY_LEARNERS, check_tolerance)):
        if isinstance(learner, str) and learner in makers:
            check(by)
            return makers[learner]
    names = ", ".join([*LEARNERS, *SIMILARITY_LEARNERS])
    raise InputError(f"there is no learner {learner!r}; there are {names}")


def _key(model: LanguageModel, model_id: str | None) -> str:
    """Name a model in a store."""
    identity = checked_model_members(model).identity
    if model_id is not None and not (isinstance(model_id, str) and model_id.strip()):
        raise InputError(f"model_id {model_id!r} is not a name: give a text of your choice")
    if model_id is not None and "#" in model_id:
        raise InputError(f"model_id {model_id!r} has a #, which stands before a model's hash")
    if not (model_id or identity):
        raise InputError(
            "a model without identity needs a model_id to keep its answers in a store: a name of "
            "your choice for this model with these settings"
        )
    if not identity:
        return str(model_id)
    return f"{model_id or ''}#{sha256(identity.encode()).hexdigest()[:_KEY_DIGITS]}"


class _Run:
    """One run of the loop, with its clocks and its history."""

    def __init__(
        self,
        observations: ObservationTree,
        oracle: EquivalenceOracle,
        progress: Callable[[Progress], None] | None,
        interrupts: Interrupts,
    ) -> None:
        self._observations = observations
        self._oracle = oracle
        self._progress = progress
        self._interrupts = interrupts
        self._learner: Learner
        self._seconds = {"learning": 0.0, "equivalence": 0.0}
        self._process_seconds = dict(self._seconds)
        self._running: str | None = None
        self._started = 0.0
        self._equivalence_queries = 0
        self._history: list[Progress] = []
        self._notes: list[str] = []
        self._result: Result | None = None
        self._unresolved = self._added = np.empty(0, dtype=np.int64)
        """What is unresolved of the last hypothesis, and the words of states added to agree."""
        self.hypothesis: PDFA | None = None
        """The newest one."""
        if progress is not None:
            observations.call_after_batches(self._report)

    def finished(
        self,
        maker: Maker,
        store: str | os.PathLike[str] | None,
        key: str | None,
        audit: int,
        seed: int,
    ) -> Result:
        """Learn to the end, with a store if there is one; the model is let go in every case."""
        try:
            self._learner = maker(self._observations)
            self._observations.audit_along_the_way(audit, seed)
            with self._recorded(store, key):
                certificate = self._certificate()
                self._observations.audit(audit, seed)
                self._result = self.result(certificate)
        except (StoreError, OSError) as error:
            if self._result is None:
                raise
            self._notes.append(f"the store could not be closed: {error}")
        finally:
            self._close()
        return self._noted(self._result)

    @contextmanager
    def _recorded(self, path: str | os.PathLike[str] | None, key: str | None) -> Iterator[None]:
        """Keep the observations in a store, if there is to be one."""
        if path is None or key is None:
            yield
            return
        with AnswerStore(path) as store:
            self._observations.record(store, key)
            yield

    def _close(self) -> None:
        note = self._observations.close()
        if note is not None:
            self._notes.append(note)

    def _noted(self, result: Result) -> Result:
        return replace(result, notes=tuple(self._notes)) if self._notes else result

    def salvaged(self) -> Result | None:
        """Return what was learnt until an interrupt, if there is an automaton at all."""
        self._close()
        if self._result is not None:
            return self._noted(self._result)
        newest = self.hypothesis
        try:
            self._settle()
        except Exception:  # half-made states, where a second Ctrl-C came in between
            self.hypothesis = newest
        if self.hypothesis is None:
            return None
        return self._noted(self.result(_INTERRUPTED))

    def _certificate(self) -> Certificate:
        """Learn until the oracle finds no counterexample or a bound is reached; say which."""
        try:
            self._learn()
            return self._oracle.certificate
        except BudgetReached as reached:
            with self._timed("learning"):
                self._settle()
                self._agree()
            alphabet, added = self._observations.alphabet, len(self._added)
            return stopped(reached, alphabet, self._unresolved, added)

    def _settle(self) -> PDFA:
        """Take what the learner knows now as its newest hypothesis."""
        self.hypothesis = None  # two of them may be large
        self.hypothesis = self._learner.hypothesis()
        return self.hypothesis

    def _agree(self) -> None:
        """Make the newest hypothesis agree with every answer, though nothing more may be asked."""
        self._unresolved = self._learner.unresolved()
        if self.hypothesis is None:
            return
        found = agreeing(self.hypothesis, self._unresolved, self._observations)
        if found is not None:
            self.hypothesis, self._added, self._unresolved = found

    def _learn(self) -> None:
        meter = self._observations.meter
        with self._timed("learning"):
            self._learner.start()
        while True:
            with self._timed("learning"):
                hypothesis = self._settle()
            self._history.append(self._snapshot())
            meter.check_states()
            meter.check_seconds()
            meter.check_equivalence_queries(self._equivalence_queries)
            with self._timed("equivalence"):
                counterexamples = self._oracle.counterexamples(hypothesis, self._observations)
            del hypothesis
            self._equivalence_queries += 1
            if not isinstance(counterexamples, Words):
                raise OracleError(f"the oracle returned {counterexamples!r}, not Words")
            self._report()
            if not len(counterexamples):
                return
            self._interrupts.check()
            with self._timed("learning"):
                self._learner.refine(self._checked(counterexamples))
            self._interrupts.check()

    def _checked(self, words: Words) -> Words:
        symbols, count = words.symbols, len(self._observations.alphabet)
        if len(symbols) and not 0 <= symbols.min() <= symbols.max() < count:
            raise OracleError(
                f"the oracle gave words with the codes {symbols.min()} to {symbols.max()}, but "
                f"there are {count} symbols"
            )
        return words

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        self._running, self._started = part, time.perf_counter()
        process_started = time.process_time()
        try:
            yield
        finally:
            self._process_seconds[part] += time.process_time() - process_started
            self._seconds = self._seconds_now()
            self._running = None

    def _seconds_now(self) -> dict[str, float]:
        seconds = dict(self._seconds)
        if self._running is not None:
            seconds[self._running] += time.perf_counter() - self._started
        return seconds

    def _report(self) -> None:
        if self._progress is not None:
            self._interrupts.begin_call()
            try:
                self._progress(self._snapshot())
            finally:
                self._interrupts.end_call()

    def _snapshot(self) -> Progress:
        counts, seconds = self._observations.counts, self._seconds_now()
        return Progress(
            states=self._learner.size,
            words=counts.words,
            distributions=counts.distributions,
            symbols=self._observations.symbols,
            cost=self._observations.cost,
            equivalence_queries=self._equivalence_queries,
            learning_seconds=seconds["learning"],
            equivalence_seconds=seconds["equivalence"],
        )

    def result(self, certificate: Certificate) -> Result:
        """Put together what has been learnt."""
        pdfa = self.hypothesis
        if pdfa is None:
            raise RuntimeError("there is no hypothesis yet")
        counts = self._observations.counts
        depth, inner_nodes = self._learner.tree_shape()
        statistics = Statistics(
            **(vars(self._snapshot()) | {"states": len(pdfa)}),
            batches=tuple(counts.batches),
            stored_words=counts.stored,
            audited_words=counts.audited,
            largest_difference=counts.largest_difference,
            learning_process_seconds=self._process_seconds["learning"],
            equivalence_process_seconds=self._process_seconds["equivalence"],
            tree_depth=depth,
            inner_nodes=inner_nodes,
            structure_size=self._learner.structure_size,
        )
        by, learnt = self._observations.by, len(pdfa) - len(self._added)
        return Result(
            pdfa=pdfa,
            statistics=statistics,
            history=History(self._history),
            certificate=certificate,
            by=by,
            kept_words=self._access_words(),
            kept_tree=self._learner.tree(learnt),
            kept_distances=BoundaryDistances.of(by, self._observations.tables()),
            unresolved=np.stack(np.divmod(self._unresolved, len(pdfa.alphabet)), axis=1),
        )

    def _access_words(self) -> WordTree:
        """Return the access words of the learner's states, and of those that were added."""
        words = self._learner.access_words()
        if not len(self._added):
            return words
        return words.followed_by(self._observations.word_tree(self._added))
