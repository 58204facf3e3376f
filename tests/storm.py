"""The model checker Storm, a judge from outside: what it says of chains that we have written.

Storm is under the GPL and only asked here and in benchmarks; the package never imports it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn import PDFA
from pdfalearn.languages import DFA
from tests.support import need_module

Floats = NDArray[np.float64]
Labels = Mapping[str, NDArray[np.bool_]]


def add_labels(path: Path, labels: Labels) -> None:
    """Add labels to the states of a chain in a file."""
    lines = path.read_text().splitlines()
    for place, line in enumerate(lines):
        if line.startswith("state "):
            state = int(line.split()[1])
            lines[place] += "".join(
                f" {name}" for name, has_it in labels.items() if has_it[state : state + 1].any()
            )
    path.write_text("\n".join([*lines, ""]))


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


class Product:
    """A PDFA that reads two symbols more, which say whether a word was in the language.

    Pairs of states are all there, reachable or not. The terminal's probability becomes that of the
    symbol "yes" or "no"; the last two states are those after them.
    """

    def __init__(self, pdfa: PDFA, dfa: DFA) -> None:
        sink = len(dfa)  # where the DFA has no successor
        moves = np.where(dfa.table < 0, sink, dfa.table)
        self._states, self._width = len(pdfa) * len(moves), len(pdfa.alphabet)
        self._lefts, rights = np.divmod(np.arange(self._states), len(moves))
        is_accepted = np.append(dfa.accepting, False)[rights]
        self._ends = np.where(is_accepted, self._width, self._width + 1)
        transitions = np.full((self._states + 2, self._width + 2), -1)
        after = pdfa.transitions[self._lefts]
        transitions[:-2, : self._width] = np.where(
            after < 0, -1, after * len(moves) + moves[rights]
        )
        transitions[np.arange(self._states), self._ends] = self._states + self._ends - self._width
        self.pdfa = PDFA(
            alphabet=[*pdfa.alphabet, "yes", "no"],
            transitions=transitions,
            probabilities=self.table(pdfa.probabilities),
            initial=pdfa.initial * len(moves) + dfa.initial,
        )
        self.labels = {"yes": np.arange(self._states + 2) == self._states}

    def table(self, rows: Floats) -> Floats:
        """Return a table of the PDFA, such as its probabilities, for the states of the product."""
        table = np.zeros((self._states + 2, self._width + 3))
        table[:-2, 1 : self._width + 1] = rows[self._lefts, 1:]
        table[np.arange(self._states), self._ends + 1] = rows[self._lefts, 0]
        table[-2:, 0] = 1.0
        return table


def extremes(pdfa: PDFA, lows: Floats, highs: Floats, labels: Labels, folder: Path) -> list[float]:
    """The least and the greatest P(F yes) and steps to the end, over all choices in boxes.

    The corners of every state's box are the actions of a decision process, which Storm solves in
    exact arithmetic.
    """
    path = folder / "corners.drn"
    path.write_text("".join(_decision_process(pdfa, lows, highs, labels)))
    formulas = ['Pmin=? [F "yes"]', 'Pmax=? [F "yes"]', 'Rmin=? [F "end"]', 'Rmax=? [F "end"]']
    return [float(value) for value in exact(path, *formulas)]


def _decision_process(pdfa: PDFA, lows: Floats, highs: Floats, labels: Labels) -> Iterator[str]:
    end = len(pdfa)
    actions = [list(_corners(low, high)) for low, high in zip(lows, highs, strict=True)]
    yield "@type: MDP\n@value_type: rational\n@parameters\n\n@reward_models\nsteps\n"
    yield f"@nr_states\n{end + 1}\n@nr_choices\n{sum(map(len, actions)) + 1}\n@model\n"
    for state, corners in enumerate(actions):
        names = "".join(f" {name}" for name, has_it in labels.items() if has_it[state])
        yield f"state {state} [1]{' init' if state == pdfa.initial else ''}{names}\n"
        targets = [end, *pdfa.transitions[state].tolist()]
        for number, corner in enumerate(corners):
            yield f"\taction {number} [0]\n"
            masses: dict[int, Fraction] = {}
            for target, mass in zip(targets, corner, strict=True):
                if mass:
                    masses[target] = masses.get(target, Fraction(0)) + mass
            yield from (f"\t\t{target} : {masses[target]}\n" for target in sorted(masses))
    yield f"state {end} [0] end\n\taction 0 [0]\n\t\t{end} : 1\n"


def _corners(low: Floats, high: Floats) -> Iterator[tuple[Fraction, ...]]:
    """All corners of a box that is cut with the simplex: all but one value at an end."""
    ends = [(Fraction(a), Fraction(b)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    seen = set()
    for free, (least, most) in enumerate(ends):
        for others in itertools.product(*(ends[:free] + ends[free + 1 :])):
            rest = 1 - sum(others, Fraction(0))
            if least <= rest <= most:
                seen.add((*others[:free], rest, *others[free:]))
    yield from sorted(seen)
