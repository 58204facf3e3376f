"""A model that is held to the words that a guide allows."""

from __future__ import annotations

import re
from hashlib import sha256

import numpy as np

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA, over_alphabet, regex_dfa, trim_dfa
from pdfalearn.models.automaton import WordStates
from pdfalearn.models.batch import Batch
from pdfalearn.models.constrained._rows import SPARSE_ABOVE, refuse_undecided, spread_rows
from pdfalearn.models.constrained.wrapper import OpenedWrapper, States, Wrapper
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Flags, Floats, Integers


class Guided(Wrapper):
    """A language model guided by a regular expression or an automaton.

    A symbol after which the guide cannot be satisfied any more has probability 0, and words
    through it are undefined: the model inside is never asked for them. The terminal has probability
    0 where the guide does not let a word end. What is left is divided by its sum; if nothing is
    left, that is a `ModelError` which names the word. If the model inside does not list all
    symbols, it has to list those that the guide allows. Where everything is possible in the model
    inside (`LanguageModel.full_support`) and the guide leaves one possibility, the model is not
    asked; its mass outside of the alphabet is then unknown (NaN).

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    guide : str, DFA or PDFA
        A regular expression that whole words have to match, each symbol being read as its text
        (needs the extra ``regex``); a DFA; or a PDFA, whose support is then the guide: words of
        positive probability. Symbols that an automaton does not have are not allowed.

    Examples
    --------
    >>> from pdfalearn import FunctionModel, Words
    >>> from pdfalearn.models.opened import ask_words
    >>> model = FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab")
    >>> guide = DFA(alphabet="ab", transitions=[[1, -1], [0, 1]], accepting=[True, False])
    >>> ask_words(Guided(model, guide), Words.of([()])).to_dense().round(3)
    array([[0.333, 0.667, 0.   ]])
    """

    cuts = True
    guide: DFA
    """The guide over the model's alphabet, without states that are of no use."""
    _nothing_left = "nothing is left of it: all that the guide allows has probability 0"

    def __init__(self, model: PDFA | LanguageModel, guide: str | DFA | PDFA) -> None:
        super().__init__(model)
        self.guide = guide_over(self.alphabet, guide)
        self.states = len(self.guide)
        self.allowed: Flags = np.column_stack((self.guide.accepting, self.guide.transitions >= 0))
        """What the guide allows in each of its states, the terminal first."""
        self.listed = Rows.dense(
            self.allowed.astype(np.float64), impossible=~self.allowed[:, 1:]
        ).to_sparse()
        """The same as lists of what is 1, and the terminal."""
        self._counts = np.count_nonzero(self.guide.transitions >= 0, axis=1)

    def _parameters(self) -> str:
        parts = self.guide.accepting.tobytes() + self.guide.table.tobytes()
        return sha256(parts).hexdigest()

    def _around(self, inner: LanguageModel) -> OpenedWrapper:
        return OpenedGuided(self, inner)

    def _weigh(self, table: Floats, states: States | None) -> Flags:
        allowed: Flags = self.allowed[states]
        table *= allowed
        return allowed

    def _list_kept(self, table: Floats, states: States | None) -> Rows:
        if states is None:
            raise TypeError("a guide needs its states")
        rows = self.listed.take(states)
        rows.values *= table[rows.row_numbers, rows.columns]
        return rows

    def _weigh_listed(self, rows: Rows, states: States | None) -> tuple[Floats, Flags]:
        if rows.offsets is None or rows.columns is None or states is None:
            raise TypeError("a guide needs its states, and these rows are not sparse")
        allowed: Flags = self.allowed[states[rows.row_numbers], rows.columns]
        listed = np.append(0, np.cumsum(allowed & (rows.columns > 0)))[rows.offsets]
        refuse_undecided(
            rows,
            rows.is_open & (np.diff(listed) < self._counts[states]),
            "the guide allows some of them; let the model list every symbol that it allows",
        )
        return np.maximum(rows.values, 0.0) * allowed, allowed


class OpenedGuided(OpenedWrapper):
    """Runs a guide along words, and asks the model inside for those that it allows.

    Parameters
    ----------
    wrapper : Guided
        The guided model.
    inner : LanguageModel
        The opened model inside.
    """

    def __init__(self, wrapper: Guided, inner: LanguageModel) -> None:
        super().__init__(wrapper, inner)
        self._states = WordStates(wrapper.guide.table, wrapper.guide.initial)
        self._guided = wrapper
        self._is_forced = np.count_nonzero(wrapper.allowed, axis=1) == 1
        """In which states the guide leaves one possibility."""

    def answer(self, batch: Batch) -> Rows:
        """Return what the guide leaves of rows; what it decides alone is not asked."""
        states = self._states.after(batch)
        asked = states >= 0
        forced = np.empty(0, dtype=np.int64)
        if self.model.full_support:
            is_forced = asked & self._is_forced[states]
            asked &= ~is_forced
            forced = is_forced.nonzero()[0]
        if asked.all():
            return self._ask(batch)
        places = asked.nonzero()[0]
        parts = [self._force_rows(states[forced])]
        if len(places):
            part = batch.select(places)
            part.are_possible = batch.are_possible
            parts.append(self._ask(part))
        return spread_rows(Rows.joined(parts), np.append(forced, places), batch.count)

    def _change(self, ids: Integers, rows: Rows) -> Rows:
        return self._change_all(rows, self._states.at(ids))

    def _force_rows(self, states: States) -> Rows:
        """Return the rows of states that leave one possibility; nobody was asked."""
        rows = self._guided.listed.take(states)
        if rows.width - 1 <= SPARSE_ABOVE:
            impossible = ~self._guided.allowed[states, 1:]
            rows = Rows.dense(rows.to_dense(), impossible=impossible)
        if len(rows):
            rows.outside = np.full(len(rows), np.nan)
        return rows


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
