"""DFA: deterministic finite automata, which only decide whether words are allowed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.alphabet import Alphabet, Symbol, Word, shorten
from pdfalearn.arrays import reaching
from pdfalearn.checks import check_integer, check_transitions
from pdfalearn.errors import InputError
from pdfalearn.frozen import Frozen
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in
from pdfalearn.text import count_text
from pdfalearn.words import visited_states


class DFA(Frozen):
    """A deterministic finite automaton, for use as a guide.

    States are the integers 0, 1, …. A DFA never changes after it is made.

    Parameters
    ----------
    alphabet : iterable of hashable, or Alphabet
        The symbols, in the order of the columns of ``transitions``.
    transitions : array_like of int, shape (states, symbols)
        The successor of every state and symbol; -1 where there is none.
    accepting : array_like of bool, shape (states,)
        Whether a word may end in each state.
    initial : int
        The initial state.

    Examples
    --------
    >>> even = DFA(alphabet="ab", transitions=[[1, 0], [0, -1]], accepting=[True, False])
    >>> even
    DFA(2 states, 2 symbols, initial=0)
    >>> even.accepts("baab"), even.accepts("ba"), even.accepts("abba")
    (True, False, False)
    """

    alphabet: Alphabet
    transitions: NDArray[np.int32]
    accepting: NDArray[np.bool_]
    initial: int
    table: NDArray[np.int32]  # one row more, all -1, as in a PDFA

    def __init__(
        self,
        *,
        alphabet: Iterable[Symbol] | Alphabet,
        transitions: ArrayLike,
        accepting: ArrayLike,
        initial: int = 0,
    ) -> None:
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet)
        ends = np.array(accepting)
        if ends.ndim != 1 or not len(ends) or ends.dtype.kind != "b":
            raise InputError(f"accepting {accepting!r} has to be True or False for each state")
        ends.setflags(write=False)
        _check_length(transitions, ends)
        no_probability = np.broadcast_to(0.0, (len(ends), len(alphabet) + 1))
        table = check_transitions(transitions, no_probability, alphabet)
        self.__dict__.update(alphabet=alphabet, transitions=table[:-1], accepting=ends, table=table)
        self.__dict__["initial"] = check_integer(initial, "initial state", 0, len(self) - 1)

    def __reduce__(self) -> tuple[object, ...]:
        names = ("alphabet", "transitions", "accepting", "initial")
        return partial(DFA, **{name: getattr(self, name) for name in names}), ()

    def __len__(self) -> int:
        return len(self.transitions)

    def __repr__(self) -> str:
        sizes = count_text(len(self), "states"), count_text(len(self.alphabet), "symbols")
        return f"DFA({', '.join(sizes)}, initial={self.initial})"

    def accepts(self, word: Word) -> bool:
        """Return whether a word is allowed."""
        end = int(visited_states(self.table, self.initial, self.alphabet.encode_words([word]))[-1])
        return end >= 0 and bool(self.accepting[end])


def _check_length(transitions: ArrayLike, accepting: NDArray[np.bool_]) -> None:
    try:
        rows = len(np.asarray(transitions))
    except (TypeError, ValueError):
        return  # no table at all, as the next check will say
    if rows != len(accepting):
        raise InputError(
            f"transitions have {rows} rows and accepting {len(accepting)} values; "
            "both need one for each state"
        )


def over_alphabet(dfa: DFA, alphabet: Alphabet, name: str, owner: str) -> DFA:
    """Put a DFA's columns into the order of an alphabet; symbols that it lacks lead nowhere.

    The error about a symbol that is not there names the DFA, and whose alphabet it is.

    Examples
    --------
    >>> dfa = DFA(alphabet="b", transitions=[[0]], accepting=[True])
    >>> over_alphabet(dfa, Alphabet("ab"), "language", "automaton").transitions.tolist()
    [[-1, 0]]
    """
    if dfa.alphabet.symbols == alphabet.symbols:
        return dfa
    for symbol in dfa.alphabet:
        if symbol not in alphabet:
            raise InputError(
                f"symbol {symbol!r} of the {name} is not one of the {owner}'s: "
                f"{shorten(alphabet.symbols)}"
            )
    transitions = np.full((len(dfa), len(alphabet)), -1)
    transitions[:, [alphabet.index(symbol) for symbol in dfa.alphabet]] = dfa.transitions
    ends, initial = dfa.accepting, dfa.initial
    return DFA(alphabet=alphabet, transitions=transitions, accepting=ends, initial=initial)


def trim_dfa(dfa: DFA) -> DFA | None:
    """Keep the states on the way to an accepting state, breadth first; None if no word is accepted.

    Examples
    --------
    >>> trim_dfa(DFA(alphabet="a", transitions=[[1], [1]], accepting=[True, False]))
    DFA(1 state, 1 symbol, initial=0)
    """
    sources, columns = (dfa.transitions >= 0).nonzero()
    useful = reaching(sources, dfa.transitions[sources, columns], dfa.accepting)
    if not useful[dfa.initial]:
        return None
    transitions = np.where(np.append(useful, False)[dfa.transitions], dfa.transitions, -1)
    part = reachable_in(transitions.astype(np.int32), dfa.initial)
    numbers = np.append(part.numbers(len(dfa)), np.int32(-1))
    table = numbers[transitions[part.states]]
    return DFA(alphabet=dfa.alphabet, transitions=table, accepting=dfa.accepting[part.states])


def complement(dfa: DFA) -> DFA:
    """Return a DFA of all words that this one does not accept.

    Examples
    --------
    >>> others = complement(DFA(alphabet="ab", transitions=[[0, -1]], accepting=[True]))
    >>> others.accepts("aa"), others.accepts("aba")
    (False, True)
    """
    nowhere = len(dfa)
    table = np.where(dfa.table < 0, nowhere, dfa.table)  # its last row is the new state's
    ends = np.append(~dfa.accepting, True)
    return DFA(alphabet=dfa.alphabet, transitions=table, accepting=ends, initial=dfa.initial)


def find_support(pdfa: PDFA) -> DFA:
    """Return the automaton of the words of positive probability, with the same states.

    Examples
    --------
    >>> pdfa = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.5, 0.5, 0]])
    >>> find_support(pdfa).accepts("aa"), find_support(pdfa).accepts("b")
    (True, False)
    """
    may = pdfa.probabilities > 0
    return DFA(
        alphabet=pdfa.alphabet,
        transitions=np.where(may[:, 1:], pdfa.transitions, -1),
        accepting=may[:, 0],
        initial=pdfa.initial,
    )
