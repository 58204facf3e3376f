"""Parts and combinations of DFA: over another alphabet, trimmed, complemented."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.arrays.reaching import reaching
from pdfalearn.dfa import DFA
from pdfalearn.errors import InputError
from pdfalearn.reachability import reachable_in


def over_alphabet(dfa: DFA, alphabet: Alphabet, name: str, owner: str) -> DFA:
    """Put a DFA's columns into the order of an alphabet; symbols that it lacks lead nowhere.

    Parameters
    ----------
    dfa : DFA
        Its symbols have to be in the alphabet.
    alphabet : Alphabet
        The symbols of the result.
    name, owner : str
        What the DFA is, and whose alphabet it is, for the error.

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


def completing(dfa: DFA) -> NDArray[np.bool_]:
    """Return the states from which an accepting state can be reached, by a search backwards.

    Examples
    --------
    >>> completing(DFA(alphabet="a", transitions=[[1], [1]], accepting=[True, False]))
    array([ True, False])
    """
    sources, columns = (dfa.transitions >= 0).nonzero()
    return reaching(sources, dfa.transitions[sources, columns], dfa.accepting)


def trimmed(dfa: DFA) -> DFA | None:
    """Keep the states on the way to an accepting state, breadth first; None if no word is accepted.

    Examples
    --------
    >>> trimmed(DFA(alphabet="a", transitions=[[1], [1]], accepting=[True, False]))
    DFA(1 state, 1 symbol, initial=0)
    """
    useful = completing(dfa)
    if not useful[dfa.initial]:
        return None
    transitions = np.where(np.append(useful, False)[dfa.transitions], dfa.transitions, -1)
    part = reachable_in(transitions.astype(np.int32), dfa.initial)
    numbers = np.append(part.numbers(len(dfa)), np.int32(-1))
    return DFA(
        alphabet=dfa.alphabet,
        transitions=numbers[transitions[part.states]],
        accepting=dfa.accepting[part.states],
    )


def complement(dfa: DFA) -> DFA:
    """Return a DFA of all words that this one does not accept.

    Examples
    --------
    >>> others = complement(DFA(alphabet="ab", transitions=[[0, -1]], accepting=[True]))
    >>> others.accepts("aa"), others.accepts("aba")
    (False, True)
    """
    nowhere = len(dfa)
    transitions = np.where(dfa.table < 0, nowhere, dfa.table)  # its last row is the new state's
    return DFA(
        alphabet=dfa.alphabet,
        transitions=transitions,
        accepting=np.append(~dfa.accepting, True),
        initial=dfa.initial,
    )
