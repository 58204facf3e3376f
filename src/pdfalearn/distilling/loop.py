"""Distil a language model or words: the best automaton of every size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import TypeGuard

import numpy as np

from pdfalearn.budgets import Budget
from pdfalearn.checks import check_integer, check_number, check_share
from pdfalearn.corpora import Corpus, CorpusLike, as_corpus
from pdfalearn.displays import DistillingLine, Wanted, show_progress
from pdfalearn.distilling.candidates import Chooser, refit_rows
from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.estimates import HeldOut, Measurement, make_frontier, rare_loss
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.from_words import distill_words
from pdfalearn.distilling.machines import Fit, Machine, fit_rows, make_pdfa, widen
from pdfalearn.distilling.noise import SAME, answers_differ, ask_held_out_again
from pdfalearn.distilling.polishing import polish
from pdfalearn.distilling.questions import ask_blind_spots
from pdfalearn.distilling.sampling import (
    Sampling,
    check_budget,
    check_sampler,
    take_first_words,
)
from pdfalearn.distilling.searching import SearchSettings, default_sizes, search
from pdfalearn.equivalence import Tolerance
from pdfalearn.errors import InputError, StoreError
from pdfalearn.models import Interrupts, LanguageModel, as_model, error_text
from pdfalearn.observations import ObservationTree, UnsteadyModelError
from pdfalearn.pdfa import PDFA
from pdfalearn.results import DistillingInterrupted, DistillingProgress, Frontier, Phase
from pdfalearn.samplers import ModelWords, SamplerLike
from pdfalearn.stores import AnswerStore, model_key
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
# What there is still time for after a Ctrl-C: sizes, and answers to search with.
_QUICK, _QUICK_STRUCTURE = (64, 16, 4, 1), 2**12
# Automata with more transitions than this are reported without their held-out divergence.
_REPORTED = 2**22
_SETTINGS = SearchSettings()
# One word in this many is held out.
_HELD_OUT = 10


def distill(
    source: PDFA | LanguageModel | CorpusLike,
    *,
    budget: Budget | None = None,
    sampler: SamplerLike | None = None,
    sizes: Iterable[int] | None = None,
    seed: int = 0,
    store: str | os.PathLike[str] | None = None,
    model_id: str | None = None,
    progress: Wanted[DistillingProgress] = None,
    audit: int = 16,
    held_out: float = 0.1,
    unseen: float = 0.02,
    settings: SearchSettings = _SETTINGS,
) -> Frontier:
    """Find the best automaton of every size, from a model within a budget, or from words.

    Words are drawn from a model, and its answers after all their prefixes are the evidence: an
    automaton is good if its rows are near these answers. Automata of all sizes are searched for;
    a part of the budget is spent on transitions that automata take and words hardly ever do; and
    one word in ten is held out to tell how far each automaton is from the model.

    Of recorded words, what follows each prefix is counted. The size, and how much rows are
    smoothed, are chosen on words that are held out; rows are fitted to all words in the end.

    Parameters
    ----------
    source : PDFA, LanguageModel, Corpus, or iterable of words
        What to distil: a network, a function, an automaton; or recorded words, in which case
        ``budget``, ``sampler``, ``store``, ``model_id`` and ``audit`` have no meaning. A list of
        strings is words of characters.
    budget : Budget, optional
        Needed for a model. Bounds on everything that is asked: symbols, words, cost or seconds. A
        distribution after a word costs one symbol where the word before it is known. Where seconds
        are bounded, half of them are for asking.
    sampler : Sampler or Corpus, optional
        What draws the words; `ModelWords` if not given. With others, such as a `Corpus`, divergence
        is under their distribution, and the certificate names it.
    sizes : iterable of int, optional
        How many states automata may have; all up to 32, then each a fifth larger than the one
        before, if not given.
    seed : int
        Seed of all random choices: same seed, same frontier.
    store : path, optional
        A file that keeps answers. New answers are written to it, and answers that it has are not
        asked again: a run that was killed goes on where it stopped, and finds the same frontier.
    model_id : str, optional
        The name under which the store keeps the answers; needed for a model without fingerprint.
    progress : bool, "log" or callable, optional
        True shows a line that is renewed, in a terminal or in a cell of a notebook; elsewhere it is
        written to the standard error every ten seconds. "log" logs it, to ``pdfalearn`` at the
        level INFO. A function is called with a `DistillingProgress` after every batch of questions
        and every automaton.
    audit : int
        In the end this many words are asked again, if the budget allows it, to catch a model that
        does not always give the same answer.
    held_out : float
        The share of recorded words that is held out, above 0 and below 1.
    unseen : float
        Rows of recorded words are drawn to other rows, and these have this share of everything, so
        that what was never seen in its place is unlikely, and not impossible. With 0 it is.
    settings : SearchSettings
        What the search for automata trades for time.

    Returns
    -------
    Frontier
        The automata with their divergences (from words, cross-entropies), and a certificate that
        says how they were measured.

    Raises
    ------
    ModelError
        If an answer of the model fails a check; the message names the word.
    DistillingInterrupted
        On Ctrl-C: a `KeyboardInterrupt` with the frontier so far.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> frontier = distill(figure_3(), budget=Budget(max_symbols=2000), seed=1)
    >>> frontier.knee, len(frontier.best), len(frontier.at_most(2))
    (4, 4, 2)
    >>> frontier = distill(["ab" * (n % 5) for n in range(500)], seed=1)
    >>> len(frontier.best), round(frontier.point(5).perplexity, 2)
    (7, 1.51)
    """
    seed, audit = check_integer(seed, "seed", 0), check_integer(audit, "audit", 0)
    wanted = None if sizes is None else check_sizes(sizes)
    if _are_words(source):
        for name, given in (("budget", budget), ("sampler", sampler), ("store", store)):
            if given is not None:
                raise InputError(f"{name} is for models, which are asked; leave it out for words")
        return distill_words(
            as_corpus(source),
            sizes=wanted,
            seed=seed,
            held_out=check_share(held_out, "held_out"),
            unseen=check_number(unseen, "unseen", 0.0, 1.0),
            settings=settings,
            progress=progress,
        )
    if isinstance(source, str | os.PathLike):
        raise InputError(
            f"{os.fspath(source)!r} is a name: Corpus(name) reads words, load(name) an automaton"
        )
    asked = as_model(source)  # type: ignore[arg-type]
    budget = check_budget(budget, asked.cost)
    sampler = check_sampler(sampler, budget, asked.cost)
    key = None if store is None else model_key(asked, model_id)
    shown = (
        nullcontext()
        if progress is None
        else show_progress(progress, DistillingLine, max_symbols=budget.max_symbols)
    )
    run: Run | None = None
    try:
        with shown as report, Interrupts() as interrupts:
            observations = ObservationTree(asked, Tolerance(SAME), budget, interrupts)
            sampling = Sampling(observations, sampler, seed, _HELD_OUT)
            run = Run(sampling, wanted, settings, report, interrupts)
            frontier = run.finish(store, key, audit)
        interrupts.check()
        return frontier
    except KeyboardInterrupt as interrupt:
        raise DistillingInterrupted(None if run is None else run.salvage()) from interrupt


def _are_words(source: object) -> TypeGuard[CorpusLike]:
    """Return whether a source is recorded words; a name of a file might as well be a model's."""
    if isinstance(source, PDFA | LanguageModel | str | os.PathLike) or callable(source):
        return False
    return isinstance(source, Corpus | Iterable) or hasattr(source, "itertuples")


def check_sizes(sizes: object) -> list[int]:
    """Return sizes as sorted integers; refuse anything else."""
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise InputError(f"sizes is {sizes!r}, not a list of integers such as [4, 16, 64]")
    given = [check_integer(size, "a size", 1) for size in np.asarray(list(sizes), dtype=object)]
    if not given:
        raise InputError("sizes is empty; give at least one number of states")
    return sorted(set(given))


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
        self._settings = settings
        self._sizes, self._progress, self._interrupts = sizes, progress, interrupts
        # By their sizes automata, and the symbols that they are over.
        self._machines: dict[int, tuple[Machine, Integers]] = {}
        self._phase: Phase = "words"
        self._notes: list[str] = []
        self._is_noisy = False
        self._frontier: Frontier | None = None
        if progress is not None:
            self._observations.asker.on_batch = self._report

    def finish(self, store: str | os.PathLike[str] | None, key: str | None, audit: int) -> Frontier:
        """Distil to the end, with a store if there is one; the model is closed in every case."""
        try:
            with ExitStack() as stack:
                if store is not None and key is not None:
                    kept = stack.enter_context(AnswerStore(store))
                    self._observations.record(kept, key, audit)
                self._sampling.draw_until(_WORDS)
                if not len(self._sampling.training.nodes) or self._sampling.held_out.word_count < 2:
                    raise InputError(self._explain_few_words())
                self._is_noisy = audit > 0 and answers_differ(self._sampling)
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
                self._machines = {size: (fit.machine, evidence.codes) for size, fit in found}
            self._frontier = self._measure(is_interrupted=True)
        return replace(self._frontier, notes=tuple(self._notes))

    def _scale(self, share: float) -> float:
        """Return a share of the budget, less where held-out words have to be asked again."""
        return _NOISY * share if self._is_noisy else share

    def _explain_few_words(self) -> str:
        sampling, sampler = self._sampling, self._sampling.sampler
        count = sampling.held_out.word_count
        if count >= 2:
            return "words without symbols show nothing; give a sampler of longer words"
        if sampling.words:
            length = len(sampling.training.nodes) / sampling.words
        else:  # the first has not ended: the most it can be
            longest = sampler.max_length if isinstance(sampler, ModelWords) else 0
            length = max(longest, sampling.answered)
        return (
            f"the budget holds out {count} words, and needs at least two: with {length:.0f} "
            f"symbols a word it takes about {20 * (length + 1):.0f} symbols; a larger budget, or "
            "ModelWords of a smaller max_length"
        )

    def _ask(self) -> None:
        """Ask where automata of several sizes are blind."""
        for share in _QUESTIONS:
            self._phase = "automata"
            self._report()
            evidence, nodes = self._sampling.make_evidence(_STRUCTURE)
            sizes = [size for size in _PROBED if size <= evidence.size // 4] or [1]
            fits = [fit for _, fit in search(evidence, sizes, cycles=False)]
            self._interrupts.check()
            self._phase = "questions"
            ask_blind_spots(fits[::-1], evidence, nodes, self._sampling, self._scale(share))

    def _search(self) -> None:
        """Find the automata, ask where they are blind, and polish them once more."""
        self._phase = "automata"
        self._report()
        evidence, _ = self._sampling.make_evidence(_STRUCTURE)
        if self._sizes is None:
            self._sizes = default_sizes(evidence.size, evidence.width)
        searched = [size for size in self._sizes if size <= self._settings.largest]
        if searched:
            self._keep(search(evidence, searched, settings=self._settings), evidence)
        evidence, nodes = self._sampling.make_evidence(_STRUCTURE)
        places = sorted(size for size in self._machines if size <= max(_PROBED))
        probed = [widen(*self._machines[size], evidence.codes) for size in places[::-_EVERY]]
        fits = [fit_rows(machine, evidence) for machine in probed]
        self._interrupts.check()
        self._phase = "questions"
        ask_blind_spots(fits[::-1], evidence, nodes, self._sampling, self._scale(_FINISHING))
        self._phase = "automata"
        evidence, _ = self._sampling.make_evidence(_STRUCTURE)
        machines = ((size, widen(*self._machines[size], evidence.codes)) for size in places)
        self._keep(((size, polish(machine, evidence)) for size, machine in machines), evidence)

    @cached_property
    def _held_out(self) -> HeldOut:
        """Words to report by, once all words are drawn."""
        words = take_first_words(self._sampling.held_out, _STRUCTURE)
        return HeldOut(words, self._observations)

    def _keep(self, found: Iterable[tuple[int, Fit]], evidence: Evidence) -> None:
        """Keep automata of some sizes, and report each."""
        for size, fit in found:
            self._machines[size] = fit.machine, evidence.codes
            if self._progress is not None:
                states, held_out = len(fit.machine.rows), None
                if states * len(self._observations.alphabet) <= _REPORTED:
                    pdfa = make_pdfa(fit, evidence, self._observations.alphabet)
                    held_out = self._held_out.measure(pdfa).divergence.mean
                self._report(states, fit.loss, held_out)
            self._interrupts.check()

    def _measure(self, *, is_interrupted: bool) -> Frontier:
        """Choose automata on held-out words, measure them, and give all answers to their rows."""
        self._phase = "measuring"
        self._report()
        sampling = self._sampling
        everything, _ = sampling.make_evidence(2**62, with_held_out=True)
        codes = everything.codes
        evidence, nodes = sampling.make_evidence(2**62, codes=codes)
        learnt = sampling.weigh_nodes(sampling.training)
        fresh = ask_held_out_again(sampling, learnt) if self._is_noisy else None
        if fresh is not None and fresh.positions.word_count < 2:
            fresh = None  # nothing is left to measure with
        held_out = HeldOut(
            sampling.held_out, self._observations, codes=codes, learnt=learnt, fresh=fresh
        )
        machines: dict[int, Machine | None] = {
            size: widen(*found, codes) for size, found in self._machines.items()
        }
        if not is_interrupted:
            machines = dict.fromkeys(self._sizes or []) | machines
        contexts = Contexts(evidence, max(machines))
        drawn = sampling.training.count_passes(self._observations)[nodes]
        found = []
        for _, choice in Chooser(evidence, held_out, contexts).choose(machines):
            fit = choice.candidate.fit
            refitted = refit_rows(choice.candidate, everything)
            pdfa = make_pdfa(refitted, everything, self._observations.alphabet)
            rare = rare_loss(fit, evidence, drawn)
            found.append(Measurement(pdfa, choice.sums, fit.loss, rare))
        return make_frontier(
            found, held_out, machines, sampling, fresh, is_interrupted=is_interrupted
        )

    def _report(
        self, states: int | None = None, loss: float | None = None, held_out: float | None = None
    ) -> None:
        """Report how far the run is, and the losses of an automaton if one was found."""
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
                    share=min(1.0, self._sampling.share),
                    states=states,
                    training_divergence=loss,
                    held_out_divergence=held_out,
                )
            )
        finally:
            self._interrupts.is_calling = False
