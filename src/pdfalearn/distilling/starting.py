"""Distil a language model or words: the best automaton of every size."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeGuard

import numpy as np

from pdfalearn.budgets import Budget
from pdfalearn.checks import check_integer, check_number, check_share
from pdfalearn.corpora import Corpus, CorpusLike, RecordedWords, as_corpus
from pdfalearn.displays import DistillingLine, Wanted, show_progress
from pdfalearn.distilling.from_words import FEWEST, WordsRun, distill_words
from pdfalearn.distilling.loop import Run
from pdfalearn.distilling.noise import SAME
from pdfalearn.distilling.sampling import Sampling, check_budget, check_sampler
from pdfalearn.distilling.settings import DEFAULTS, SearchSettings, WordSettings
from pdfalearn.equivalence import Tolerance
from pdfalearn.errors import InputError
from pdfalearn.models import LanguageModel, as_model, run_long
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results import DistillingInterrupted, DistillingProgress, Frontier
from pdfalearn.sampled import Draw, Drawer, Samples
from pdfalearn.samplers import SamplerLike
from pdfalearn.stores import model_key
from pdfalearn.words import Words, offsets_of

# One word in this many is held out.
_HELD_OUT = 10


def distill(
    source: PDFA | LanguageModel | Samples | CorpusLike,
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
    settings: SearchSettings = DEFAULTS,
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
    source : PDFA, LanguageModel, Samples, Corpus, or iterable of words
        What to distil: a network, a function, an automaton; or recorded words, in which case
        ``budget``, ``sampler``, ``store``, ``model_id`` and ``audit`` have no meaning. A list of
        strings is words of characters. Of `Samples`, as many words are drawn as
        ``budget=Budget(max_words=…)`` says, and they are distilled as if recorded.
    budget : Budget, optional
        Needed for a model. Bounds on everything that is asked: symbols, words, cost or seconds. A
        distribution after a word costs one symbol where the word before it is known. Where seconds
        are bounded, half of them are for asking.
    sampler : Sampler or Corpus, optional
        What draws the words; `ModelWords` if not given. With others, such as a `Corpus`, divergence
        is under their distribution, and the certificate names it.
    sizes : iterable of int, optional
        How many states automata may have; if not given, all up to 32, then each a fifth larger than
        the one before, and above 1,800 states about 1.4 times as large.
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
        Rows of recorded words are drawn to other rows, and these have at least this share of
        everything, so that what was never seen in its place is unlikely, and not impossible. With
        0 it is. A larger share is taken where held-out words lose much less, as with many symbols.
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
    (9, 1.51)
    """
    seed, audit = check_integer(seed, "seed", 0), check_integer(audit, "audit", 0)
    wanted = None if sizes is None else check_sizes(sizes)
    if isinstance(source, Samples) or _are_words(source):
        words = WordSettings(
            sizes=wanted,
            seed=seed,
            held_out=check_share(held_out, "held_out"),
            unseen=check_number(unseen, "unseen", 0.0, 1.0),
            settings=settings,
            progress=progress,
        )
        if isinstance(source, Samples):
            return _distill_samples(source, words, budget, store)
        for name, given in (("budget", budget), ("sampler", sampler), ("store", store)):
            if given is not None:
                raise InputError(f"{name} is for models, which are asked; leave it out for words")
        return distill_words(as_corpus(source), words)
    if isinstance(source, str | os.PathLike):
        raise InputError(
            f"{os.fspath(source)!r} is a name: Corpus(name) reads words, load(name) an automaton"
        )
    asked = as_model(source)  # type: ignore[arg-type]
    budget = check_budget(budget, asked.cost)
    sampler = check_sampler(sampler, budget, asked.cost)
    key = None if store is None else model_key(asked, model_id)
    shown = (
        None
        if progress is None
        else show_progress(progress, DistillingLine, max_symbols=budget.max_symbols)
    )
    with run_long(shown, DistillingInterrupted) as interrupts:
        observations = ObservationTree(asked, Tolerance(SAME), budget, interrupts)
        sampling = Sampling(observations, sampler, seed, _HELD_OUT)
        run = Run(sampling, wanted, settings, interrupts.progress, interrupts)
        interrupts.salvage = run.salvage
        return run.finish(store, key, audit)


def _distill_samples(
    samples: Samples,
    given: WordSettings,
    budget: Budget | None,
    store: str | os.PathLike[str] | None,
) -> Frontier:
    """Find the best automaton of every size from words that are drawn; see `distill`."""
    if budget is None or budget.max_words is None or budget != Budget(max_words=budget.max_words):
        raise InputError(
            "samples are distilled with budget=Budget(max_words=…): the words to draw, and no "
            "other bound"
        )
    drawn: list[Draw] = []

    def make_run() -> WordsRun:
        # What was drawn after other prefixes says nothing of how likely these are.
        lengths = np.concatenate([one.words.lengths for one in drawn])
        symbols = np.concatenate([one.words.symbols for one in drawn])
        is_cut = np.concatenate([one.is_cut for one in drawn])
        recorded = RecordedWords(Words(symbols, offsets_of(lengths)), is_cut)
        return WordsRun("samples", samples.alphabet, recorded, given, interrupts)

    with given.run_long() as interrupts:
        interrupts.salvage = lambda: make_run().salvage() if _count(drawn) >= FEWEST else None
        with Drawer.opened(samples, interrupts, store) as drawer:
            drawn += (one for one in drawer.kept if not one.prefix)
            for one in drawer.draw((), max(0, budget.max_words - _count(drawn))):
                drawn.append(one)
        run = make_run()
        interrupts.salvage = run.salvage
        return run.finish()


def _count(drawn: list[Draw]) -> int:
    return sum(len(one.words) for one in drawn)


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
