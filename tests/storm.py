"""The model checker Storm, a judge from outside: what it says of chains that we have written.

Storm is under the GPL and only asked here and in benchmarks; the package never imports it.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn import DFA, PDFA
from tests.support import need_module


def exact(path: Path, *formulas: str) -> list[Fraction | float]:
    """What Storm computes for the initial state in exact arithmetic on the decimals of a file."""
    storm = need_module("stormpy")
    return _values(storm, storm.build_model_from_drn[storm.Rational](str(path)), formulas)


def exact_of_program(path: Path, *formulas: str) -> list[Fraction | float]:
    """The same for a program in PRISM's language."""
    storm = need_module("stormpy")
    program = storm.parse_prism_program(str(path))
    return _values(storm, storm.build_model[storm.Rational](program), formulas)


def _values(storm: Any, model: Any, formulas: tuple[str, ...]) -> list[Fraction | float]:
    environment = storm.environments.exact()
    (initial,) = model.initial_states
    values: list[Fraction | float] = []
    for formula in formulas:
        (parsed,) = storm.parse_properties(formula)
        value = storm.model_checking(model, parsed, environment=environment).get_value(initial)
        infinite = str(value) in ("inf", "infinity") or value == storm.Rational(-1)
        values.append(float("inf") if infinite else Fraction(str(value)))
    return values


def interval_values(path: Path, formula: str) -> tuple[float, float]:
    """What Storm computes for the least and the greatest value over all choices of intervals."""
    storm = need_module("stormpy")
    model = storm.build_model_from_drn[storm.Interval](str(path))
    environment = storm.environments.sound()
    environment.solver().min_max().precision = storm.Rational("1/1000000000000")
    (initial,) = model.initial_states
    (parsed,) = storm.parse_properties(formula)
    modes = storm.UncertaintyResolutionMode
    least, greatest = (
        storm.model_checking(
            model, parsed, environment=environment, uncertainty_resolution_mode=mode
        ).get_value(initial)
        for mode in (modes.MINIMIZE, modes.MAXIMIZE)
    )
    return float(least), float(greatest)


def product(pdfa: PDFA, dfa: DFA) -> tuple[PDFA, NDArray[np.bool_]]:
    """A PDFA that reads two symbols more, which say whether a word was in the language.

    Pairs of states are all there, reachable or not. The terminal's probability becomes that of the
    symbol "yes" or "no"; the last two states are those after them. Also returned: where "yes" led.
    """
    sink = len(dfa)  # where the DFA has no successor
    moves = np.where(dfa.table < 0, sink, dfa.table)
    accepting = np.append(dfa.accepting, False)
    states, width = len(pdfa) * len(moves), len(pdfa.alphabet)
    q, d = np.divmod(np.arange(states), len(moves))
    transitions = np.full((states + 2, width + 2), -1)
    after = pdfa.transitions[q]
    transitions[:states, :width] = np.where(after < 0, -1, after * len(moves) + moves[d])
    rows = np.zeros((states + 2, width + 3))
    rows[:states, 1 : width + 1] = pdfa.probabilities[q, 1:]
    ends = np.where(accepting[d], width, width + 1)
    rows[np.arange(states), ends + 1] = pdfa.probabilities[q, 0]
    transitions[np.arange(states), ends] = states + (ends - width)
    rows[states:, 0] = 1.0
    both = PDFA(
        alphabet=[*pdfa.alphabet, "yes", "no"],
        transitions=transitions,
        probabilities=rows,
        initial=pdfa.initial * len(moves) + dfa.initial,
    )
    return both, np.arange(states + 2) == states
