"""One run of learning, from the first question to the result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from pdfalearn.alphabet import WordTree
from pdfalearn.budgets import Budget, BudgetReached
from pdfalearn.errors import OracleError, StoreError
from pdfalearn.learners.protocol import Learner
from pdfalearn.learning.agreeing import agreeing
from pdfalearn.learning.coarseness import coarseness_note
from pdfalearn.learning.growth import WARN_STATES, may_be_endless, warn_of_growth
from pdfalearn.learning.stopping import interrupted, stopped
from pdfalearn.models.interrupts import Interrupts
from pdfalearn.observations.audits import UnsteadyModelError
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles.protocol import EquivalenceOracle
from pdfalearn.pdfa import PDFA
from pdfalearn.results.boundaries import BoundaryDistances
from pdfalearn.results.certificates import Certificate
from pdfalearn.results.learning_runs import History, Progress, Result, StateGrowth, Statistics
from pdfalearn.stores import AnswerStore
from pdfalearn.words import Words

Maker = Callable[[ObservationTree], Learner]
"""What makes a learner that asks an observation tree."""


class Run:
    """One run of the loop, with its clocks and its history.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    oracle : EquivalenceOracle
        The oracle that tries to break hypotheses.
    progress : callable, optional
        Called with a `Progress` after every batch of questions and every equivalence query.
    interrupts : Interrupts
        What holds back a Ctrl-C.
    """

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
        self._found: list[tuple[int, int]] = []
        """How many counterexamples each query found, and the symbols of the longest."""
        self._notes: list[str] = []
        self._result: Result | None = None
        self._unresolved = self._added = np.empty(0, dtype=np.int64)
        """What is unresolved of the last hypothesis, and the words of states added to agree."""
        self.hypothesis: PDFA | None = None
        """The newest one."""
        self._may_warn = observations.budget == Budget()  # who gives a bound knows
        self._growth: StateGrowth | None = None
        if may_be_endless(observations.query_cost, oracle):
            self._growth = StateGrowth()

    def finished(
        self,
        maker: Maker,
        store: str | os.PathLike[str] | None,
        key: str | None,
        audit: int,
        seed: int,
    ) -> Result:
        """Learn to the end, with a store if there is one; the session is closed in every case."""
        try:
            self._learner = maker(self._observations)
            if self._progress is not None or self._growth is not None:
                self._observations.call_after_batches(self._after_batch)
            self._observations.audit_along_the_way(audit, seed)
            with self._recorded(store, key):
                try:
                    self._learn()
                    certificate = self._oracle.certificate
                except (BudgetReached, UnsteadyModelError) as end:
                    certificate = self._stop(end)
                try:
                    self._observations.audit(audit, seed)
                except UnsteadyModelError as found:
                    certificate = found.certify(certificate)
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
        return self._noted(self.result(interrupted(is_growing=self._is_growing)))

    def _stop(self, end: BudgetReached | UnsteadyModelError) -> Certificate:
        """Make an automaton of what is known where learning had to end; certify that."""
        with self._timed("learning"):
            self._settle()
            self._agree()
        if isinstance(end, UnsteadyModelError):
            return end.certify(Certificate("stopped", "an audit on the way ended learning"))
        alphabet, added = self._observations.alphabet, len(self._added)
        return stopped(end, alphabet, self._unresolved, added, is_growing=self._is_growing)

    def _settle(self) -> PDFA:
        """Take the learner's current hypothesis as the newest one."""
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
            if not isinstance(counterexamples, Words):
                raise OracleError(f"the oracle returned {counterexamples!r}, not Words")
            self._note(counterexamples)
            self._report()
            if not len(counterexamples):
                return
            self._interrupts.check()
            with self._timed("learning"):
                self._learner.refine(self._checked(counterexamples))
            self._interrupts.check()

    def _note(self, counterexamples: Words) -> None:
        """Count an equivalence query and what it found."""
        self._equivalence_queries += 1
        longest = int(counterexamples.lengths.max(initial=0))
        self._found.append((len(counterexamples), longest))

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

    def _after_batch(self) -> None:
        if self._growth is not None:
            counts = self._observations.counts
            self._growth.note(counts.words + counts.stored, self._learner.size)
            is_large = self._learner.size >= WARN_STATES
            if self._may_warn and is_large and self._growth.is_steady:
                self._may_warn = False
                warn_of_growth(self._learner.size, counts.words)
        self._report()

    @property
    def _is_growing(self) -> bool:
        """Whether states have kept growing with the questions."""
        return self._growth is not None and self._growth.is_steady

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
        coarse = coarseness_note(self._observations)
        if coarse is not None:
            self._notes.append(coarse)
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
            counterexamples=tuple(count for count, _ in self._found),
            longest_counterexamples=tuple(longest for _, longest in self._found),
        )
        by, learnt = self._observations.by, len(pdfa) - len(self._added)
        return Result(
            pdfa=pdfa,
            statistics=statistics,
            history=History(self._history),
            certificate=replace(
                certificate, details={**certificate.details, **counts.outside_details}
            ),
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
