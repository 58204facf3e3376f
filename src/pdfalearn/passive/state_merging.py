"""ALERGIA, MDI and the likelihood ratio: automata from words alone, by merging states."""

from __future__ import annotations

from collections.abc import Iterable

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.checks import check_integer, check_number
from pdfalearn.corpora import CorpusLike, count_prefixes
from pdfalearn.passive.criteria import (
    HoeffdingCriterion,
    LikelihoodRatioCriterion,
    MDICriterion,
)
from pdfalearn.passive.red_blue import merge_states
from pdfalearn.pdfa import PDFA


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
