"""The entropy of an automaton's words, and how often its states are visited."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.special import entr

from pdfalearn.analysis.products import Product
from pdfalearn.chains import Chain, Reached, normalise_rows, sums_by, visits_and_weights
from pdfalearn.languages import LanguageLike, language_dfa
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.typing import Floats


@dataclass(frozen=True, eq=False)
class Entropy:
    """The entropy of words drawn from an automaton, in nats.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = entropy(figure_1())
    >>> round(found.per_word, 6), found.by_state.round(6).tolist(), found.endless_states
    (1.386294, [0.0, 0.693147], ())
    """

    per_word: float
    """E -ln P(w); infinite if words may go on being uncertain without end."""
    per_symbol: float
    """``per_word`` divided by the expected length + 1, or the long-run rate of endless words."""
    by_state: Floats
    """The entropy of every state's own row."""
    endless_states: tuple[int, ...]
    """The states from which no word ends."""


@dataclass(frozen=True, eq=False)
class Visits:
    """How often one word is expected to visit states and to take transitions.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> visits = expected_visits(figure_1())
    >>> visits.states.round(6).tolist(), visits.transitions.round(6).tolist()
    ([1.0, 2.0], [[1.0], [1.0]])
    """

    states: Floats
    """Of every state; infinite where words come back for ever."""
    transitions: Floats
    """Of every state and symbol, shape (states, symbols)."""
    endless_states: tuple[int, ...]
    """The states from which no word ends."""


def entropy(pdfa: PDFA) -> Entropy:
    """Compute the entropy of an automaton's words, per word and per symbol.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = entropy(figure_1())
    >>> round(result.per_word, 6), round(result.per_symbol, 6)
    (1.386294, 0.462098)
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    by_state = np.asarray(entr(normalise_rows(pdfa.probabilities)).sum(axis=1))
    by_state.setflags(write=False)
    reached = Reached.of(pdfa)
    gains = by_state[reached.states] * reached.sums
    per_word = float(reached.flow.values(gains)[0])
    if reached.endless.any():
        per_symbol = float(_long_run(pdfa) @ by_state)
    else:
        positions = float(reached.flow.values(reached.sums)[0])
        per_symbol = per_word / positions
    return Entropy(per_word, per_symbol, by_state, reached.endless_states)


def _long_run(pdfa: PDFA) -> Floats:
    """Return the share of every state among the positions of endless words."""
    chain = Chain.of(pdfa, pdfa)
    return sums_by(chain.lefts, visits_and_weights(chain)[1], len(pdfa))


def expected_visits(pdfa: PDFA) -> Visits:
    """Compute how often a word is expected to visit every state, and to take every transition.

    They have about as many digits less than sixteen as the expected length has.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = expected_visits(figure_1())
    >>> result.states.round(6).tolist(), result.transitions.round(6).tolist()
    ([1.0, 2.0], [[1.0], [1.0]])
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    chain = Chain.of(pdfa, pdfa)
    visits, _ = visits_and_weights(chain)
    states = sums_by(chain.lefts, np.where(chain.components < 0, visits, inf), len(pdfa))
    rows = normalise_rows(pdfa.probabilities)[:, 1:]
    with np.errstate(invalid="ignore"):
        transitions = np.where(rows > 0, states[:, None] * rows, 0.0)
    endless = Reached.of(pdfa).endless_states
    return Visits(states, transitions, endless)


def expected_count(pdfa: PDFA, language: LanguageLike) -> float:
    """Compute how many prefixes of a drawn word are expected to be in a language.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.
    language : str, DFA, Language, or iterable of words
        ``EndsWith("a")`` counts how often a symbol occurs, ``EndsWith("ab")`` a word, and a regular
        expression such as ``".*(ab|ba)"`` the places where a match ends. The word itself is one of
        its prefixes, and so is the empty word.

    Returns
    -------
    float
        Infinite if words may go on for ever and be in the language again and again.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.languages.kinds import EndsWith
    >>> round(expected_count(figure_1(), EndsWith("a")), 12)
    2.0
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    product = Product.of(pdfa, language_dfa(language, pdfa.alphabet))
    return float(product.flow.values(product.accepting.astype(np.float64))[0])
