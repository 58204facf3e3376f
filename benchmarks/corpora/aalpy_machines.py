"""ALERGIA of AALpy on words that end: a Mealy machine of one input, the end one more output."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INPUT = 0
# AALpy goes down trees of prefixes by recursion.
_DEEP = 100_000


@contextmanager
def allow_recursion() -> Iterator[None]:
    """Let AALpy go deep, without its warnings; afterwards the limit is what it was before."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEP)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.setrecursionlimit(limit)


def traces_of(words: Iterable[Sequence[int]], symbols: int) -> list[list[tuple[int, int]]]:
    """Return the words as AALpy wants them, the end behind each as one more symbol."""
    return [[(_INPUT, symbol) for symbol in (*word, symbols)] for word in sorted(map(tuple, words))]


def alergia_of_aalpy(words: Iterable[Sequence[int]], symbols: int, epsilon: float) -> Any:
    """Run ``run_Alergia``."""
    from aalpy.learning_algs import run_Alergia

    return run_Alergia(traces_of(words, symbols), "smm", eps=epsilon)


def merging_of_aalpy(
    words: Iterable[Sequence[int]], symbols: int, epsilon: float, *, recorded: bool
) -> Any:
    """Run ``run_GSM`` with the criterion of ALERGIA, blue nodes in shortlex order."""
    from aalpy.learning_algs.general_passive.DataHandler import CountOnPTADataHandler
    from aalpy.learning_algs.general_passive.GeneralizedStateMerging import run_GSM
    from aalpy.learning_algs.general_passive.ScoreFunctionsGSM import ScoreIOAlergiaWithEDSM

    return run_GSM(
        traces_of(words, symbols),
        output_behavior="mealy",
        transition_behavior="stochastic",
        data_handler=CountOnPTADataHandler(),
        score_calc=ScoreIOAlergiaWithEDSM(epsilon, recorded, recorded, False),
        node_order="short-lex",
        consider_only_min_blue=True,
        data_format="io_traces",
    )


def read_machine(machine: Any, symbols: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return transitions and rows of a machine, states breadth first, the end's share first."""
    states, numbers = [machine.initial_state], {id(machine.initial_state): 0}
    for state in states:
        for target, output, _ in sorted(state.transitions[_INPUT], key=lambda move: move[1]):
            if output < symbols and id(target) not in numbers:
                numbers[id(target)] = len(states)
                states.append(target)
    transitions = np.full((len(states), symbols), -1)
    rows = np.zeros((len(states), symbols + 1))
    for number, state in enumerate(states):
        for target, output, probability in state.transitions[_INPUT]:
            rows[number, (output + 1) % (symbols + 1)] = probability
            if output < symbols:
                transitions[number, output] = numbers[id(target)]
    return transitions, rows
