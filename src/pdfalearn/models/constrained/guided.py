"""Models held to what a guide allows, and the automaton that a PDFA in guides is."""

from __future__ import annotations

import re
from hashlib import sha256
from math import prod

import numpy as np

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.arrays import IntMap
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA, find_support, over_alphabet, regex_dfa, trim_dfa
from pdfalearn.models.automaton import AutomatonModel, WordStates
from pdfalearn.models.batch import Batch, Lineage
from pdfalearn.models.constrained.opened_wrapper import (
    OpenedWrapper,
    States,
    UnchangeableError,
    unchangeable_word,
)
from pdfalearn.models.constrained.top import Above, TopK, TopP
from pdfalearn.models.constrained.wrapper import SPARSE_ABOVE, Part, Temperature, Wrapper
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Flags, Floats, Integers

# A product has at most this many probabilities.
_MOST_CELLS = 10**7


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
    >>> from pdfalearn import FunctionModel
    >>> from pdfalearn.samplers import Words
    >>> from pdfalearn.models.opened import ask_words
    >>> model = FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab")
    >>> guide = DFA(alphabet="ab", transitions=[[1, -1], [0, 1]], accepting=[True, False])
    >>> ask_words(Guided(model, guide), Words.of([()])).to_dense().round(3)
    array([[0.333, 0.667, 0.   ]])
    """

    cuts = True
    guide: DFA
    """The guide over the model's alphabet, without states that are of no use."""
    _reads_lists = True
    _nothing_left = "nothing is left of it: all that the guide allows has probability 0"
    _remedy = "the guide allows some of them; let the model list every symbol that it allows"

    def __init__(self, model: PDFA | LanguageModel, guide: str | DFA | PDFA) -> None:
        super().__init__(model)
        self.guide = guide_over(self.alphabet, guide)
        self.states = len(self.guide)
        self.allowed: Flags = np.column_stack((self.guide.accepting, self.guide.transitions >= 0))
        """What the guide allows in each of its states, the terminal first."""
        self._counts = np.count_nonzero(self.guide.transitions >= 0, axis=1)
        tables = self.guide.accepting.tobytes() + self.guide.table.tobytes()
        self.parameters = sha256(tables).hexdigest()

    def _around(self, inner: LanguageModel) -> OpenedWrapper:
        return OpenedGuided(self, inner)

    def _weigh(self, part: Part) -> tuple[Flags, Flags]:
        states, columns = part.states, part.columns
        undecided = part.rests > 0
        if columns is None or states is None:
            allowed = self.allowed[states]
        else:
            allowed = self.allowed[states[:, None], columns]
            # A symbol that is allowed and not listed may have any part of the rest.
            listed = np.count_nonzero(allowed & (columns > 0), axis=1)
            undecided &= listed < self._counts[states]
        np.multiply(part.table, allowed, out=part.table)
        return allowed, undecided


class OpenedGuided(OpenedWrapper):
    """Runs a guide along words, and asks the model inside for those that it allows."""

    def __init__(self, wrapper: Guided, inner: LanguageModel) -> None:
        super().__init__(wrapper, inner)
        self._states = WordStates(wrapper.guide.table, wrapper.guide.initial)
        self._guided = wrapper
        # In which states the guide leaves one possibility.
        self._is_forced = np.count_nonzero(wrapper.allowed, axis=1) == 1

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
        return Rows.join(parts).spread(np.append(forced, places), batch.count)

    def _states_of(self, ids: Integers) -> States:
        return self._states.at(ids)

    def _force_rows(self, states: States) -> Rows:
        """Return the rows of states that leave one possibility; nobody was asked."""
        allowed = self._guided.allowed[states]
        rows = Rows.dense(allowed.astype(np.float64), impossible=~allowed[:, 1:])
        if len(rows):
            rows.outside = np.full(len(rows), np.nan)
        return rows.to_sparse() if rows.width - 1 > SPARSE_ABOVE else rows


def guide_over(alphabet: Alphabet, guide: str | DFA | PDFA) -> DFA:
    """Return the DFA of a guide over an alphabet, without states from which no word is completed.

    Its states are numbered breadth first, so that equal guides have equal tables.
    """
    if isinstance(guide, str):
        dfa = regex_dfa(guide, alphabet)
    elif isinstance(guide, PDFA):
        dfa = over_alphabet(find_support(guide), alphabet, "guide", "model")
    elif isinstance(guide, DFA):
        dfa = over_alphabet(guide, alphabet, "guide", "model")
    else:
        raise _no_guide(guide)
    useful = trim_dfa(dfa)
    if useful is None:
        raise InputError(
            f"the guide {guide!r} excludes everything: it accepts no word of the symbols "
            f"{shorten(alphabet.symbols)}"
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


def wrapped_pdfa(model: LanguageModel, *, most_cells: int = _MOST_CELLS) -> PDFA | None:
    """Return the automaton that a PDFA in any number of wrappers is.

    Its rows are made by the wrappers themselves, so that they are those of the wrapped model to the
    last bit. What a wrapper cuts is undefined.

    Parameters
    ----------
    model : LanguageModel
        An `AutomatonModel`, in `Guided`, `TopK`, `TopP`, `Temperature` and what `support_dfa` cuts
        by, or in none of them.
    most_cells : int
        How many probabilities the automaton may have.

    Returns
    -------
    PDFA or None
        The reachable part, numbered breadth first. None for any other model, such as one with a
        wrapper of the user's own, and for an automaton that is too large.

    Raises
    ------
    ModelError
        If a guide leaves nothing of the distribution after some word.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> wrapped_pdfa(TopK(figure_3(), 1)).probabilities[0].tolist()
    [0.0, 1.0, 0.0]
    """
    wrappers: list[Wrapper] = []
    while isinstance(model, Wrapper) and type(model) in (Guided, TopK, TopP, Above, Temperature):
        wrappers.append(model)
        model = model.model
    if type(model) is not AutomatonModel:
        return None
    if not wrappers:
        return model.pdfa
    return _multiply(model.pdfa, wrappers[::-1], most_cells)


def _multiply(pdfa: PDFA, wrappers: list[Wrapper], most_cells: int) -> PDFA | None:
    """Go through a PDFA and the guides around it at once, breadth first; the innermost is first."""
    guides = [wrapper.guide for wrapper in wrappers if isinstance(wrapper, Guided)]
    tables = [pdfa.transitions, *(guide.transitions for guide in guides)]
    sizes = tuple(map(len, tables))
    if prod(sizes) >= 2**62:  # tuples of states have to fit into integers
        return None
    # A tuple of states, one of each automaton, is one integer: its place in a table of all tuples.
    initial = (pdfa.initial, *(guide.initial for guide in guides))
    codes = np.array([np.ravel_multi_index(initial, sizes)], dtype=np.int64)
    numbers, width = IntMap(), len(pdfa.alphabet) + 1
    numbers.get_or_add(codes)
    parents, last = [np.zeros(1, dtype=np.int64)], [np.zeros(1, dtype=np.int32)]
    probabilities: list[Floats] = []
    successors: list[Integers] = []
    begin = 0
    while len(codes):
        if len(numbers) * width > most_cells:
            return None
        states = np.unravel_index(codes, sizes)
        try:
            rows = _change_states(pdfa, wrappers, states)
        except UnchangeableError as fault:
            lineage = Lineage(np.concatenate(parents), np.concatenate(last))
            word = lineage.spell(np.array([begin + int(fault.bad.argmax())])).symbols.tolist()
            raise unchangeable_word(pdfa.alphabet, word, fault) from fault
        places, symbols = rows.list_possible()
        after = tuple(
            table[here[places], symbols] for table, here in zip(tables, states, strict=True)
        )
        ahead = np.asarray(np.ravel_multi_index(after, sizes), dtype=np.int64)
        known = len(numbers)
        found = numbers.get_or_add(ahead)
        transitions = np.full((len(codes), width - 1), -1, dtype=np.int64)
        transitions[places, symbols] = found
        probabilities.append(rows.to_dense())
        successors.append(transitions)
        # The new states in the order of their numbers, each with the word that found it first.
        _, first = np.unique(found[found >= known], return_index=True)
        new = (found >= known).nonzero()[0][first]
        parents.append(begin + places[new])
        last.append(symbols[new].astype(np.int32))
        begin += len(codes)
        codes = ahead[new]
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=np.concatenate(successors),
        probabilities=np.concatenate(probabilities),
    )


def _change_states(pdfa: PDFA, wrappers: list[Wrapper], states: tuple[States, ...]) -> Rows:
    """Return the rows of tuples of states: one of the PDFA, then one of each guide."""
    own, of_guides = states[0], iter(states[1:])
    rows = Rows.dense(pdfa.probabilities[own], impossible=pdfa.transitions[own] < 0)
    for wrapper in wrappers:
        here = next(of_guides) if isinstance(wrapper, Guided) else None
        rows = wrapper.change_rows(rows, here)
    return rows
