"""Words and languages of an automaton: how likely they are, and which words are likeliest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import exp, inf

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.arrays import reaching
from pdfalearn.chains import (
    Flow,
    PairWalk,
    WordGraph,
    ending_probabilities,
    heaviest_words,
    least_costs,
    minus_logs,
    normalise_rows,
    walk_pairs,
)
from pdfalearn.checks import check_fits, check_integer
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA, HasLength, LanguageLike, intersection, language_dfa
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.reachability import reachable_part
from pdfalearn.text import are_characters, described, short_word_text
from pdfalearn.typing import Flags, Floats

# Rows are added up in parts of this many pairs.
_PART = 2**14


@dataclass(frozen=True, eq=False)
class Product:
    """The pairs of a PDFA's and a DFA's states that words reach and that can still be accepted.

    Pair 0 is the initial one, and others follow breadth first. Transitions stand in the order of
    their sources. Where the DFA has no transition the word is lost, and there is no pair.
    """

    pdfa: PDFA
    dfa: DFA
    """The language over the PDFA's alphabet, as `language_dfa` returns it."""
    walk: PairWalk
    """``lefts`` are states of the PDFA, ``rights`` those of the DFA."""

    @classmethod
    def of(cls, pdfa: PDFA, dfa: DFA, *, followed: Flags | None = None) -> Product:
        """Walk through the pairs of states, along symbols of a positive probability or those given.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> from pdfalearn.languages import language_dfa
        >>> pdfa = figure_1()
        >>> len(Product.of(pdfa, language_dfa(["a", "aa"], pdfa.alphabet)))
        3
        """
        if followed is None:
            followed = pdfa.probabilities[:, 1:] > 0
        ways = dfa.table >= 0
        walk = walk_pairs(
            pdfa,
            dfa,
            lambda states, places: followed[states] & ways[places],
            remedy="ask about a language of fewer states",
        )
        return cls(pdfa, dfa, walk)

    def __len__(self) -> int:
        return len(self.walk.lefts)

    @cached_property
    def weights(self) -> Floats:
        """The probability of every transition; the PDFA's rows are divided by their sums."""
        return np.asarray(self._rows[self.walk.lefts[self.walk.sources], self.walk.symbols + 1])

    @cached_property
    def accepting(self) -> Flags:
        """Whether a word that ends in a pair is in the language."""
        return np.asarray(self.dfa.accepting[self.walk.rights])

    @cached_property
    def endings(self) -> Floats:
        """The probability that a word ends in a pair at once, in the language or not."""
        return np.asarray(self._rows[self.walk.lefts, 0])

    @cached_property
    def successes(self) -> Floats:
        """The probability that a word ends in a pair at once and is in the language."""
        return np.where(self.accepting, self.endings, 0.0)

    def sum_lost(self, table: Floats) -> Floats:
        """Add up what rows give to symbols that lead out of the language for good, by pair."""
        lost, ways = np.zeros(len(self)), self.dfa.table >= 0
        if not ways[:-1].all():
            for begin in range(0, len(self), _PART):
                part = slice(begin, begin + _PART)
                rows = table[self.walk.lefts[part], 1:]
                lost[part] = np.where(ways[self.walk.rights[part]], 0.0, rows).sum(axis=1)
        return lost

    @cached_property
    def flow(self) -> Flow:
        """The flow between the pairs; words leave when they end, or are lost."""
        leaving = self.endings + self.sum_lost(self._rows)
        return Flow(self.walk.sources, self.walk.successors, self.weights, leaving)

    @cached_property
    def _rows(self) -> Floats:
        return normalise_rows(self.pdfa.probabilities)


# Probabilities above this one have all their digits.
_SMALL = 1e-280


def probability(pdfa: PDFA, language: LanguageLike, given: LanguageLike | None = None) -> float:
    """Compute the probability that a word drawn from an automaton is in a language.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.
    language : str, DFA, Language, or iterable of words
        A regular expression that whole words match, an automaton, a description such as
        ``BeginsWith("ab")``, or the words themselves.
    given : str, DFA, Language, or iterable of words, optional
        A condition: only words that are in this language count.

    Raises
    ------
    InputError
        If the condition has probability 0, or if something is wrong with a language.

    Notes
    -----
    Words that never end are in no language; ``probability(pdfa, HasLength())`` is the share of
    those that do.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.languages.kinds import HasLength
    >>> probability(figure_1(), HasLength(most=2))
    0.75
    >>> probability(figure_1(), ["a"], given=HasLength(most=2))
    0.6666666666666666
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    dfa = language_dfa(language, pdfa.alphabet)
    if given is None:
        return _plain(pdfa, dfa)
    condition = language_dfa(given, pdfa.alphabet)
    whole = check_successes(pdfa, condition, given)
    both = intersection(dfa, condition)
    part = None if both is None else Successes.of(Product.of(pdfa, both))
    if part is None or part.log == -inf:
        return 0.0
    return min(1.0, exp(part.log - whole.log))


def _plain(pdfa: PDFA, dfa: DFA) -> float:
    """Walk only while it is open whether a word is in the language; then it only has to end."""
    sources, symbols = (dfa.transitions >= 0).nonzero()
    open_states = ~dfa.accepting | (dfa.transitions < 0).any(axis=1)
    settled = ~reaching(sources, dfa.transitions[sources, symbols], open_states)
    table, ends = np.where(settled[:, None], -1, dfa.transitions), dfa.accepting
    cut = DFA(alphabet=dfa.alphabet, transitions=table, accepting=ends, initial=dfa.initial)
    product = Product.of(pdfa, cut)
    flow, walk = product.flow, product.walk
    ending = flow.leaving * ending_probabilities(pdfa)[walk.lefts]
    gains = np.where(settled[walk.rights], ending, product.successes)
    return min(1.0, float(flow.values(gains)[0]))


@dataclass(frozen=True, eq=False)
class Successes:
    """The probability to end in the language from each pair of a product on, beyond underflow.

    It is ``factors`` · exp(-``costs``). Costs are 0, or where that would be too small those of the
    likeliest completions; the factors are how many times as likely all completions are.
    """

    product: Product
    costs: Floats
    """Infinite where there is no completion."""
    factors: Floats

    @classmethod
    def of(cls, product: Product) -> Successes:
        """Solve for the probabilities; only where some are too small, for multiples of them."""
        walk = product.walk
        useful = reaching(walk.sources, walk.successors, product.successes > 0)
        values = product.flow.values(product.successes)
        # Below this, values are too near to underflow: they are found relative to the likeliest.
        if (values[useful] > _SMALL).all():
            return cls(product, np.where(useful, 0.0, inf), values)
        steps, ends = minus_logs(product.weights), minus_logs(product.successes)
        costs = least_costs(walk.sources, walk.successors, steps, ends)
        flow, gains = product.flow.restrict_to(useful), np.exp(costs[useful] - ends[useful])
        factors = np.zeros(len(product))
        with np.errstate(over="ignore", invalid="ignore"):
            factors[useful] = flow.scaled_values(gains, costs[useful])
        if not np.isfinite(factors).all():
            raise InputError("the condition is too unlikely for an exact answer; take another one")
        return cls(product, costs, factors)

    @property
    def log(self) -> float:
        """The logarithm of the probability from the initial pair on."""
        return float(np.log(self.factors[0]) - self.costs[0]) if self.factors[0] > 0 else -inf


def check_successes(pdfa: PDFA, dfa: DFA, given: LanguageLike) -> Successes:
    """Return the probabilities of a condition; refuse one of probability 0."""
    successes = Successes.of(Product.of(pdfa, dfa))
    if successes.log == -inf:
        raise InputError(
            f"the condition {described(given)} has probability 0: the automaton never ends a word "
            "in it; take another condition"
        )
    return successes


def condition(pdfa: PDFA, language: LanguageLike) -> PDFA:
    """Return the automaton of a PDFA's words given that they are in a language.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.
    language : str, DFA, Language, or iterable of words
        The condition.

    Returns
    -------
    PDFA
        Words in the language have their probability divided by that of the language, others 0.
        Its states are the pairs of a state and what is still needed to be in the language.

    Raises
    ------
    InputError
        If the language has probability 0, or if something is wrong with it.

    Notes
    -----
    Each transition is weighed by the probability to end in the language from where it leads to.
    To forbid symbols and divide the rest by its sum, as `Guided` does, is something else: a symbol
    after which few words can still be completed is then as likely as before.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> short = condition(figure_1(), ["a", "aa"])
    >>> round(short.probability("a"), 12), round(short.probability("aa"), 12)
    (0.666666666667, 0.333333333333)
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    successes = check_successes(pdfa, language_dfa(language, pdfa.alphabet), language)
    check_fits(len(successes.product), len(pdfa.alphabet))
    return reachable_part(_weigh_transitions(successes))


def _weigh_transitions(successes: Successes) -> PDFA:
    """Weigh transitions by where they lead; pairs without a completion stay, out of reach."""
    product, walk = successes.product, successes.product.walk
    costs, factors = successes.costs, successes.factors
    ending = product.successes > 0
    rows = np.zeros((len(product), len(product.pdfa.alphabet) + 1))
    # Products of tiny probabilities with huge inverse ones are formed in the exponent.
    rows[ending, 0] = np.exp(costs[ending] - minus_logs(product.successes[ending]))
    kept = (factors[walk.sources] > 0) & (factors[walk.successors] > 0)
    sources, symbols, successors = (a[kept] for a in (walk.sources, walk.symbols, walk.successors))
    scales = np.exp(costs[sources] - costs[successors]) * factors[successors]
    rows[sources, symbols + 1] = product.weights[kept] * scales
    hopeless = factors <= 0
    rows[hopeless] = 0.0
    rows[hopeless, 0] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    transitions = np.full((len(product), len(product.pdfa.alphabet)), -1)
    transitions[sources, symbols] = successors
    return PDFA(alphabet=product.pdfa.alphabet, transitions=transitions, probabilities=rows)


@dataclass(frozen=True)
class LikelyWord:
    """A word and its probability.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> (likeliest,) = most_likely(figure_1(), 1)
    >>> likeliest.word, likeliest.probability, round(likeliest.log_probability, 6)
    (('a',), 0.5, -0.693147)
    """

    word: tuple[Symbol, ...]
    probability: float
    log_probability: float

    def __str__(self) -> str:
        text = short_word_text(self.word, joined=are_characters(self.word))
        return f"{text}  {self.probability:.6g}"


def most_likely(
    pdfa: PDFA, count: int | None = None, language: LanguageLike | None = None
) -> Iterator[LikelyWord]:
    """Find the likeliest words in exact order, each one when it is asked for.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.
    count : int, optional
        How many words at most; all of them, however many, if not given.
    language : str, DFA, Language, or iterable of words, optional
        Only words in it.

    Returns
    -------
    iterator of LikelyWord
        From the likeliest on. Of words that are equally likely but for rounding (1e-12) the
        shorter comes first, then the one that is first in the order of the alphabet.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> [("".join(one.word), one.probability) for one in most_likely(figure_1(), 3)]
    [('a', 0.5), ('aa', 0.25), ('aaa', 0.125)]
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    everything = HasLength() if language is None else language
    product = Product.of(pdfa, language_dfa(everything, pdfa.alphabet))
    return _find_words(product, product.successes, count)


def most_likely_prefixes(pdfa: PDFA, length: int, count: int | None = None) -> Iterator[LikelyWord]:
    """Find the likeliest beginnings of a length in exact order, each one when it is asked for.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.
    length : int
        How many symbols the beginnings have.
    count : int, optional
        How many beginnings at most; all of them if not given.

    Returns
    -------
    iterator of LikelyWord
        The probability is that of all words with this beginning, endless ones included.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> list(most_likely_prefixes(figure_1(), 2))
    [LikelyWord(word=('a', 'a'), probability=0.5, log_probability=-0.6931471805599453)]
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    length = check_integer(length, "length", 0)
    product = Product.of(pdfa, language_dfa(HasLength(length, length), pdfa.alphabet))
    return _find_words(product, product.accepting.astype(np.float64), count)


def _find_words(product: Product, ends: Floats, count: int | None) -> Iterator[LikelyWord]:
    """Search for the heaviest ways to an end, of which some have these weights."""
    most = None if count is None else check_integer(count, "count", 0)
    walk, alphabet = product.walk, product.pdfa.alphabet
    graph = WordGraph(walk.sources, walk.symbols, walk.successors, product.weights, ends)
    return (
        LikelyWord(alphabet.decode(way.codes), way.weight, 0.0 - way.cost)
        for way in islice(heaviest_words(graph), most)
    )
