"""The automaton that a PDFA in wrappers is: states of the PDFA and of all guides together."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import IntMap
from pdfalearn.languages import DFA
from pdfalearn.models.automaton import AutomatonModel
from pdfalearn.models.constrained._rows import UnchangeableError
from pdfalearn.models.constrained.guided import Guided
from pdfalearn.models.constrained.temperature import Temperature
from pdfalearn.models.constrained.top import TopK, TopP
from pdfalearn.models.constrained.wrapper import Wrapper, unchangeable_word
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Rows
from pdfalearn.typing import Floats, Integers

_MOST_CELLS = 10**7
"""A product has at most this many probabilities."""


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
    >>> from pdfalearn import figure_3
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
