"""From what a user gives as a guide to a DFA over a model's alphabet."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.dfa import DFA
from pdfalearn.errors import InputError
from pdfalearn.models.constrained.regex import regex_dfa
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.reachability import reachable_in
from pdfalearn.text import described


def guide_over(alphabet: Alphabet, guide: str | DFA | PDFA) -> DFA:
    """Return the DFA of a guide over an alphabet, without states from which no word is completed.

    Its states are numbered breadth first, so that equal guides have equal tables.
    """
    if isinstance(guide, str):
        dfa = regex_dfa(guide, alphabet)
    elif isinstance(guide, PDFA):
        dfa = _over(alphabet, _support(guide))
    elif isinstance(guide, DFA):
        dfa = _over(alphabet, guide)
    else:
        raise _no_guide(guide)
    useful = _completing(dfa)
    if not useful[dfa.initial]:
        raise InputError(
            f"the guide {guide!r} excludes everything: it accepts no word of the symbols "
            f"{shortened(alphabet.symbols)}"
        )
    return _restricted(dfa, useful)


def _no_guide(given: object) -> InputError:
    """Make the error for what is no guide."""
    remedy = f"for a PDFA: {pdfa_remedy(given)}"
    if isinstance(given, re.Pattern):
        remedy = "give its attribute pattern, a string"
    elif callable(getattr(given, "accepts", None)):
        remedy = "put its tables into a DFA(alphabet=…, transitions=…, accepting=…)"
    return InputError(
        f"the guide {described(given)} is not a regular expression, DFA or PDFA; {remedy}"
    )


def _support(pdfa: PDFA) -> DFA:
    positive = pdfa.probabilities > 0
    return DFA(
        alphabet=pdfa.alphabet,
        transitions=np.where(positive[:, 1:], pdfa.transitions, -1),
        accepting=positive[:, 0],
        initial=pdfa.initial,
    )


def _over(alphabet: Alphabet, dfa: DFA) -> DFA:
    """Put a DFA's columns into the order of an alphabet; symbols that it lacks lead nowhere."""
    if dfa.alphabet.symbols == alphabet.symbols:
        return dfa
    for symbol in dfa.alphabet:
        if symbol not in alphabet:
            raise InputError(
                f"symbol {symbol!r} of the guide is not one of the model's: "
                f"{shortened(alphabet.symbols)}"
            )
    transitions = np.full((len(dfa), len(alphabet)), -1)
    transitions[:, [alphabet.index(symbol) for symbol in dfa.alphabet]] = dfa.transitions
    return DFA(
        alphabet=alphabet,
        transitions=transitions,
        accepting=dfa.accepting,
        initial=dfa.initial,
    )


def _completing(dfa: DFA) -> NDArray[np.bool_]:
    """Say from which states an accepting one can be reached: a search along edges turned round."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    states = len(dfa)
    sources, columns = (dfa.transitions >= 0).nonzero()
    ends = dfa.accepting.nonzero()[0]
    heads = np.append(dfa.transitions[sources, columns], np.full(len(ends), states))
    tails = np.append(sources, ends)  # one state more, beyond all accepting ones
    graph = csr_array((np.ones(len(heads)), (heads, tails)), shape=(states + 1, states + 1))
    found = breadth_first_order(graph, states, return_predecessors=False)
    completing = np.zeros(states + 1, dtype=bool)
    completing[found] = True
    return completing[:-1]


def _restricted(dfa: DFA, useful: NDArray[np.bool_]) -> DFA:
    """Keep the useful states that words reach, breadth first."""
    transitions = np.where(np.append(useful, False)[dfa.transitions], dfa.transitions, -1)
    part = reachable_in(transitions.astype(np.int32), dfa.initial)
    numbers = np.append(part.numbers(len(dfa)), np.int32(-1))
    return DFA(
        alphabet=dfa.alphabet,
        transitions=numbers[transitions[part.states]],
        accepting=dfa.accepting[part.states],
    )
