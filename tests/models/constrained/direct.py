"""Constrained automata computed directly: products of states, rows in exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from pdfalearn import PDFA, Guided, LanguageModel, Temperature, TopK, TopP
from pdfalearn.languages import DFA

Row = list[Fraction]


class NothingLeftError(Exception):
    """A state's whole mass is cut."""


@dataclass(frozen=True)
class Guide:
    """Only words of a DFA."""

    dfa: DFA

    def wrap(self, model: LanguageModel) -> LanguageModel:
        return Guided(model, self.dfa)

    def kept(self, row: Row, state: int) -> list[bool]:
        useful = completing(self.dfa)
        successors = self.dfa.transitions[state].tolist()
        return [bool(self.dfa.accepting[state]), *(s in useful for s in successors)]

    def step(self, state: int, symbol: int) -> int:
        return int(self.dfa.transitions[state, symbol])


@dataclass(frozen=True)
class Best:
    """The k most probable."""

    k: int

    def wrap(self, model: LanguageModel) -> LanguageModel:
        return TopK(model, self.k)

    def kept(self, row: Row, state: int) -> list[bool]:
        order = sorted(range(len(row)), key=lambda column: (-row[column], column))
        return [row[c] > 0 and c in order[: self.k] for c in range(len(row))]


@dataclass(frozen=True)
class Nucleus:
    """The fewest with a mass of p, a decimal."""

    p: str

    def wrap(self, model: LanguageModel) -> LanguageModel:
        return TopP(model, float(self.p))

    def kept(self, row: Row, state: int) -> list[bool]:
        order = sorted(range(len(row)), key=lambda column: (-row[column], column))
        kept: set[int] = set()
        while order and sum((row[c] for c in kept), Fraction(0)) < Fraction(self.p):
            kept.add(order.pop(0))
        return [row[c] > 0 and c in kept for c in range(len(row))]


@dataclass(frozen=True)
class Heat:
    """Probabilities to the power 1/t."""

    temperature: float

    def wrap(self, model: LanguageModel) -> LanguageModel:
        return Temperature(model, self.temperature)


Constraint = Guide | Best | Nucleus | Heat


def wrapped(model: LanguageModel, constraints: list[Constraint]) -> LanguageModel:
    """Wrap a model, the first constraint innermost."""
    for constraint in constraints:
        model = constraint.wrap(model)
    return model


@cache
def completing(dfa: DFA) -> set[int]:
    """The states from which an accepting one can be reached."""
    found = {state for state in range(len(dfa)) if dfa.accepting[state]}
    while True:
        more = {q for q in range(len(dfa)) if found & set(dfa.transitions[q].tolist())} | found
        if more == found:
            return found
        found = more


def product(target: PDFA, constraints: list[Constraint]) -> PDFA:
    """Walk target and guides together; filter the rows of the pairs that are met."""
    guides = [c for c in constraints if isinstance(c, Guide)]
    start = (target.initial, *(guide.dfa.initial for guide in guides))
    met, rows, transitions = [start], [], []
    for key in met:
        row, defined = filtered(target, key, constraints)
        rows.append([float(p) for p in row])
        successors = []
        for symbol, is_defined in enumerate(defined):
            ahead = (
                int(target.transitions[key[0], symbol]),
                *(g.step(q, symbol) for g, q in zip(guides, key[1:], strict=True)),
            )
            if is_defined and ahead not in met:
                met.append(ahead)
            successors.append(met.index(ahead) if is_defined else -1)
        transitions.append(successors)
    return PDFA(alphabet=target.alphabet, transitions=transitions, probabilities=rows)


def filtered(
    target: PDFA, key: tuple[int, ...], constraints: list[Constraint]
) -> tuple[Row, list[bool]]:
    """Return the row of a product state, and which symbols are defined there."""
    row = normal([Fraction(p).limit_denominator(1000) for p in target.probabilities[key[0]]])
    defined = [successor >= 0 for successor in target.transitions[key[0]].tolist()]
    states = iter(key[1:])
    for constraint in constraints:
        if isinstance(constraint, Heat):
            power = 1 / constraint.temperature
            row = [p ** int(power) if power == int(power) else Fraction(p**power) for p in row]
        else:
            kept = constraint.kept(row, next(states) if isinstance(constraint, Guide) else 0)
            row = [p if is_kept else Fraction(0) for p, is_kept in zip(row, kept, strict=True)]
            defined = [d and is_kept for d, is_kept in zip(defined, kept[1:], strict=True)]
        row = normal(row)
    return row, defined


def normal(row: Row) -> Row:
    if not any(row):
        raise NothingLeftError
    return [p / sum(row) for p in row]
