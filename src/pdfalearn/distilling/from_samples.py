"""Distil a model that tells only samples: words are drawn, and distilled as if recorded."""

from __future__ import annotations

import os

import numpy as np

from pdfalearn.budgets import Budget
from pdfalearn.corpora import RecordedWords
from pdfalearn.distilling.from_words import FEWEST, WordSettings, WordsRun
from pdfalearn.errors import InputError
from pdfalearn.results import Frontier
from pdfalearn.sampled import Draw, Drawer, Samples
from pdfalearn.words import Words, offsets_of


def distill_samples(
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
