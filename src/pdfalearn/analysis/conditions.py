"""The automaton of the words that are in a language, with their exact conditional probabilities."""

from __future__ import annotations

import numpy as np

from pdfalearn.analysis.probabilities import Successes, checked_successes
from pdfalearn.chains.ways import minus_logs
from pdfalearn.checks import check_fits
from pdfalearn.languages.kinds import LanguageLike, language_dfa
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.reachability import reachable_part


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
    >>> from pdfalearn import figure_1
    >>> short = condition(figure_1(), ["a", "aa"])
    >>> round(short.probability("a"), 12), round(short.probability("aa"), 12)
    (0.666666666667, 0.333333333333)
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    successes = checked_successes(pdfa, language_dfa(language, pdfa.alphabet), language)
    check_fits(len(successes.product), len(pdfa.alphabet))
    return reachable_part(_weighed(successes))


def _weighed(successes: Successes) -> PDFA:
    """Weigh transitions by where they lead; pairs without a completion stay, out of reach."""
    product, walk = successes.product, successes.product.walk
    costs, factors = successes.costs, successes.factors
    ending = product.successes > 0
    rows = np.zeros((len(product), len(product.pdfa.alphabet) + 1))
    rows[ending, 0] = np.exp(costs[ending] - minus_logs(product.successes[ending]))
    led = (factors[walk.sources] > 0) & (factors[walk.successors] > 0)
    sources, symbols, successors = (a[led] for a in (walk.sources, walk.symbols, walk.successors))
    scales = np.exp(costs[sources] - costs[successors]) * factors[successors]
    rows[sources, symbols + 1] = product.weights[led] * scales
    hopeless = factors <= 0
    rows[hopeless] = 0.0
    rows[hopeless, 0] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    transitions = np.full((len(product), len(product.pdfa.alphabet)), -1)
    transitions[sources, symbols] = successors
    return PDFA(alphabet=product.pdfa.alphabet, transitions=transitions, probabilities=rows)
