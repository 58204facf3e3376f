"""Evaluate a candidate against a target, on words or, of two PDFA, over all words at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
from scipy.special import xlogy

from pdfalearn.alphabet import shorten
from pdfalearn.arrays import IntMap
from pdfalearn.chains import Pairs, minus_logs
from pdfalearn.checks import check_integer, make_generator
from pdfalearn.corpora import CorpusLike, Others, as_corpus, cut_at_unknown
from pdfalearn.equivalence import Equivalence, Tolerance, over_union
from pdfalearn.errors import InputError
from pdfalearn.metrics.comparing import EXACT
from pdfalearn.metrics.distributions import average_figures, check_places, figures_of
from pdfalearn.models import AutomatonModel, LanguageModel, as_model
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import Evaluation
from pdfalearn.samplers import model_words
from pdfalearn.typing import Codes, Floats, Integers
from pdfalearn.words import Words, draw_words, visited_states

# At most this many prefixes of words are asked for at once.
_MOST_PREFIXES = 2**20
# At most this many prefixes are counted together.
_PART = 2**15


@contextmanager
def _open(model: PDFA | LanguageModel) -> Iterator[PDFA | ObservationTree]:
    """Return a PDFA as it is; for another model a tree that asks it and keeps answers."""
    if type(model) is AutomatonModel:  # a class of its own may answer otherwise
        model = model.pdfa
    if isinstance(model, PDFA):
        yield model
        return
    with closing(ObservationTree(model, EXACT)) as tree:
        yield tree


def _rows_of(source: PDFA | ObservationTree) -> Floats:
    """Return the different distributions that are known."""
    if isinstance(source, PDFA):
        return source.probabilities
    return source.answers.rows(np.arange(source.answers.size)).to_dense()


def _draw_words(
    source: PDFA | ObservationTree, count: int, max_length: int, random: np.random.Generator
) -> Words:
    """Draw words; those that do not end are cut at the length."""
    if isinstance(source, PDFA):
        table, rows = source.table, source.probabilities
        return draw_words(table, rows, source.initial, count, max_length, random)[0]
    return model_words(count, max_length, source, random)


def _numbers_along(source: PDFA | ObservationTree, words: Words) -> Codes:
    """Return the number of the distribution after every prefix of every word.

    Word ``i`` of length k has k + 1 entries, the first of them at ``offsets[i] + i``; -1 where the
    prefix is undefined. Numbers are places in `_rows_of`: of a PDFA those of states.
    """
    if isinstance(source, PDFA):
        return visited_states(source.table, source.initial, words)
    parts = [words.part(begin, end) for begin, end in words.parts(_MOST_PREFIXES)]
    nodes = np.concatenate([source.ask_path(part) for part in parts])
    is_defined = source.nodes.classes[nodes] >= 0
    return np.where(is_defined, source.nodes.rows[nodes], np.int32(-1))


def tally_pairs(
    words: Words, numbers: Codes, others: Codes
) -> tuple[Integers, Integers, Floats, Floats]:
    """Find the different pairs of distributions after all prefixes of words, by their numbers.

    Return the two numbers of each pair, -1 for undefined, and how often it came after a prefix, and
    after a whole word.
    """
    base, seen = int(others.max()) + 2, IntMap()
    codes_of: Integers = np.empty(0, dtype=np.int64)
    counts: Floats = np.zeros((2, 0))
    for begin, end, here in _parts_of(words):
        # A pair of numbers, each -1 at least, is one key.
        codes = (numbers[here].astype(np.int64) + 1) * base + others[here] + 1
        places = seen.get_or_add(codes)
        new = len(seen) - len(codes_of)
        codes_of = np.append(codes_of, np.empty(new, dtype=np.int64))
        codes_of[places] = codes
        ends = places[words.part(begin, end).ends]
        counts = np.pad(counts, ((0, 0), (0, new)))
        counts += [np.bincount(part, minlength=len(seen)) for part in (places, ends)]
    return codes_of // base - 1, codes_of % base - 1, counts[0], counts[1]


def sum_logs(words: Words, rows: Floats, numbers: Codes) -> Floats:
    """Return the logarithms of the probabilities of whole words; -inf where one is undefined."""
    logs = np.empty(len(words))
    for begin, end, here in _parts_of(words):
        part = words.part(begin, end)
        values = np.where(numbers[here] < 0, 0.0, rows[numbers[here], part.next_columns()])
        begins = part.offsets[:-1] + np.arange(len(part))
        logs[begin:end] = -np.add.reduceat(minus_logs(values), begins)
    return logs


def _parts_of(words: Words) -> Iterator[tuple[int, int, slice]]:
    """Return from which word to which parts are, and where the numbers of their prefixes stand."""
    for begin, end in words.parts(_PART):
        yield begin, end, slice(int(words.offsets[begin]) + begin, int(words.offsets[end]) + end)


def evaluate(
    target: PDFA | LanguageModel,
    candidate: PDFA | LanguageModel,
    words: CorpusLike | None = None,
    *,
    count: int = 1000,
    seed: int = 0,
    max_length: int = 1000,
    equivalence: Equivalence | Tolerance = EXACT,
    k: int | None = None,
) -> Evaluation:
    """Evaluate how well a candidate predicts a target, on given words or on the target's own.

    Parameters
    ----------
    target, candidate : PDFA or LanguageModel
        Models over the same symbols, in any order. The terminals may have different names.
    words : Corpus or what it is made of, optional
        The words to evaluate on; drawn from the target if not given. A word is cut at an event that
        the target does not have.
    count, seed, max_length : int
        If no words are given: how many to draw, the seed, and where longer ones are cut.
    equivalence : Equivalence or Tolerance
        When two distributions are the same, or similar.
    k : int, optional
        How many places count for NDCG; half the symbols, rounded up, if not given.

    Returns
    -------
    Evaluation
        Word error rate, NDCG@k, share of different distributions, distances and divergences, over
        all prefixes and over whole words; log-probability error and perplexities.

    Notes
    -----
    A word or a prefix that is undefined in both models agrees: its errors and distances are 0, its
    NDCG is 1. One that is undefined in one of them only has error 1, NDCG 0, L1 2 and an infinite
    divergence. The log-probability error of a word that has probability 0 in both is 0, and in one
    only infinite. A perplexity is infinite if a word has probability 0.

    Examples
    --------
    >>> from pdfalearn import Quantization, quotient
    >>> from pdfalearn.datasets import figure_3
    >>> target, coarse = figure_3(), quotient(figure_3(), equivalence=Quantization(1))
    >>> result = evaluate(target, coarse, ["", "0", "01"])
    >>> result.words, result.over_prefixes.word_error_rate, result.over_words.difference
    (3, 0.25, 0.6666666666666666)
    """
    target, candidate = as_model(target), as_model(candidate)
    codes = target.alphabet.positions_in(candidate.alphabet)
    places, cut = check_places(k, len(codes)), 0
    with _open(target) as asked:
        if words is None:
            most = check_integer(max_length, "max_length", 0)
            count = check_integer(count, "count", 1)
            batch = _draw_words(asked, count, most, make_generator(seed))
            cut = int((batch.lengths == most).sum())
        else:
            read = as_corpus(words).encode_with_cuts(target.alphabet, Others())
            batch, is_cut = cut_at_unknown(read, len(target.alphabet))
            cut = int(is_cut.sum())
        numbers = _numbers_along(asked, batch)
    with _open(candidate) as other:
        others = _numbers_along(other, Words(codes[batch.symbols], batch.offsets))
    rows, other_rows = _rows_of(asked), _rows_of(other)
    if (codes != np.arange(len(codes))).any():
        other_rows = other_rows.take([0, *codes + 1], axis=1)
    firsts, seconds, over_prefixes, over_words = tally_pairs(batch, numbers, others)
    figures = figures_of((rows, firsts), (other_rows, seconds), equivalence, places)
    logs, other_logs = sum_logs(batch, rows, numbers), sum_logs(batch, other_rows, others)
    # Two words of probability 0 agree: -inf minus -inf would be NaN.
    errors = np.abs(
        np.subtract(logs, other_logs, out=np.zeros_like(logs), where=logs != other_logs)
    )
    return Evaluation(
        words=len(batch),
        cut_words=cut,
        mean_length=float(batch.lengths.mean()),
        equivalence=equivalence,
        k=places,
        over_prefixes=average_figures(figures, over_prefixes),
        over_words=average_figures(figures, over_words),
        log_probability_error=float(errors.mean()),
        one_sided_words=float((np.isinf(logs) != np.isinf(other_logs)).mean()),
        target_perplexity=_perplexity(logs, len(numbers)),
        perplexity=_perplexity(other_logs, len(numbers)),
    )


def _perplexity(logs: Floats, symbols: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(-logs.sum() / symbols))


def evaluate_exactly(
    target: PDFA,
    candidate: PDFA,
    *,
    equivalence: Equivalence | Tolerance = EXACT,
    k: int | None = None,
) -> Evaluation:
    """Evaluate how well a PDFA predicts another, over all words with their probabilities.

    Parameters
    ----------
    target, candidate : PDFA
        Automata over the same symbols, in any order. Words drawn from the target must end with
        probability 1.
    equivalence : Equivalence or Tolerance
        When two distributions are the same, or similar.
    k : int, optional
        How many places count for NDCG; half the symbols, rounded up, if not given.

    Returns
    -------
    Evaluation
        What `evaluate` tends to on more and more words drawn from the target. Only the
        log-probability error is missing, as absolute values do not add up along a word; the mean of
        the signed difference is ``kl_of_words``.

    Notes
    -----
    Words drawn from the target visit pairs of states of the two automata. The expected numbers of
    visits v solve v = e + Pᵀv, where e is the initial pair and P are the target's probabilities.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = evaluate_exactly(figure_1(), figure_1(0.25))
    >>> result.mean_length, result.over_prefixes.l1, result.over_words.l1
    (2.0, 0.3333333333333333, 0.5)
    """
    target, candidate = check_pdfa(target, "target"), check_pdfa(candidate, "candidate")
    places = check_places(k, len(target.alphabet))
    target.alphabet.positions_in(candidate.alphabet)  # refuses other symbols
    target, candidate = over_union(target, candidate)
    pairs = Pairs.visited(target, candidate)
    flow = pairs.flow
    if flow.endless.any():
        word = shorten(target.alphabet.decode(pairs.word(int(flow.endless.argmax()))))
        raise InputError(
            f"after the word {word} the target never ends; draw words of a maximal length instead"
        )
    visits = flow.visits(flow.start)
    # Rows as they are in the automata: dividing them by their sums could change their classes.
    rows, others = target.probabilities, candidate.probabilities
    figures = figures_of((rows, pairs.lefts), (others, pairs.rights), equivalence, places)
    padded = np.concatenate((others, np.zeros((1, others.shape[1]))))  # undefined is impossible
    return Evaluation(
        words=None,
        cut_words=0,
        mean_length=float(visits.sum()) - 1,
        equivalence=equivalence,
        k=places,
        over_prefixes=average_figures(figures, visits),
        over_words=average_figures(figures, visits * pairs.endings()[0]),
        log_probability_error=None,
        one_sided_words=_impossible_share(pairs),
        target_perplexity=_mean_perplexity(pairs, rows, pairs.lefts, visits),
        perplexity=_mean_perplexity(pairs, padded, pairs.rights, visits),
    )


def _impossible_share(pairs: Pairs) -> float:
    """Return the probability that a word drawn from the target is impossible in the candidate."""
    shares, possible = pairs.first.rows, pairs.second.rows > 0
    lost = pairs.measure(lambda p, q: np.where(possible[q], 0.0, shares[p]).sum(axis=1))
    if not lost.any():
        return 0.0
    flow = pairs.flow.keep_edges(possible[pairs.rights[pairs.sources], pairs.symbols + 1])
    return float(flow.visits(flow.start) @ lost)


def _mean_perplexity(pairs: Pairs, rows: Floats, numbers: Integers, visits: Floats) -> float:
    """Return exp of the mean cross entropy of the rows that visited pairs have by their numbers."""
    shares, ones = pairs.first.rows, np.ones(rows.shape[1])
    crossed = pairs.measure(lambda p, q: xlogy(shares[p], rows[q]) @ ones, others=numbers)
    visited = visits > 0
    return float(np.exp(-(crossed[visited] @ visits[visited]) / visits.sum()))
