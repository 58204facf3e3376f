"""Re-estimate an automaton on a model's answers, or on words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.alphabet import Word, shorten
from pdfalearn.budgets import Budget
from pdfalearn.checks import check_integer
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import Machine, fit_rows, make_pdfa, take_states
from pdfalearn.distilling.polishing import polish
from pdfalearn.distilling.sampling import (
    Sampling,
    check_budget,
    check_sampler,
    make_evidence,
)
from pdfalearn.equivalence import Exact
from pdfalearn.errors import InputError
from pdfalearn.models import LanguageModel, as_model
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.samplers import SamplerLike
from pdfalearn.words import visited_states

_BUDGET = Budget(max_symbols=20_000)
# Tables of at most this many columns are dense.
_NARROW = 64


def refit(
    pdfa: PDFA,
    source: PDFA | LanguageModel | Iterable[Word],
    *,
    transitions: bool = False,
    budget: Budget = _BUDGET,
    sampler: SamplerLike | None = None,
    seed: int = 0,
) -> PDFA:
    """Re-estimate the rows of an automaton, and its transitions if wanted; its states stay.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    source : PDFA, LanguageModel, or iterable of words
        From a model, each row becomes the mean of the model's answers over the words that reach its
        state. From words alone, it becomes the mean of what follows there. Either is drawn a little
        to the row that was there before, as if one word had shown it.
    transitions : bool
        Whether transitions may be moved where that predicts the source better.
    budget : Budget
        How much may be asked of a model; 20,000 symbols if not given.
    sampler : Sampler or Corpus, optional
        What draws words from a model; `ModelWords` if not given.
    seed : int
        Seed of the words.

    Returns
    -------
    PDFA
        With the same states, unless moved transitions leave some unreached.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> refit(figure_1(), ["a", "a", "aa"]).probabilities.round(3).tolist()
    [[0.0, 1.0], [0.7, 0.3]]
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    seed = check_integer(seed, "seed", 0)
    if is_model := isinstance(source, PDFA | LanguageModel):
        evidence = _ask_evidence(pdfa, source, budget, sampler, seed)
    else:
        evidence = _count_evidence(pdfa, source)
    fit = polish if transitions else fit_rows
    result = fit(_make_machine(pdfa, complete=transitions), evidence, within=is_model)
    lost = (result.machine.transitions < 0) & (result.machine.rows[:, 1:] > 0)
    if lost.any():
        symbol = pdfa.alphabet.symbols[int(lost.any(axis=0).argmax())]
        raise InputError(
            f"the model allows {symbol!r} where the automaton is undefined; give transitions=True"
        )
    return make_pdfa(result, evidence, pdfa.alphabet)


def _make_machine(pdfa: PDFA, *, complete: bool) -> Machine:
    """Return an automaton with its initial state first; without undefined transitions if asked."""
    order = np.concatenate(([pdfa.initial], np.delete(np.arange(len(pdfa)), pdfa.initial)))
    rows = pdfa.probabilities
    machine = take_states(Machine(pdfa.transitions, rows, rows), order)
    if complete:
        machine = machine._replace(transitions=np.maximum(machine.transitions, 0))
    return machine


def _ask_evidence(
    pdfa: PDFA, source: PDFA | LanguageModel, budget: Budget, sampler: SamplerLike | None, seed: int
) -> Evidence:
    model = as_model(source)
    if model.alphabet != pdfa.alphabet:
        raise InputError(
            f"the automaton is over {shorten(pdfa.alphabet.symbols)}, and the model over "
            f"{shorten(model.alphabet.symbols)}: give them the same symbols in the same order"
        )
    check_budget(budget, model.cost, "draw any words")
    sampler = check_sampler(sampler, budget, model.cost)
    with ObservationTree(model, Exact(), budget) as observations:
        sampling = Sampling(observations, sampler, seed, held_out=0)
        sampling.draw_until(1.0)
        if not len(sampling.training.nodes):
            raise InputError(
                "the budget ended before a word was drawn; give a larger budget, or ModelWords of "
                "a smaller max_length"
            )
        return make_evidence(observations, sampling.training.count_passes(observations))[0]


def _count_evidence(pdfa: PDFA, words: Iterable[Word]) -> Evidence:
    """Take what follows in words as the answers; only the empty prefix is shared by them."""
    batch = pdfa.alphabet.encode_words(words)
    if not len(batch):
        raise InputError("there are no words to fit the automaton to; give one or more")
    ends = visited_states(pdfa.table, pdfa.initial, batch)[batch.ends]
    if (ends < 0).any():
        codes = list(batch)[int((ends < 0).argmax())]
        word = shorten(pdfa.alphabet.decode(codes))
        raise InputError(f"the word {word} is undefined in the automaton; leave it out")
    count, width = len(batch.symbols) + 1, len(pdfa.alphabet) + 1
    is_first = np.zeros(count, dtype=bool)
    is_first[batch.offsets[:-1][batch.lengths > 0] + 1] = True
    parents = np.where(is_first, 0, np.maximum(np.arange(count) - 1, 0))
    symbols = np.concatenate(([0], batch.symbols)).astype(np.int64)
    # What follows: from the parent a symbol, and from the end of a word the terminal.
    ends = np.where(batch.lengths > 0, batch.offsets[1:], 0)
    nodes = np.concatenate((parents[1:], ends))
    columns = np.concatenate((symbols[1:] + 1, np.zeros(len(ends), dtype=np.int64)))
    table = csr_array((np.ones(len(nodes)), (nodes, columns)), shape=(count, width))
    weights = np.ones(count)
    weights[0] = len(batch)
    table.data /= np.repeat(weights, np.diff(table.indptr))
    answers = table.toarray() if width <= _NARROW else table
    return Evidence(parents, symbols, weights, answers)
