"""Models held to what a guide allows, and the automaton that a PDFA in guides is."""

from __future__ import annotations

import re
from hashlib import sha256
from math import prod

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.arrays import IntMap
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA, over_alphabet, regex_dfa, trim_dfa
from pdfalearn.models.automaton import AutomatonModel, WordStates
from pdfalearn.models.batch import Batch
from pdfalearn.models.constrained._rows import (
    SPARSE_ABOVE,
    UnchangeableError,
    refuse_undecided,
    spread_rows,
)
from pdfalearn.models.constrained.top import TopK, TopP
from pdfalearn.models.constrained.wrapper import (
    OpenedWrapper,
    States,
    Temperature,
    Wrapper,
    unchangeable_word,
)
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Flags, Floats, Integers

_MOST_CELLS = 10**7
"""A product has at most this many probabilities."""


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


def wrapped_pdfa(model: LanguageModel, *, most_cells: int = _MOST_CELLS) -> PDFA | None:
    """Return the automaton that a PDFA in any number of wrappers is.

    Its rows are made by the wrappers themselves, so that they are those of the wrapped model to the
    last bit. What a wrapper cuts is undefined.

    Parameters
    ----------
    model : LanguageModel
        An `AutomatonModel`, in `Guided`, `TopK`, `TopP` and `Temperature` or in none of them.
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
    while isinstance(model, Wrapper) and type(model) in (Guided, TopK, TopP, Temperature):
        wrappers.append(model)
        model = model.model
    if type(model) is not AutomatonModel:
        return None
    if not wrappers:
        return model.pdfa
    walk = _Walk(model.pdfa, wrappers[::-1])
    return walk.automaton(most_cells) if walk.can_be_numbered else None


class _Walk:
    """Goes through a PDFA and guides at once, breadth first.

    Parameters
    ----------
    pdfa : PDFA
        The automaton inside.
    wrappers : list of Wrapper
        What is around it, the innermost first.
    """

    def __init__(self, pdfa: PDFA, wrappers: list[Wrapper]) -> None:
        self._pdfa = pdfa
        self._wrappers = wrappers
        guides = (wrapper.guide for wrapper in wrappers if isinstance(wrapper, Guided))
        automata: list[PDFA | DFA] = [pdfa, *guides]
        self._tables = [automaton.transitions for automaton in automata]
        self._initials = tuple(automaton.initial for automaton in automata)
        self._sizes = tuple(len(automaton) for automaton in automata)
        self._parents: list[Integers] = [np.zeros(1, dtype=np.int64)]
        self._symbols: list[Integers] = [np.zeros(1, dtype=np.int64)]

    @property
    def can_be_numbered(self) -> bool:
        """Whether all tuples of states fit into integers."""
        return prod(self._sizes) < 2**62

    def automaton(self, most_cells: int) -> PDFA | None:
        """Return the reachable part of the product, if it is not too large."""
        numbers, width = IntMap(), len(self._pdfa.alphabet) + 1
        codes = np.array([np.ravel_multi_index(self._initials, self._sizes)], dtype=np.int64)
        numbers.get_or_add(codes)
        tables: list[Floats] = []
        successors: list[NDArray[np.int64]] = []
        begin = 0
        while len(codes):
            if len(numbers) * width > most_cells:
                return None
            states = np.unravel_index(codes, self._sizes)
            rows = self._rows(states, begin)
            places, symbols = _possible(rows)
            after = tuple(
                table[here[places], symbols]
                for table, here in zip(self._tables, states, strict=True)
            )
            ahead = np.asarray(np.ravel_multi_index(after, self._sizes), dtype=np.int64)
            known = len(numbers)
            found = numbers.get_or_add(ahead)
            transitions = np.full((len(codes), width - 1), -1, dtype=np.int64)
            transitions[places, symbols] = found
            tables.append(rows.to_dense())
            successors.append(transitions)
            _, first = np.unique(found[found >= known], return_index=True)
            new = (found >= known).nonzero()[0][first]
            self._parents.append(begin + places[new])
            self._symbols.append(symbols[new])
            begin += len(codes)
            codes = ahead[new]
        return PDFA(
            alphabet=self._pdfa.alphabet,
            transitions=np.concatenate(successors),
            probabilities=np.concatenate(tables),
        )

    def _rows(self, states: tuple[NDArray[np.intp], ...], begin: int) -> Rows:
        """Return the rows of tuples of states, the first of them being the state of a number."""
        own, *guided = states
        of_guides = iter(guided)
        impossible = self._pdfa.transitions[own] < 0
        rows = Rows.dense(self._pdfa.probabilities[own], impossible=impossible)
        for wrapper in self._wrappers:
            try:
                rows = wrapper.change_rows(
                    rows, next(of_guides) if isinstance(wrapper, Guided) else None
                )
            except UnchangeableError as fault:
                word = self._access_word(begin + int(fault.bad.argmax()))
                raise unchangeable_word(self._pdfa.alphabet, word, fault) from fault
        return rows

    def _access_word(self, state: int) -> list[int]:
        """Return the word by which a state was found."""
        parents, symbols = np.concatenate(self._parents), np.concatenate(self._symbols)
        word: list[int] = []
        while state:
            word.append(int(symbols[state]))
            state = int(parents[state])
        return word[::-1]


def _possible(rows: Rows) -> tuple[Integers, Integers]:
    """Return what may follow rows, as pairs of a place and a symbol."""
    if rows.columns is not None:
        listed = rows.columns > 0
        return rows.row_numbers[listed], rows.columns[listed].astype(np.int64) - 1
    if rows.impossible is None:
        raise TypeError("rows of wrappers say what is impossible")
    places, symbols = (~rows.impossible).nonzero()
    return places, symbols
