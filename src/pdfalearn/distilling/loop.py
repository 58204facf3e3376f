"""The loop of distilling a model: draw, ask, search, measure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from math import inf

import numpy as np

from pdfalearn.arrays import one_thread
from pdfalearn.distilling.candidates import Chooser, fit_both
from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.estimates import HeldOut, Measurement, make_frontier
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import Fit, Machine, fit_rows, make_pdfa, widen
from pdfalearn.distilling.noise import answers_differ, ask_held_out_again
from pdfalearn.distilling.prefixes import polish
from pdfalearn.distilling.questions import ask_blind_spots, rare_loss
from pdfalearn.distilling.sampling import (
    Sampling,
    explain_few_words,
    take_first_words,
)
from pdfalearn.distilling.searching import default_sizes, search
from pdfalearn.distilling.settings import SearchSettings
from pdfalearn.errors import InputError, StoreError
from pdfalearn.models import Interrupts, error_text
from pdfalearn.observations import UnsteadyModelError
from pdfalearn.results import DistillingProgress, Frontier, KeptWords, Phase
from pdfalearn.samplers import ModelWords
from pdfalearn.stores import AnswerStore
from pdfalearn.typing import Integers

# The share of the budget that is spent on words.
_WORDS = 0.75
# How much is spent after each round of questions about automata on the way. More words are drawn of
# what is left then.
_QUESTIONS = (0.83, 0.92)
# How much is spent after questions about the automata found; the rest is for the audit.
_FINISHING = 0.97
# The share of all these for a model whose answers differ, as held-out words are asked again; and
# how many words are audited then.
_NOISY, _AUDITED = 0.8, 4
# The sizes of the automata whose blind spots are asked.
_PROBED = (512, 256, 128, 64, 32, 16, 8)
# Of the automata that were found, one in this many is asked about.
_EVERY = 4
# Automata are searched with at most about this many answers; their rows are means of all.
_STRUCTURE = 2**16
# Automata that only show where to ask are searched with at most about this many.
_PROBING = 2**14
# What there is still time for after a Ctrl-C: sizes, and answers to search with.
_QUICK, _QUICK_STRUCTURE = (64, 16, 4, 1), 2**12
# Where seconds are bounded, searching ends after this share of them. The others are: how
# many answers it uses for each second that is left; the fewest; from how many seconds on it goes
# through cycles; and by what factor each size is larger than the one before.
_UNTIL, _A_SECOND, _LEAST, _CYCLES, _APART = 1.2, 1500, 2**9, 10.0, 1.3
# The frontier keeps prefixes as far as their answers have this many numbers.
_MOST_CELLS = 2**22
# Automata with more transitions than this are reported without their held-out divergence.
_REPORTED = 2**22


class Run:
    """One run of distilling, from the first word to the frontier."""

    def __init__(
        self,
        sampling: Sampling,
        sizes: list[int] | None,
        settings: SearchSettings,
        progress: Callable[[DistillingProgress], None] | None,
        interrupts: Interrupts,
    ) -> None:
        self._sampling, self._observations = sampling, sampling.observations
        self._observations.meter.reserve = 1 - _FINISHING
        self._settings = settings
        self._sizes, self._progress, self._interrupts = sizes, progress, interrupts
        # By their sizes automata, the last one found first, and the symbols that they are over.
        self._machines: dict[int, list[tuple[Machine, Integers]]] = {}
        self._phase: Phase = "words"
        self._notes: list[str] = []
        self._is_noisy = False
        self._frontier: Frontier | None = None
        seconds = self._observations.budget.max_seconds
        self._deadline = inf if seconds is None else time.monotonic() + _UNTIL * seconds
        if progress is not None:
            self._observations.asker.on_batch = self._report

    def finish(self, store: str | os.PathLike[str] | None, key: str | None, audit: int) -> Frontier:
        """Distil to the end, with a store if there is one; the model is closed in every case."""
        try:
            with ExitStack() as stack:
                if store is not None and key is not None:
                    kept = stack.enter_context(AnswerStore(store))
                    self._observations.record(kept, key, audit, is_replayed=True)
                self._sampling.draw_until(_WORDS)
                if not len(self._sampling.training.nodes) or self._sampling.held_out.word_count < 2:
                    raise InputError(explain_few_words(self._sampling))
                self._is_noisy = audit > 0 and self._differ_early()
                self._ask()
                self._phase = "words"
                self._sampling.draw_until(self._scale(_QUESTIONS[-1]))
                self._search()
                unsteady: UnsteadyModelError | None = None
                try:
                    count = min(audit, _AUDITED) if self._is_noisy else audit
                    self._observations.audits.audit(count, self._sampling.seed)
                except UnsteadyModelError as error:
                    unsteady = error
                except Exception as error:  # all has been asked
                    self._notes.append(f"the last audit failed with {error_text(error)}")
                self._is_noisy |= unsteady is not None
                self._frontier = self._measure(is_interrupted=False)
                if unsteady is not None:
                    certificate = unsteady.certify(self._frontier.certificate)
                    self._frontier = replace(self._frontier, certificate=certificate)
        except (StoreError, OSError) as error:
            if self._frontier is None:
                raise
            self._notes.append(f"the store could not be closed: {error}")
        finally:
            self._notes += self._observations.close()
        return replace(self._frontier, notes=tuple(self._notes))

    def _differ_early(self) -> bool:
        """Return whether a few words have other answers the second time."""
        try:
            return answers_differ(self._sampling)
        except Exception:
            return False

    @one_thread
    def salvage(self) -> Frontier | None:
        """Return what was found until an interrupt, if there are words to measure it with."""
        self._notes += self._observations.close()
        self._progress = None  # it may have raised the interrupt, and would do so again
        if self._frontier is None:
            if self._sampling.held_out.word_count < 2:
                return None
            if not self._machines:
                evidence, _ = self._sampling.make_evidence(_QUICK_STRUCTURE)
                found = search(evidence, _QUICK, cycles=False)
                self._machines = {size: [(fit.machine, evidence.codes)] for size, fit in found}
            self._frontier = self._measure(is_interrupted=True)
        return replace(self._frontier, notes=tuple(self._notes))

    def _scale(self, share: float) -> float:
        """Return a share of the budget, less where held-out words have to be asked again."""
        return _NOISY * share if self._is_noisy else share

    @property
    def _seconds(self) -> float:
        """How many seconds are left to search in; infinite if they are not bounded."""
        return self._deadline - time.monotonic()

    @property
    def _structure(self) -> int:
        """With how many answers automata are searched."""
        return int(min(_STRUCTURE, max(_LEAST, _A_SECOND * self._seconds)))

    def _ask(self) -> None:
        """Ask where automata of several sizes are blind; new answers change these, and so on."""
        fits: list[Fit] = []
        codes: Integers | None = None
        for share in _QUESTIONS:
            if self._seconds <= 0:
                return
            self._phase = "automata"
            self._report()
            evidence, nodes = self._sampling.make_evidence(min(_PROBING, self._structure))
            with one_thread:
                if codes is None:
                    sizes = [size for size in _PROBED if size <= evidence.size // 4] or [1]
                    fits = [*dict(search(evidence, sizes, cycles=False)).values()]
                else:
                    known = [widen(fit.machine, codes, evidence.codes) for fit in fits]
                    fits = [polish(machine, evidence) for machine in known]
            codes = evidence.codes
            self._interrupts.check()
            self._phase = "questions"
            ask_blind_spots(fits[::-1], evidence, nodes, self._sampling, self._scale(share))

    def _search(self) -> None:
        """Find the automata, ask where they are blind, and polish them once more."""
        self._phase = "automata"
        self._report()
        evidence, _ = self._sampling.make_evidence(self._structure)
        if self._sizes is None:
            self._sizes = default_sizes(evidence.size, evidence.width)
            if self._seconds < inf:
                self._sizes = [*_space_out(self._sizes)]
        searched = [size for size in self._sizes if size <= self._settings.largest]
        if searched:
            cycles = self._seconds > _CYCLES
            self._keep(search(evidence, searched, cycles=cycles, settings=self._settings), evidence)
        evidence, nodes = self._sampling.make_evidence(self._structure)
        places = sorted(size for size in self._machines if size <= max(_PROBED))
        probed = [widen(*self._machines[size][0], evidence.codes) for size in places[::-_EVERY]]
        fits = [fit_rows(machine, evidence) for machine in probed]
        self._interrupts.check()
        self._phase = "questions"
        ask_blind_spots(fits[::-1], evidence, nodes, self._sampling, self._scale(_FINISHING))
        self._phase = "automata"
        if self._seconds > 0:
            evidence, _ = self._sampling.make_evidence(self._structure)
            self._keep(self._polish(places, evidence), evidence)

    def _polish(self, sizes: list[int], evidence: Evidence) -> Iterator[tuple[int, Fit]]:
        """Polish the automata of some sizes once more, each in its place."""
        for size in sizes:
            fit = polish(widen(*self._machines[size][0], evidence.codes), evidence)
            self._machines[size] = []
            yield size, fit

    @cached_property
    def _held_out(self) -> HeldOut:
        """Words to report by, once all words are drawn."""
        words = take_first_words(self._sampling.held_out, _STRUCTURE)
        return HeldOut(words, self._observations)

    @one_thread
    def _keep(self, found: Iterable[tuple[int, Fit]], evidence: Evidence) -> None:
        """Keep automata of some sizes, and report each."""
        for size, fit in found:
            self._machines.setdefault(size, []).insert(0, (fit.machine, evidence.codes))
            if self._progress is not None:
                states, held_out = len(fit.machine.rows), None
                if states * len(self._observations.alphabet) <= _REPORTED:
                    pdfa = make_pdfa(fit, evidence, self._observations.alphabet)
                    held_out = self._held_out.measure(pdfa).divergence.mean
                self._report(states, fit.loss, held_out)
            self._interrupts.check()
            if self._seconds <= 0:
                break

    def _measure(self, *, is_interrupted: bool) -> Frontier:
        """Choose automata on held-out words, measure them, and give all answers to their rows."""
        self._phase = "measuring"
        self._report()
        sampling = self._sampling
        learnt = sampling.weigh_nodes(sampling.training)
        fresh = ask_held_out_again(sampling, learnt) if self._is_noisy else None
        if fresh is not None and fresh.positions.word_count < 2:
            fresh = None  # nothing is left to measure with
        more = None if fresh is None else fresh.rows
        everything, _ = sampling.make_evidence(2**62, with_held_out=True, more=more)
        codes = everything.codes
        evidence, nodes = sampling.make_evidence(2**62, codes=codes)
        held_out = HeldOut(
            sampling.held_out, self._observations, codes=codes, learnt=learnt, fresh=fresh
        )
        machines: dict[int, list[Machine]] = {
            size: [widen(*each, codes) for each in found] for size, found in self._machines.items()
        }
        if not is_interrupted:
            machines = {size: [] for size in self._sizes or []} | machines
        contexts, regrown = (Contexts(each, max(machines)) for each in (evidence, everything))
        drawn = sampling.training.count_passes(self._observations)[nodes]
        found = []
        with one_thread:
            for size, choice in Chooser(evidence, held_out, contexts).choose(machines):
                fit, refitted = fit_both(size, choice.candidate, evidence, everything, regrown)
                pdfa = make_pdfa(refitted, everything, self._observations.alphabet)
                rare = rare_loss(fit, evidence, drawn)
                found.append(Measurement(pdfa, choice.sums, fit.loss, rare))
        frontier = make_frontier(
            found, held_out, machines, sampling, fresh, is_interrupted=is_interrupted
        )
        return replace(frontier, kept_words=_keep_words(sampling))

    def _report(
        self, states: int | None = None, loss: float | None = None, held_out: float | None = None
    ) -> None:
        """Report how far the run is, and the losses of an automaton if one was found."""
        if self._progress is None:
            return
        news = DistillingProgress(
            phase=self._phase,
            words=self._sampling.words,
            symbols=self._observations.counts.symbols,
            cost=self._observations.meter.spent,
            share=min(1.0, self._sampling.share),
            states=states,
            training_divergence=loss,
            held_out_divergence=held_out,
        )
        self._interrupts.report(self._progress, news)


def _keep_words(sampling: Sampling) -> KeptWords | None:
    """Return the prefixes that were asked and the held-out words, if the model drew the words."""
    if not isinstance(sampling.sampler, ModelWords):
        return None
    observations, most = (
        sampling.observations,
        _MOST_CELLS // (len(sampling.observations.alphabet) + 1),
    )
    held_out = take_first_words(sampling.held_out, most // 2)
    if held_out.word_count < 2:
        return None
    # Which prefixes are kept must not depend on the held-out words.
    learnt = take_first_words(sampling.training, most // 2).count_passes(observations) > 0
    used = learnt | (held_out.count_passes(observations) > 0)
    tree, kept = observations.nodes, used.nonzero()[0]
    kept = kept[np.argsort(tree.lengths[kept], kind="stable")]
    numbers = np.full(tree.size, -1, dtype=np.int32)
    numbers[kept] = np.arange(len(kept))
    parents = numbers[tree.parents[kept]]
    parents[0] = -1
    different, rows = np.unique(tree.rows[kept], return_inverse=True)
    answers = np.abs(observations.answers.dense(different.astype(np.int64)))
    lasts = np.append(np.flatnonzero(np.diff(held_out.words)), len(held_out.words) - 1)
    return KeptWords(
        parents=parents,
        symbols=tree.last_symbols[kept],
        rows=rows.astype(np.int32),
        is_learnt=learnt[kept],
        ends=numbers[held_out.nodes[lasts]],
        is_cut=tree.lengths[kept] + 1 == sampling.sampler.max_length,
        answers=answers / answers.sum(axis=1, keepdims=True),
    )


def _space_out(sizes: Iterable[int]) -> Iterator[int]:
    """Yield sizes that are by a factor larger than the one before."""
    last = 0.0
    for size in sizes:
        if size >= _APART * last:
            last = size
            yield size
