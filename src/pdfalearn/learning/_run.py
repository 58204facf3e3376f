"""One run of learning, from the first question to the result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from pdfalearn.budgets import BudgetReached
from pdfalearn.equivalence import check_own_keys
from pdfalearn.errors import InputError, ModelError, OracleError, StoreError
from pdfalearn.learners import Learner, PlainLearner, ThreeVerbs
from pdfalearn.learning.agreeing import unfold_hypothesis
from pdfalearn.models import Interrupts, error_text
from pdfalearn.observations import UNBOUNDED, ObservationTree, UnsteadyModelError
from pdfalearn.oracles import EquivalenceOracle, certificate_of, check_codes
from pdfalearn.pdfa import PDFA
from pdfalearn.results import (
    WARN_STATES,
    BoundaryDistances,
    Certificate,
    History,
    Progress,
    Result,
    StateGrowth,
    Statistics,
    certify_interrupt,
    certify_stop,
    coarseness_note,
    warn_of_growth,
)
from pdfalearn.words import NO_WORDS, Words

if TYPE_CHECKING:
    from pdfalearn.stores import AnswerStore

# What makes a learner that asks an observation tree; three verbs are enough for one.
Maker = Callable[[ObservationTree], ThreeVerbs]


# The keys of at most this many rows of a hypothesis are checked where an equivalence may be wrong.
_CHECKED = 100


class Run:
    """One run of the loop, with its clocks and its history.

    ``progress`` is called after every batch of questions and every equivalence query, and
    ``is_endless`` says whether states may keep growing with the questions for ever, and
    ``keeps_last`` whether the learner is a user's own, which may ask while it makes a hypothesis.
    """

    def __init__(
        self,
        observations: ObservationTree,
        oracle: EquivalenceOracle,
        progress: Callable[[Progress], None] | None,
        interrupts: Interrupts,
        *,
        is_endless: bool,
        keeps_last: bool,
    ) -> None:
        self._observations = observations
        self._oracle = oracle
        self._progress = progress
        self._interrupts = interrupts
        self._learner: Learner
        # What each part has taken, by the clock and of the processor.
        self._seconds = {"learning": np.zeros(2), "equivalence": np.zeros(2)}
        self._running: str | None = None
        self._since = np.zeros(2)
        self._history: list[Progress] = []
        # How many counterexamples each query found, and the symbols of the longest.
        self._found: list[tuple[int, int]] = []
        self._notes: list[str] = []
        self._result: Result | None = None
        # What is unresolved of the last hypothesis, and the words of states added to agree.
        self._unresolved = self._added = np.empty(0, dtype=np.int64)
        self._hypothesis: PDFA | None = None
        # The one before it, as a user's learner may be stopped while it makes one.
        self._last: PDFA | None = None
        self._keeps_last = keeps_last
        self._may_warn = observations.budget == UNBOUNDED  # who gives a bound knows
        self._growth = StateGrowth() if is_endless else None

    def finish(
        self,
        maker: Maker,
        store: str | os.PathLike[str] | None,
        key: str | None,
        audit: int,
        seed: int,
    ) -> Result:
        """Learn to the end, with a store if there is one; the model is closed in every case."""
        observations = self._observations
        try:
            ended = self._make_learner(maker)
            if self._progress is not None or self._growth is not None:
                observations.asker.on_batch = self._after_batch
            observations.audits.plan(audit, seed)
            with nullcontext() if store is None else _open_store(store) as kept:
                if kept is not None and key is not None:
                    observations.record(kept, key, audit)
                try:
                    if ended is not None:
                        raise ended
                    self._learn()
                    certificate = certificate_of(self._oracle)
                except (BudgetReached, UnsteadyModelError) as end:
                    certificate = self._stop(end)
                self._time(None)
                try:
                    observations.audits.audit(audit, seed)
                except UnsteadyModelError as found:
                    certificate = found.certify(certificate)
                except Exception as error:  # all has been learnt
                    self._notes.append(f"the last audit failed with {error_text(error)}")
                self._result = self._make_result(certificate)
        except (StoreError, OSError) as error:
            if self._result is None:
                raise
            self._notes.append(f"the store could not be closed: {error}")
        finally:
            self._notes += self._observations.close()
        return replace(self._result, notes=tuple(self._notes)) if self._notes else self._result

    def _make_learner(self, maker: Maker) -> BudgetReached | None:
        """Make the learner; return the bound that ended it where it asks too much even for that."""
        observations = self._observations
        try:
            made = maker(observations)
        except BudgetReached as end:
            self._learner = PlainLearner(None, observations)
            return end
        if not hasattr(made, "hypothesis"):
            raise InputError(f"{maker!r} made {made!r}, which is not a learner")
        is_whole = hasattr(made, "findings")
        self._learner = cast("Learner", made) if is_whole else PlainLearner(made, observations)
        return None

    def salvage(self) -> Result | None:
        """Return what was learnt until an interrupt, if there is an automaton at all."""
        self._time(None)
        self._notes += self._observations.close()
        if self._result is None:
            # Half-made states, where a second Ctrl-C came in between, leave the newest one.
            with suppress(Exception):
                self._hypothesis = self._learner.hypothesis()
            if self._hypothesis is None:
                return None
            self._result = self._make_result(certify_interrupt(is_growing=self._is_growing))
        return replace(self._result, notes=tuple(self._notes))

    def _stop(self, end: BudgetReached | UnsteadyModelError) -> Certificate:
        """Make an automaton of what is known where learning had to end; certify that."""
        self._time("learning")
        self._agree()
        if isinstance(end, UnsteadyModelError):
            return end.certify(Certificate("stopped", "an audit on the way ended learning"))
        alphabet, added = self._observations.alphabet, len(self._added)
        return certify_stop(end, alphabet, self._unresolved, added, is_growing=self._is_growing)

    def _agree(self) -> None:
        """Make a hypothesis that agrees with every answer, though nothing more may be asked."""
        self._hypothesis = None
        try:
            # Nothing can be made without the answer to the empty word.
            self._observations.asked_classes(np.zeros(1, dtype=np.int64))
        except BudgetReached as end:
            raise ModelError(
                f"{end} before the model has answered the empty word, so that there is no "
                "automaton at all; allow more"
            ) from None
        try:
            self._hypothesis = self._learner.hypothesis()
        except BudgetReached:  # it asks for more: its last whole hypothesis counts, or one state
            self._learner = PlainLearner(None, self._observations, self._last)
            self._hypothesis = self._learner.hypothesis()
        self._unresolved = self._learner.unresolved()
        found = unfold_hypothesis(self._hypothesis, self._unresolved, self._observations)
        if found is not None:
            self._hypothesis, self._added, self._unresolved = found

    def _learn(self) -> None:
        """Refine the hypothesis until the oracle finds no counterexample."""
        meter = self._observations.meter
        self._time("learning")
        self._learner.start()
        while True:
            # Two of them may be large: only of a user's learner the last one is kept.
            self._last, self._hypothesis = self._hypothesis if self._keeps_last else None, None
            self._hypothesis = self._learner.hypothesis()
            self._history.append(self._snapshot())
            meter.check_query(len(self._found))
            self._time("equivalence")
            counterexamples = self._oracle.counterexamples(self._hypothesis, self._observations)
            if isinstance(counterexamples, list | tuple) and not counterexamples:
                counterexamples = NO_WORDS
            if not isinstance(counterexamples, Words):
                raise OracleError(f"the oracle returned {counterexamples!r}, not Words")
            self._time(None)
            longest = int(counterexamples.lengths.max(initial=0))
            self._found.append((len(counterexamples), longest))
            if self._progress is not None:
                self._interrupts.report(self._progress, self._snapshot())
            if not len(counterexamples):
                return
            self._interrupts.check()
            self._time("learning")
            symbols = len(self._observations.alphabet)
            check_codes(counterexamples, symbols, "the oracle gave words with")
            try:
                self._learner.refine(counterexamples)
            except OracleError:
                rows = self._hypothesis.probabilities[:_CHECKED]
                rows = np.concatenate((rows, np.eye(rows.shape[1])))
                check_own_keys(self._observations.equivalence, rows)  # or it is the oracle's fault
                raise
            self._interrupts.check()

    def _time(self, part: str | None) -> None:
        """Count the time since the last call for the part that was running; begin another one."""
        now = np.array([time.perf_counter(), time.process_time()])
        if self._running is not None:
            self._seconds[self._running] += now - self._since
        self._running, self._since = part, now

    def _after_batch(self) -> None:
        if self._growth is not None:
            counts = self._observations.counts
            self._growth.note(counts.words + counts.stored, self._learner.size)
            is_large = self._learner.size >= WARN_STATES
            if self._may_warn and is_large and self._growth.is_steady:
                self._may_warn = False
                warn_of_growth(self._learner.size, counts.words)
        if self._progress is not None:
            self._interrupts.report(self._progress, self._snapshot())

    @property
    def _is_growing(self) -> bool:
        """Whether states have kept growing with the questions."""
        return self._growth is not None and self._growth.is_steady

    def _snapshot(self) -> Progress:
        self._time(self._running)
        counts = self._observations.counts
        return Progress(
            states=self._learner.size,
            words=counts.words,
            distributions=counts.distributions,
            symbols=counts.symbols,
            cost=self._observations.meter.spent,
            equivalence_queries=len(self._found),
            learning_seconds=float(self._seconds["learning"][0]),
            equivalence_seconds=float(self._seconds["equivalence"][0]),
        )

    def _make_result(self, certificate: Certificate) -> Result:
        """Put together what has been learnt."""
        pdfa = self._hypothesis
        if pdfa is None:
            raise RuntimeError("there is no hypothesis yet")
        observations, equivalence = self._observations, self._observations.equivalence
        if observations.answers.class_count == 1:
            coarse = coarseness_note(equivalence, observations.answers.size, observations.tables())
            if coarse is not None:
                self._notes.append(coarse)
        counts = observations.counts
        findings = self._learner.findings(len(pdfa) - len(self._added))
        queries = tuple(zip(*self._found, strict=True)) or ((), ())
        statistics = Statistics(
            **(vars(self._snapshot()) | {"states": len(pdfa)}),
            batches=tuple(counts.batches),
            stored_words=counts.stored,
            audited_words=counts.audited,
            largest_difference=counts.largest_difference,
            learning_process_seconds=float(self._seconds["learning"][1]),
            equivalence_process_seconds=float(self._seconds["equivalence"][1]),
            tree_depth=findings.tree_depth,
            inner_nodes=findings.inner_nodes,
            structure_size=findings.structure_size,
            counterexamples=queries[0],
            longest_counterexamples=queries[1],
        )
        words = findings.access_words
        if len(self._added):
            words = words.followed_by(observations.word_tree(self._added))
        if counts.outside_known:
            details = {**certificate.details, **counts.outside_details}
            certificate = replace(certificate, details=details)
        if findings.reference is not None:
            details = {**certificate.details, "reference": findings.reference}
            certificate = replace(certificate, details=details)
        return Result(
            pdfa=pdfa,
            statistics=statistics,
            history=History(self._history),
            certificate=certificate,
            equivalence=equivalence,
            kept_words=words,
            kept_tree=findings.tree,
            kept_distances=BoundaryDistances.of(equivalence, observations.tables()),
            unresolved=np.stack(np.divmod(self._unresolved, len(pdfa.alphabet)), axis=1),
        )


def _open_store(path: str | os.PathLike[str]) -> AnswerStore:
    from pdfalearn.stores import AnswerStore  # with SQLite, which few runs need

    return AnswerStore(path)
