"""Re-estimate an automaton on a model's answers, or on words."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.alphabet import shorten
from pdfalearn.budgets import Budget
from pdfalearn.checks import check_integer
from pdfalearn.corpora import (
    Corpus,
    CorpusLike,
    Others,
    PrefixTree,
    Scheduler,
    StepCounts,
    as_corpus,
    count_steps,
    cut_at_unknown,
)
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import PRIOR_WEIGHT, Machine, fit_rows, make_pdfa, take_states
from pdfalearn.distilling.prefixes import polish
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
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import prefixes_of, visited_states

_BUDGET = Budget(max_symbols=20_000)
# Tables of at most this many columns are dense.
_NARROW = 64


def refit(
    pdfa: PDFA,
    source: PDFA | LanguageModel | StepCounts | CorpusLike,
    *,
    transitions: bool = False,
    budget: Budget = _BUDGET,
    sampler: SamplerLike | None = None,
    seed: int = 0,
    processes: int = 1,
    scheduler: Scheduler | None = None,
) -> PDFA:
    """Re-estimate the rows of an automaton, and its transitions if wanted; its states stay.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    source : PDFA, LanguageModel, Corpus or what it is made of, or StepCounts
        From a model, each row becomes the mean of the model's answers over the words that reach its
        state. From words alone, it becomes the mean of what follows there. Either is drawn a little
        to the row that was there before, as if one word had shown it. A word is cut at an event
        that the automaton does not have; `corpora.count_steps` counts these.
    transitions : bool
        Whether transitions may be moved where that predicts the source better.
    budget : Budget
        How much may be asked of a model; 20,000 symbols if not given.
    sampler : Sampler or Corpus, optional
        What draws words from a model; `ModelWords` if not given.
    seed : int
        Seed of the words.
    processes, scheduler
        Who reads a corpus, as for `score`. It is read in bounded memory, unless transitions move.

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
    elif isinstance(source, StepCounts) or not transitions:
        if transitions:
            raise InputError("counts do not show where transitions could lead; give the words")
        if not isinstance(source, StepCounts):
            source = count_steps(pdfa, source, processes=processes, scheduler=scheduler)
        return _fit_counts(pdfa, source)
    else:
        evidence = _count_evidence(pdfa, as_corpus(source))
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
    rows = pdfa.probabilities
    machine = take_states(Machine(pdfa.transitions, rows, rows), _order_states(pdfa))
    if complete:
        machine = machine._replace(transitions=np.maximum(machine.transitions, 0))
    return machine


def _order_states(pdfa: PDFA) -> Integers:
    """Return the states, the initial one first."""
    return np.concatenate(([pdfa.initial], np.delete(np.arange(len(pdfa)), pdfa.initial)))


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


def _fit_counts(pdfa: PDFA, counts: StepCounts) -> PDFA:
    """Make every row the mean of what follows in its state, drawn to the row before."""
    if counts.table.shape != pdfa.probabilities.shape:
        raise InputError("these counts are of another automaton; count the steps of this one")
    if counts.unknown and not counts.symbols:
        raise InputError(
            "the automaton has no event of these words, such as "
            f"{counts.unknown_events[0][0]!r}; check the format and the columns"
        )
    machine, order = _make_machine(pdfa, complete=False), _order_states(pdfa)
    rows = counts.table[order] + PRIOR_WEIGHT * machine.priors
    rows /= rows.sum(axis=1, keepdims=True)
    transitions = np.where(rows[:, 1:] > 0, machine.transitions, -1)
    return PDFA(alphabet=pdfa.alphabet, transitions=transitions, probabilities=rows)


def _count_evidence(pdfa: PDFA, corpus: Corpus) -> Evidence:
    """Take what follows the prefixes of words as the answers."""
    read = corpus.encode_with_cuts(pdfa.alphabet, Others())
    words, is_cut = cut_at_unknown(read, len(pdfa.alphabet))
    ends = visited_states(pdfa.table, pdfa.initial, words)[words.ends]
    if (ends < 0).any():
        word = shorten(pdfa.alphabet.decode(words[int((ends < 0).argmax())]))
        raise InputError(f"the word {word} is undefined in the automaton; leave it out")
    # What follows the last symbol of a cut word is not known: the tree ends before it.
    shown = np.flatnonzero(~is_cut | (words.lengths > 0))
    if not len(shown):
        raise InputError("all words were cut before their first symbol, so that they show nothing")
    is_cut, last = is_cut[shown], words.offsets[1:][shown] - 1
    kept = prefixes_of(words, shown, words.lengths[shown] - is_cut)
    tree, nodes = PrefixTree.with_ends(kept, len(pdfa.alphabet))
    places = np.concatenate((tree.parents[1:], nodes))
    ending = np.zeros(len(nodes), dtype=np.int64)
    ending[is_cut] = words.symbols[last[is_cut]] + 1
    columns = np.concatenate((tree.symbols[1:] + 1, ending))
    counts = np.concatenate((tree.passes[1:], np.ones(len(nodes))))
    shape = (len(tree), len(pdfa.alphabet) + 1)
    table = csr_array((counts, (places, columns)), shape=shape)
    table.sum_duplicates()
    weights: Floats = np.asarray(table.sum(axis=1)).reshape(-1)
    table.data /= np.repeat(weights, np.diff(table.indptr))
    answers = table.toarray() if shape[1] <= _NARROW else table
    return Evidence(tree.parents, tree.symbols, weights, answers)
