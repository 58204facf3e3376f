"""ALERGIA of AALpy 2.0.0 on words of a model; it never sees an answer."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray

from benchmarks.distilling.answers import LONGEST, Answers, Floats, Integers
from pdfalearn import PDFA
from pdfalearn.alphabet import Alphabet
from pdfalearn.samplers import Words
from pdfalearn.words import visited_states

Table = NDArray[np.int32]

EPSILONS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 1.0, 1.1, 1.2)
"""The greater, the more states: at 2 nothing is merged."""
PRIORS = (0.5, 5.0)
SECONDS = 60.0
"""After this time a run is given up."""
_INPUT = 0
_DEEP = 100_000


def alergia(answers: Answers, epsilon: float, seconds: float = SECONDS) -> list[PDFA]:
    """Return the automaton of ALERGIA with rows smoothed in several ways; none if it takes long.

    Parameters
    ----------
    answers : Answers
        Whose words to learn from.
    epsilon : float
        The chance of a false alarm in the tests whether states differ.
    seconds : float
        How long it may take. It runs in a process of its own, which is ended then.
    """
    transitions = _in_time(answers.words, len(answers.alphabet), epsilon, seconds)
    if transitions is None:
        return []
    return [counted(transitions, answers.words, answers.alphabet, prior) for prior in PRIORS]


def _in_time(words: Words, terminal: int, epsilon: float, seconds: float) -> Table | None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(theirs, words, terminal, epsilon))
    process.start()
    transitions: Table | None = ours.recv() if ours.poll(seconds) else None
    process.kill()
    process.join()
    return transitions


def _send(connection: Connection, words: Words, terminal: int, epsilon: float) -> None:
    sys.setrecursionlimit(_DEEP)  # of this process alone
    connection.send(merged(words, terminal, epsilon))


def merged(words: Words, terminal: int, epsilon: float) -> Table:
    """Return the transitions that ALERGIA finds, -1 where it has none; state 0 is the initial one.

    The words are those of a stochastic Mealy machine with one input: its outputs are the symbols,
    and in the end one more for the terminal.

    Examples
    --------
    >>> merged(Words.of([(0, 0, 0, 0)] * 9 + [(0, 0)] * 9), 1, 0.05).tolist()
    [[1], [0]]
    """
    from aalpy.learning_algs import run_Alergia

    ends = np.where(words.lengths < LONGEST, 1, 0).tolist()
    data = [
        [(_INPUT, output) for output in word + [terminal] * end]
        for word, end in zip(words, ends, strict=True)
    ]
    machine = run_Alergia(data, "smm", eps=epsilon)
    others = [state for state in machine.states if state is not machine.initial_state]
    states = [machine.initial_state, *others]
    numbers = {state.state_id: number for number, state in enumerate(states)}
    transitions = np.full((len(states), terminal), -1, dtype=np.int32)
    for number, state in enumerate(states):
        for target, output, _ in state.transitions[_INPUT]:
            if output != terminal:
                transitions[number, output] = numbers[target.state_id]
    return transitions


def counted(transitions: Table, words: Words, alphabet: Alphabet, prior: float) -> PDFA:
    """Return an automaton whose rows are what words do in its states, drawn to what all words do.

    A transition that no word takes leads to where its symbol leads most often.

    Parameters
    ----------
    transitions : array of int, shape (states, symbols)
        Those of all words; -1 where there is none.
    words : Words
        The words to count.
    alphabet : Alphabet
        The symbols.
    prior : float
        Rows are drawn to the mean row as if it had been seen this many times more.

    Examples
    --------
    >>> words = Words.of([(0, 0), (0,)])
    >>> counted(np.array([[1], [1]]), words, Alphabet("a"), 0.0).probabilities.round(2).tolist()
    [[0.0, 1.0], [0.67, 0.33]]
    """
    width = len(alphabet) + 1
    table = np.vstack((transitions, np.full((1, width - 1), -1))).astype(np.int32)
    visited = visited_states(table, 0, words).astype(np.int64)
    columns = np.zeros(len(visited), dtype=np.int64)
    is_end = np.zeros(len(visited), dtype=bool)
    is_end[words.ends] = True
    columns[~is_end] = words.symbols + 1
    is_cut = np.zeros(len(visited), dtype=bool)
    is_cut[words.ends[words.lengths == LONGEST]] = True
    cells = (visited * width + columns)[~is_cut]
    counts = np.bincount(cells, minlength=len(transitions) * width).reshape(-1, width)
    rows = counts + prior * _smoothed(counts.sum(axis=0))
    rows = np.where(rows.sum(axis=1, keepdims=True) > 0, rows, 1.0)
    return PDFA(
        alphabet=alphabet,
        transitions=np.where(transitions < 0, _usual(transitions, counts[:, 1:]), transitions),
        probabilities=rows / rows.sum(axis=1, keepdims=True),
    )


def _smoothed(counts: Integers) -> Floats:
    """Return shares, as if every symbol had been seen half a time more."""
    return np.asarray((counts + 0.5) / (counts + 0.5).sum())


def _usual(transitions: Table, counts: Integers) -> Integers:
    """Return where each symbol leads most often; the initial state if nobody knows."""
    states, symbols = transitions.shape
    is_known = transitions >= 0
    targets = np.zeros((symbols, states))
    symbol = np.nonzero(is_known)[1]
    np.add.at(targets, (symbol, transitions[is_known]), counts[is_known])
    return np.asarray(targets.argmax(axis=1))
