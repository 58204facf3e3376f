"""One run of distilling, from the first word to the frontier."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from pdfalearn.distilling._frontiers import frontier_of
from pdfalearn.distilling.estimates import HeldOut
from pdfalearn.distilling.evidence import Evidence, Floats, Numbers
from pdfalearn.distilling.gathering import evidence_of, first_words
from pdfalearn.distilling.machines import Fit, Machine, automaton, fitted, pruned, widened
from pdfalearn.distilling.polishing import polished
from pdfalearn.distilling.questions import ask_blind_spots
from pdfalearn.distilling.sampling import Sampling
from pdfalearn.distilling.searching import search
from pdfalearn.distilling.sizes import default_sizes
from pdfalearn.errors import InputError, StoreError
from pdfalearn.models.opened import Interrupts
from pdfalearn.observations.audits import UnsteadyModelError
from pdfalearn.observations.tree import Nodes, ObservationTree
from pdfalearn.results.frontiers import DistillingProgress, Frontier, Phase
from pdfalearn.samplers.drawing import ModelWords, Sampler
from pdfalearn.stores import AnswerStore

_WORDS = 0.6
"""The share of the budget that is spent on words."""
_QUESTIONS = (0.75, 0.9)
"""How much is spent after each round of questions about automata on the way."""
_FINISHING = 0.97
"""How much is spent after questions about the automata found; the rest is for the audit."""
_PROBED = (512, 256, 128, 64, 32, 16, 8)
"""The sizes of the automata whose blind spots are asked."""
_EVERY = 4
"""Of the automata that were found, one in this many is asked about."""
_STRUCTURE = 2**16
"""Automata are searched with at most about this many answers; their rows are means of all."""
_QUICK, _QUICK_STRUCTURE = (64, 16, 4, 1), 2**12
"""What there is still time for after a Ctrl-C: sizes, and answers to search with."""
_REPORTED = 2**22
"""Automata with more transitions than this are reported without their held-out divergence."""
_HELD_OUT = 4
"""One word in this many is held out."""


class Run:
    """One run of distilling.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    sampler : Sampler
        What draws the words.
    sizes : list of int or None
        The sizes that are wanted; None for the default ones.
    seed : int
        The seed.
    progress : callable, optional
        What to call with the progress.
    interrupts : Interrupts
        What holds back a Ctrl-C.
    """

    def __init__(
        self,
        observations: ObservationTree,
        sampler: Sampler,
        sizes: list[int] | None,
        seed: int,
        progress: Callable[[DistillingProgress], None] | None,
        interrupts: Interrupts,
    ) -> None:
        self._observations = observations
        self._sampler = sampler
        self._sizes = sizes
        self._seed = seed
        self._progress = progress
        self._interrupts = interrupts
        self._sampling = Sampling(observations, sampler, seed, _HELD_OUT)
        self._probes: Floats = np.zeros(0)
        """The weights of words that were asked because automata were blind there."""
        self._machines: dict[int, tuple[Machine, Numbers]] = {}
        """By their sizes automata, and the symbols that they are over."""
        self._held_out: HeldOut | None = None
        """Words to report by; there once all words are drawn."""
        self._phase: Phase = "words"
        self._notes: list[str] = []
        self._frontier: Frontier | None = None
        if progress is not None:
            observations.asker.on_batch = self._report

    def finished(
        self, store: str | os.PathLike[str] | None, key: str | None, audit: int
    ) -> Frontier:
        """Distil to the end, with a store if there is one; the session is closed in every case."""
        try:
            with self._recorded(store, key):
                self._draw(_WORDS)
                self._ask()
                self._search()
                self._finish()
                found = self._audit(audit)
                self._frontier = self._measured(is_interrupted=False)
                if found is not None:
                    certificate = found.certify(self._frontier.certificate)
                    self._frontier = replace(self._frontier, certificate=certificate)
        except (StoreError, OSError) as error:
            if self._frontier is None:
                raise
            self._notes.append(f"the store could not be closed: {error}")
        finally:
            self._close()
        return self._noted(self._frontier)

    def _audit(self, count: int) -> UnsteadyModelError | None:
        """Ask for words again; return what was found if the model answers differently."""
        try:
            self._observations.audits.audit(count, self._seed)
        except UnsteadyModelError as found:
            return found
        return None

    @contextmanager
    def _recorded(self, path: str | os.PathLike[str] | None, key: str | None) -> Iterator[None]:
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

    def _noted(self, frontier: Frontier) -> Frontier:
        return replace(frontier, notes=tuple(self._notes)) if self._notes else frontier

    def salvaged(self) -> Frontier | None:
        """Return what was found until an interrupt, if there are words to measure it with."""
        self._close()
        self._progress = None  # it may have raised the interrupt, and would do so again
        if self._frontier is not None:
            return self._noted(self._frontier)
        if self._sampling.held_out.word_count < 2:
            return None
        if not self._machines:
            evidence, _ = self._evidence(_QUICK_STRUCTURE)
            found = search(evidence, _QUICK, cycles=False)
            self._machines = {size: (fit.machine, evidence.codes) for size, fit in found}
        return self._noted(self._measured(is_interrupted=True))

    def _draw(self, share: float) -> None:
        """Draw words until a share of the budget is spent."""
        self._phase = "words"
        self._sampling.draw_until(share)
        held_out = self._sampling.held_out
        if held_out.word_count >= 2 and not len(self._sampling.training.nodes):
            raise InputError("words without symbols show nothing; give a sampler of longer words")
        if held_out.word_count < 2:
            length = self._word_length()
            raise InputError(
                f"the budget holds out {held_out.word_count} words, and needs at least two: with "
                f"{length:.0f} symbols a word it takes about {20 * (length + 1):.0f} symbols; a "
                "larger budget, or ModelWords of a smaller max_length"
            )

    def _word_length(self) -> float:
        """Return the mean length of words; before the first has ended, the most it can be."""
        sampling, sampler = self._sampling, self._sampler
        if sampling.words:
            return len(sampling.training.nodes) / sampling.words
        longest = sampler.max_length if isinstance(sampler, ModelWords) else 0
        return max(longest, sampling.spending.answered)

    def _ask(self) -> None:
        """Ask where automata of several sizes are blind; draw more words of what is left."""
        for share in _QUESTIONS:
            self._phase = "automata"
            self._report()
            evidence, nodes = self._evidence(_STRUCTURE)
            sizes = [size for size in _PROBED if size <= len(evidence) // 4] or [1]
            fits = [fit for _, fit in search(evidence, sizes, cycles=False)]
            self._ask_about(fits[::-1], evidence, nodes, share)
        self._draw(_QUESTIONS[-1])

    def _ask_about(
        self, fits: Sequence[Fit], evidence: Evidence, nodes: Nodes, share: float
    ) -> None:
        """Ask where automata are blind until a share of the budget is spent."""
        self._interrupts.check()
        self._phase = "questions"
        self._probes = ask_blind_spots(
            fits,
            evidence,
            nodes,
            self._probes,
            self._observations,
            self._sampling.spending,
            share,
        )

    def _finish(self) -> None:
        """Ask where the automata that were found are blind, and polish them once more."""
        evidence, nodes = self._evidence(_STRUCTURE)
        places = sorted(size for size in self._machines if size <= max(_PROBED))
        fits = [fitted(self._wide(size, evidence), evidence) for size in places[::-_EVERY]]
        self._ask_about(fits[::-1], evidence, nodes, _FINISHING)
        self._phase = "automata"
        evidence, _ = self._evidence(_STRUCTURE)
        for size in places:
            fit = polished(self._wide(size, evidence), evidence)
            self._machines[size] = fit.machine, evidence.codes
            self._report_fit(fit, evidence)
            self._interrupts.check()

    def _evidence(self, most: int) -> tuple[Evidence, Nodes]:
        """Return what is known from at most about this many answers."""
        training = first_words(self._sampling.training, most)
        weights = np.bincount(training.nodes, minlength=self._observations.nodes.size).astype(float)
        weights[: len(self._probes)] = np.maximum(weights[: len(self._probes)], self._probes)
        return evidence_of(self._observations, weights, only_listed=True)

    def _wide(self, size: int, evidence: Evidence) -> Machine:
        """Return an automaton over the symbols of some evidence."""
        machine, codes = self._machines[size]
        return widened(machine, codes, evidence.codes)

    def _search(self) -> None:
        """Find the automata, and give them the rows of all answers."""
        self._phase = "automata"
        self._report()
        evidence, _ = self._evidence(_STRUCTURE)
        if self._sizes is None:
            self._sizes = default_sizes(len(evidence), evidence.width)
        for size, fit in search(evidence, self._sizes):
            self._machines[size] = fit.machine, evidence.codes
            self._report_fit(fit, evidence)
            self._interrupts.check()

    def _measured(self, *, is_interrupted: bool) -> Frontier:
        self._phase = "measuring"
        self._report()
        evidence, nodes = self._evidence(2**62)
        drawn = self._sampling.weights()[nodes]
        fits = {
            size: pruned(fitted(self._wide(size, evidence), evidence), evidence)
            for size in self._machines
        }
        return frontier_of(
            fits,
            evidence,
            drawn,
            self._sampling,
            self._sampler,
            self._observations,
            seed=self._seed,
            is_interrupted=is_interrupted,
        )

    def _report_fit(self, fit: Fit, evidence: Evidence) -> None:
        """Report an automaton and its loss on the held-out words."""
        if self._progress is not None:
            self._report(len(fit.machine), fit.loss, self._held_out_loss(fit, evidence))

    def _held_out_loss(self, fit: Fit, evidence: Evidence) -> float | None:
        """Return an automaton's divergence on held-out words; None for a very large automaton."""
        alphabet = self._observations.alphabet
        if len(fit.machine) * len(alphabet) > _REPORTED:
            return None
        if self._held_out is None:
            words = first_words(self._sampling.held_out, _STRUCTURE)
            self._held_out = HeldOut(words, self._observations)
        return self._held_out.divergence(automaton(fit, evidence, alphabet))

    def _report(
        self,
        states: int | None = None,
        training: float | None = None,
        held_out: float | None = None,
    ) -> None:
        if self._progress is None:
            return
        self._interrupts.check()
        self._interrupts.is_calling = True
        try:
            self._progress(
                DistillingProgress(
                    phase=self._phase,
                    words=self._sampling.words,
                    symbols=self._observations.counts.symbols,
                    cost=self._observations.meter.spent,
                    share=min(1.0, self._sampling.spending.share),
                    states=states,
                    training_divergence=training,
                    held_out_divergence=held_out,
                )
            )
        finally:
            self._interrupts.is_calling = False
