"""The automaton of what a model may say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pdfalearn.equivalence import Support
from pdfalearn.languages import DFA, find_support
from pdfalearn.learning.loop import learn
from pdfalearn.models import Above, LanguageModel, as_model
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Certificate, Result, TableValue


@dataclass(frozen=True)
class SupportDFA(TableValue):
    """What a model may say, as an automaton, with the run that has learnt it.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = support_dfa(figure_1(0.25), threshold=0.3)
    >>> print(found)
    DFA(2 states, 1 symbol, initial=0), exact: equivalent to the target under Support(threshold=0.3)
    >>> found.dfa.accepts("a"), found.dfa.accepts("aa")
    (True, False)
    """

    result: Result
    """Of learning the model without what is not above the threshold."""

    @cached_property
    def dfa(self) -> DFA:
        """The automaton; its states are those of ``result.pdfa``."""
        return find_support(self.result.pdfa)

    @property
    def certificate(self) -> Certificate:
        """What is known about the automaton."""
        return self.result.certificate

    @property
    def statement(self) -> str:
        """What was learnt, and what is known about it."""
        return f"{self.dfa}, {self.certificate}"

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return none: the automaton and its certificate are all there is."""
        return []


def support_dfa(
    model: PDFA | LanguageModel, *, threshold: float = 0.0, **settings: Any
) -> SupportDFA:
    """Learn the automaton of the words that a model may say.

    A word is accepted if each of its symbols is above the threshold after those before it, and the
    end is after all of them. The model is not asked for any word that begins otherwise.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model. After every word that it may say, something has to be above the threshold.
    threshold : float
        From 0 to 1; with 0 what counts is what is possible. Networks find everything possible:
        take 0.001, say.
    **settings
        As for `learn`: ``oracle``, ``budget``, ``store`` and so on; not ``equivalence``, which is
        `Support`.

    Returns
    -------
    SupportDFA
        The automaton, which may guide a model (`Guided`) and be saved (`save`), and what is known
        about it. If a bound was reached, transitions that were not resolved lead to the best match
        so far.

    Examples
    --------
    >>> from pdfalearn.datasets import reber
    >>> found = support_dfa(reber())
    >>> found.dfa, found.dfa.accepts("TXS"), found.dfa.accepts("TT")
    (DFA(6 states, 5 symbols, initial=0), True, False)
    """
    # What is left has not become less likely, so that it is above the threshold, too.
    relation = Support(threshold)
    return SupportDFA(learn(Above(as_model(model), threshold), equivalence=relation, **settings))
