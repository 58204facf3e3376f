"""Slow and plain answers: exact fractions, and all words up to a length."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from pdfalearn import PDFA
from tests.strategies import pdfas

CLOSE_TO_ONE = [0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9]


@st.composite
def automata(draw: st.DrawFn, max_states: int = 6) -> PDFA:
    """PDFA over a and b: zeros, undefined transitions, dead ends, bottoms, loops near 1."""
    pdfa = draw(pdfas(max_states=max_states, alphabet="ab"))
    if not draw(st.booleans()):
        return pdfa
    rows, transitions = pdfa.probabilities.copy(), pdfa.transitions.copy()
    state = draw(st.integers(0, len(pdfa) - 1))
    loop = draw(st.sampled_from(CLOSE_TO_ONE))
    rows[state] = [1 - loop, loop, 0.0]
    transitions[state, 0] = draw(st.integers(0, len(pdfa) - 1))
    return PDFA(alphabet="ab", transitions=transitions, probabilities=rows, initial=pdfa.initial)


def words_with_mass(pdfa: PDFA, longest: int) -> tuple[dict[str, float], float]:
    """Return the probability of every possible word up to a length, and the mass of the rest."""
    rows = pdfa.probabilities / pdfa.probabilities.sum(axis=1, keepdims=True)
    found, level = {}, {"": (pdfa.initial, 1.0)}
    for _ in range(longest + 1):
        onwards = {}
        for word, (state, mass) in level.items():
            if rows[state, 0] > 0:
                found[word] = mass * float(rows[state, 0])
            for column, symbol in enumerate(pdfa.alphabet, 1):
                if rows[state, column] > 0:
                    after = int(pdfa.transitions[state, column - 1])
                    onwards[word + str(symbol)] = (after, mass * float(rows[state, column]))
        level = onwards
    return found, sum(mass for _, mass in level.values())


def solved_exactly(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Solve a system by elimination in fractions."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for place in range(size):
        pivot = next(i for i in range(place, size) if rows[i][place])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        first = rows[place][place]
        rows[place] = [value / first for value in rows[place]]
        for other in range(size):
            if other != place and (factor := rows[other][place]):
                rows[other] = [
                    a - factor * b for a, b in zip(rows[other], rows[place], strict=True)
                ]
    return [row[-1] for row in rows]


def exact_mean_length(pdfa: PDFA) -> Fraction:
    """Return the mean length in fractions; every state has to be able to end."""
    size = len(pdfa)
    matrix = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    right = []
    for state in range(size):
        row = [Fraction(value) for value in pdfa.probabilities[state].tolist()]
        total = sum(row)
        right.append(1 - row[0] / total)
        for column, after in enumerate(pdfa.transitions[state].tolist(), 1):
            matrix[state][after] -= row[column] / total
    return solved_exactly(matrix, right)[pdfa.initial]
