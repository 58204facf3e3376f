"""ALERGIA, MDI and the likelihood ratio: automata from words alone, and rows without zeros."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.checks import check_integer, check_number
from pdfalearn.corpora import CorpusLike, PrefixTree, count_prefixes, count_steps
from pdfalearn.passive.criteria import (
    HoeffdingCriterion,
    LikelihoodRatioCriterion,
    MDICriterion,
)
from pdfalearn.passive.red_blue import Merging, merge_states
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Codes, Floats, Integers

# The parameters with which words are merged variously: ε of ALERGIA, α · words of MDI, and α of the
# likelihood ratio with the words that must pass.
_EPSILONS, _MDI_SHARES, _RATIO = (0.05, 0.8), (1.0, 2.0), (0.05, 10)


def alergia(
    words: CorpusLike,
    *,
    epsilon: float = 0.05,
    recorded: bool = False,
    alphabet: Alphabet | Iterable[Symbol] | None = None,
) -> PDFA:
    """Learn an automaton from words by ALERGIA (Carrasco and Oncina).

    Parameters
    ----------
    words : Corpus or iterable of words
        What was recorded.
    epsilon : float
        Two shares of n and m words differ if their distance is greater than
        (1/√n + 1/√m) · √(½ ln(2/epsilon)). The greater, the more states; at 2 nothing that differs
        is merged.
    recorded : bool
        Compare what was recorded after the first prefixes of two states, as AALpy does, and not
        all that has been merged into them, as Carrasco and Oncina do.
    alphabet : Alphabet or iterable of symbols, optional
        The symbols; those of the words, sorted, if not given.

    Returns
    -------
    PDFA
        Its rows are shares of the words. What no word did has probability 0: `smooth_rows` changes
        that.

    Notes
    -----
    R. C. Carrasco, J. Oncina, Learning stochastic regular grammars by means of a state merging
    method, ICGI 1994.

    Examples
    --------
    >>> words = ["a" * (i % 4) for i in range(400)]
    >>> alergia(words).transitions.tolist()
    [[1], [2], [3], [-1]]
    """
    symbols, tree = count_prefixes(words, alphabet)
    epsilon = check_number(epsilon, "epsilon", 1e-300, 2)
    criterion = HoeffdingCriterion(epsilon, tree if recorded else None)
    return merge_states(tree, criterion).make_pdfa(symbols)


def mdi(
    words: CorpusLike,
    *,
    alpha: float | None = None,
    alphabet: Alphabet | Iterable[Symbol] | None = None,
) -> PDFA:
    """Learn an automaton from words by MDI (Thollard, Dupont and de la Higuera).

    Parameters
    ----------
    words : Corpus or iterable of words
        What was recorded.
    alpha : float, optional
        A merge may raise the divergence of the words from the automaton by less than this for each
        state that it saves, in bits a word. The smaller, the more states. If not given, it is 2
        divided by the number of words: with less, much noise is kept.
    alphabet : Alphabet or iterable of symbols, optional
        The symbols; those of the words, sorted, if not given.

    Returns
    -------
    PDFA
        Its rows are shares of the words. What no word did has probability 0: `smooth_rows` changes
        that.

    Notes
    -----
    F. Thollard, P. Dupont, C. de la Higuera, Probabilistic DFA inference using Kullback-Leibler
    divergence and minimality, ICML 2000.

    Examples
    --------
    >>> words = ["a" * (i % 4) for i in range(400)]
    >>> len(mdi(words, alpha=0.01)), len(mdi(words, alpha=10))
    (4, 1)
    """
    symbols, tree = count_prefixes(words, alphabet)
    alpha = 2 / tree.passes[0] if alpha is None else check_number(alpha, "alpha", 0, 1e300)
    criterion = MDICriterion(alpha, int(tree.passes[0]))
    return merge_states(tree, criterion).make_pdfa(symbols)


def likelihood_ratio(
    words: CorpusLike,
    *,
    alpha: float = 0.05,
    least: int = 10,
    alphabet: Alphabet | Iterable[Symbol] | None = None,
) -> PDFA:
    """Learn an automaton from words by likelihood ratios, as FlexFringe does.

    Parameters
    ----------
    words : Corpus or iterable of words
        What was recorded.
    alpha : float
        The least p-value of a merge with all that follows from it. The greater, the more states.
    least : int
        States that fewer words pass are not compared.
    alphabet : Alphabet or iterable of symbols, optional
        The symbols; those of the words, sorted, if not given.

    Returns
    -------
    PDFA
        Its rows are shares of the words. What no word did has probability 0: `smooth_rows` changes
        that.

    Notes
    -----
    The state that most words pass is merged or kept first. Of the merges that pass the test, that
    of the greatest p-value is done. S. Verwer, M. de Weerdt, C. Witteveen, A likelihood-ratio test
    for identifying probabilistic deterministic real-time automata from positive data, ICGI 2010.

    Examples
    --------
    >>> words = ["a" * (i % 4) for i in range(400)]
    >>> likelihood_ratio(words).transitions.tolist()
    [[1], [2], [3], [-1]]
    """
    symbols, tree = count_prefixes(words, alphabet)
    criterion = LikelihoodRatioCriterion(
        check_number(alpha, "alpha", 0, 1), check_integer(least, "least", 0)
    )
    return merge_states(tree, criterion, largest=True).make_pdfa(symbols)


def merge_variously(tree: PrefixTree, most: int) -> Iterator[tuple[Codes, Floats]]:
    """Yield automata by each criterion: the transitions, all of them defined, and the counts.

    A transition that no word takes leads to where its symbol leads most often. Automata of more
    than ``most`` states are given up.
    """
    words = int(tree.passes[0])
    criteria: list[tuple[Callable[[Merging, int], int], bool]] = [
        *((HoeffdingCriterion(epsilon), False) for epsilon in _EPSILONS),
        *((MDICriterion(share / words, words), False) for share in _MDI_SHARES),
        (LikelihoodRatioCriterion(*_RATIO), True),
    ]
    for criterion, largest in criteria:
        merging = merge_states(tree, criterion, largest=largest, most=most)
        if len(merging.reds) > most:
            continue
        transitions, counts = merging.make_tables()
        usual = _usual_targets(transitions, counts[:, 1:], 0)
        yield np.where(transitions < 0, usual, transitions).astype(np.int32), counts


def smooth_rows(pdfa: PDFA, words: CorpusLike, *, weight: float = 1.0) -> PDFA:
    """Count words in the states of an automaton, and leave no probability at 0.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. The words must be possible in it: those it was learnt from are.
    words : Corpus or iterable of words
        The words to count.
    weight : float
        Every row is drawn to the mean row of all states, as if that had been seen this many times
        more; the mean row itself as if every symbol had been seen half a time more.

    Returns
    -------
    PDFA
        With the same states. A transition that was undefined leads to where its symbol leads most
        often in the words, or to the initial state.

    Examples
    --------
    >>> pdfa = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0]])
    >>> smooth_rows(pdfa, ["a", "aa", ""]).probabilities.round(3).tolist()
    [[0.495, 0.495, 0.01]]
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    weight = check_number(weight, "weight", 1e-9, 1e9)
    counts = count_steps(pdfa, words).table
    totals = counts.sum(axis=0) + 0.5
    rows = counts + weight * totals / totals.sum()
    usual = _usual_targets(pdfa.transitions, counts[:, 1:], pdfa.initial)
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=np.where(pdfa.transitions < 0, usual, pdfa.transitions),
        probabilities=rows / rows.sum(axis=1, keepdims=True),
        initial=pdfa.initial,
    )


def _usual_targets(transitions: Codes, counts: Floats, initial: int) -> Integers:
    """Return where each symbol leads most often; the initial state if nowhere."""
    targets: Floats = np.zeros((counts.shape[1], len(transitions)))
    states, symbols = np.nonzero(counts)
    np.add.at(targets, (symbols, transitions[states, symbols]), counts[states, symbols])
    return np.where(targets.any(axis=1), targets.argmax(axis=1), initial)
