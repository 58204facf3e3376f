"""From what a user gives as a guide to a DFA over a model's alphabet."""

from __future__ import annotations

import re

import numpy as np

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.errors import InputError
from pdfalearn.languages.dfa import DFA, over_alphabet, trim_dfa
from pdfalearn.languages.regex import regex_dfa
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.text import described


def guide_over(alphabet: Alphabet, guide: str | DFA | PDFA) -> DFA:
    """Return the DFA of a guide over an alphabet, without states from which no word is completed.

    Its states are numbered breadth first, so that equal guides have equal tables.
    """
    if isinstance(guide, str):
        dfa = regex_dfa(guide, alphabet)
    elif isinstance(guide, PDFA):
        dfa = over_alphabet(_support(guide), alphabet, "guide", "model")
    elif isinstance(guide, DFA):
        dfa = over_alphabet(guide, alphabet, "guide", "model")
    else:
        raise _no_guide(guide)
    useful = trim_dfa(dfa)
    if useful is None:
        raise InputError(
            f"the guide {guide!r} excludes everything: it accepts no word of the symbols "
            f"{shortened(alphabet.symbols)}"
        )
    return useful


def _no_guide(given: object) -> InputError:
    """Make the error for what is not a guide."""
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
