"""Distil a language model: the best automaton of every size within a budget."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pdfalearn.budgets import Budget
from pdfalearn.checks import checked_integer
from pdfalearn.displays import Wanted, show_progress
from pdfalearn.distilling._run import Run
from pdfalearn.distilling.sampling import checked_budget, checked_sampler
from pdfalearn.distilling.sizes import checked_sizes
from pdfalearn.equivalence.relations import Tolerance
from pdfalearn.models.automaton import as_model
from pdfalearn.models.opened import Interrupts
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results.frontiers import DistillingInterrupted, DistillingProgress, Frontier
from pdfalearn.samplers.drawing import Sampler
from pdfalearn.stores.answer_store import model_key

_SAME = Tolerance(1e-3)
"""Answers to the same word that differ by more are not those of one model."""


def distill(
    model: PDFA | LanguageModel,
    *,
    budget: Budget,
    words: Sampler | None = None,
    sizes: Iterable[int] | None = None,
    seed: int = 0,
    store: str | os.PathLike[str] | None = None,
    model_id: str | None = None,
    progress: Wanted[DistillingProgress] = None,
    audit: int = 16,
) -> Frontier:
    """Find the best automaton of every size within a budget of questions.

    Words are drawn from the model, and its answers after all their prefixes are the evidence: an
    automaton is good if its rows are near these answers. Automata of all sizes are searched for;
    a part of the budget is spent on transitions that automata take and words hardly ever do; and
    one word in four is held out to tell how far each automaton is from the model.

    Parameters
    ----------
    model : PDFA or LanguageModel
        What to distil: a network, a function, an automaton.
    budget : Budget
        Bounds on everything that is asked: symbols, words, cost or seconds. A distribution after a
        word costs one symbol where the word before it is known. Where seconds are bounded, half of
        them are for asking.
    words : Sampler, optional
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
        True shows a line that is renewed, in a terminal or in a cell of a notebook; elsewhere, and
        for "log", a line is written to the standard error every ten seconds. A function is called
        with a `DistillingProgress` after every batch of questions and every automaton.
    audit : int
        In the end this many words are asked again, if the budget allows it, to catch a model that
        does not always give the same answer.

    Returns
    -------
    Frontier
        The automata with their divergences, and a certificate that says how they were measured.

    Raises
    ------
    ModelError
        If an answer of the model fails a check; the message names the word.
    DistillingInterrupted
        On Ctrl-C: a `KeyboardInterrupt` with the frontier so far.

    Examples
    --------
    >>> from pdfalearn import figure_3
    >>> frontier = distill(figure_3(), budget=Budget(max_symbols=2000), seed=1)
    >>> frontier.knee, len(frontier.best), len(frontier.at_most(2))
    (4, 4, 2)
    """
    asked = as_model(model)
    seed, audit = checked_integer(seed, "seed", 0), checked_integer(audit, "audit", 0)
    wanted = checked_sizes(sizes)
    sampler = checked_sampler(words, checked_budget(budget, asked.cost), asked.cost)
    key = None if store is None else model_key(asked, model_id)
    shown = show_progress(progress, "distilling", max_symbols=budget.max_symbols)
    run: Run | None = None
    try:
        with shown as report, Interrupts() as interrupts:
            observations = ObservationTree(asked, _SAME, budget, interrupts)
            run = Run(observations, sampler, wanted, seed, report, interrupts)
            frontier = run.finished(store, key, audit)
        interrupts.check()
        return frontier
    except KeyboardInterrupt as interrupt:
        raise DistillingInterrupted(None if run is None else run.salvaged()) from interrupt
