"""Named automata: the paper's figures, well-known grammars, and hard cases."""

from __future__ import annotations

import numpy as np

from pdfalearn.checks import check_integer, check_number, make_generator
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats


def figure_1(epsilon: float = 0.0) -> PDFA:
    """Return the paper's Figure 1: A, which maps aⁿ to 0.5ⁿ for n ≥ 1, or A_ε.

    Parameters
    ----------
    epsilon : float
        0 for A; up to 0.5 for A_ε, whose second state stops with probability 0.5 + ε.

    Examples
    --------
    >>> figure_1().probability("aa"), figure_1(0.25).probability("aa")
    (0.25, 0.1875)
    """
    epsilon = check_number(epsilon, "epsilon", 0, 0.5)
    return PDFA(
        alphabet="a",
        transitions=[[1], [1]],
        probabilities=[[0.0, 1.0], [0.5 + epsilon, 0.5 - epsilon]],
    )


def figure_2() -> tuple[PDFA, PDFA]:
    """Return the paper's Figure 2: A and B compute the same function and are not equivalent.

    Both are weakly minimal; B, with a state more, is not minimal.

    Examples
    --------
    >>> a, b = figure_2()
    >>> len(a), len(b), bool(np.isclose(a.probability("abab"), b.probability("abab")))
    (4, 5, True)
    """
    smaller = PDFA(
        alphabet="ab",
        transitions=[[1, 3], [3, 2], [1, 3], [3, 3]],
        probabilities=[[0, 0.1, 0.9], [0, 0.8, 0.2], [0.3, 0.1, 0.6], [0, 0.5, 0.5]],
    )
    larger = PDFA(
        alphabet="ab",
        transitions=[[1, 3], [3, 2], [4, 3], [3, 3], [3, 2]],
        probabilities=[[0, 0.1, 0.9], [0, 0.8, 0.2], [0.3, 0.2, 0.5], [0, 0.5, 0.5], [0, 0.9, 0.1]],
    )
    return smaller, larger


def figure_3() -> PDFA:
    """Return the paper's Figure 3: four states with access words λ, 0, 1 and 10.

    Examples
    --------
    >>> figure_3().next_distribution("10")
    array([0.1, 0.3, 0.6])
    """
    return PDFA(
        alphabet="01",
        transitions=[[1, 2], [1, 3], [3, 2], [1, 2]],
        probabilities=[[0, 0.5, 0.5], [0.1, 0.3, 0.6], [0.1, 0.6, 0.3], [0.1, 0.3, 0.6]],
    )


# Minimal complete automata of the grammars: the accepting states, and the transitions on 0 and 1.
_TOMITA: list[tuple[set[int], list[list[int]]]] = [
    ({0}, [[1, 0], [1, 1]]),
    ({0}, [[2, 1], [0, 2], [2, 2]]),
    ({0, 1, 2}, [[0, 1], [3, 0], [3, 1], [2, 4], [4, 4]]),
    ({0, 1, 2}, [[1, 0], [2, 0], [3, 0], [3, 3]]),
    ({0}, [[1, 2], [0, 3], [3, 0], [2, 1]]),
    ({0}, [[1, 2], [2, 0], [0, 1]]),
    ({0, 1, 2, 3}, [[0, 1], [2, 1], [2, 3], [4, 3], [4, 4]]),
]


def tomita(number: int) -> PDFA:
    """Return a probabilistic Tomita grammar: one of two distributions for each accepting state.

    Parameters
    ----------
    number : int
        1 to 7. 1: only 1s. 2: repetitions of 10. 3: no odd run of 1s directly followed by an odd
        run of 0s. 4: no 000. 5: even numbers of 0s and of 1s. 6: as many 0s as 1s modulo 3.
        7: of the form 0*1*0*1*.

    Notes
    -----
    Over ($, 0, 1), accepting states have (.05, .665, .285) and the others (.05, .285, .665).

    Examples
    --------
    >>> [len(tomita(number)) for number in range(1, 8)]
    [2, 3, 5, 4, 4, 3, 5]
    """
    number = check_integer(number, "Tomita grammar", 1, 7)
    accepting, transitions = _TOMITA[number - 1]
    accepts, rejects = [0.05, 0.665, 0.285], [0.05, 0.285, 0.665]
    rows = [accepts if state in accepting else rejects for state in range(len(transitions))]
    return PDFA(alphabet="01", transitions=transitions, probabilities=rows)


def reber() -> PDFA:
    """Return the finite-state grammar of Reber (1967), with even odds wherever there is a choice.

    Six states over P, S, T, V and X; words have three letters or more. Words that are not of the
    grammar are undefined. Where the grammar is written with B and E, these are the begin of a word
    and the terminal.

    Notes
    -----
    A. S. Reber, Implicit learning of artificial grammars, Journal of Verbal Learning and Verbal
    Behavior 6 (1967).

    Examples
    --------
    >>> reber().probability("TXS"), reber().probability("PTVPS"), reber().state_after("TV")
    (0.125, 0.03125, None)
    """
    arcs = [{"T": 1, "P": 2}, {"S": 1, "X": 3}, {"T": 2, "V": 4}, {"X": 2, "S": 5}]
    arcs += [{"P": 3, "V": 5}, {}]
    letters = "PSTVX"
    rows = [[0.0 if arc else 1.0, *(letter in arc and 0.5 for letter in letters)] for arc in arcs]
    return PDFA(
        alphabet=letters,
        transitions=[[arc.get(letter, -1) for letter in letters] for arc in arcs],
        probabilities=np.array(rows, dtype=np.float64),
    )


def chain(size: int, *, reset: bool = False) -> PDFA:
    """Return a chain of states; only the last, which loops, has another distribution.

    Parameters
    ----------
    size : int
        The number of states.
    reset : bool
        Add a second symbol "r" that leads every state back to the first.

    Examples
    --------
    >>> chain(3).transitions.tolist(), chain(2, reset=True).transitions.tolist()
    ([[1], [2], [2]], [[1, 0], [1, 0]])
    """
    size = check_integer(size, "size", 1)
    onwards = np.minimum(np.arange(1, size + 1), size - 1)
    transitions = np.column_stack((onwards, np.zeros_like(onwards)) if reset else (onwards,))
    return PDFA(
        alphabet="ar" if reset else "a",
        transitions=transitions,
        probabilities=_all_but_the_last_alike(*transitions.shape),
    )


def combination_lock(size: int, symbols: int = 2, *, seed: int = 0) -> PDFA:
    """Return a lock that one secret word of length size - 1 opens.

    In every state one symbol, drawn at random, leads on and all others back to the start. Only the
    last state, the open lock, has another distribution; it loops.

    Parameters
    ----------
    size : int
        The number of states.
    symbols : int
        The number of symbols, "0", "1", ….
    seed : int
        Seed of the secret word.

    Examples
    --------
    >>> lock = combination_lock(3, seed=1)
    >>> lock.transitions.tolist()
    [[0, 1], [0, 2], [2, 2]]
    """
    size = check_integer(size, "size", 1)
    symbols = check_integer(symbols, "symbols", 1)
    secret = (make_generator(seed).random(size - 1) * symbols).astype(np.intp)
    transitions = np.zeros((size, symbols), dtype=np.int32)
    transitions[np.arange(size - 1), secret] = np.arange(1, size)
    transitions[-1] = size - 1
    return PDFA(
        alphabet=[str(symbol) for symbol in range(symbols)],
        transitions=transitions,
        probabilities=_all_but_the_last_alike(size, symbols),
    )


def _all_but_the_last_alike(size: int, symbols: int) -> Floats:
    """Return uniform distributions, and for the last state one that mostly stops."""
    probabilities = np.full((size, symbols + 1), 1 / (symbols + 1))
    probabilities[-1] = [0.75] + [0.25 / symbols] * symbols
    return probabilities
