"""Weighted automata in exact rational arithmetic: the judge of what is computed in floats."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from pdfalearn.models import WFA

Vector = list[Fraction]


def exact(number: float) -> Fraction:
    """The fraction that a number stands for: its denominator is at most a million."""
    return Fraction(number).limit_denominator(10**6)


class Span:
    """The space that vectors span, by elimination."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, Vector]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def grows_by(self, vector: Sequence[Fraction]) -> bool:
        """Add a vector; return whether it was outside."""
        rest = list(vector)
        for pivot, row in self._rows:
            if rest[pivot]:
                factor = rest[pivot]
                rest = [one - factor * other for one, other in zip(rest, row, strict=True)]
        for pivot, entry in enumerate(rest):
            if entry:
                self._rows.append((pivot, [one / entry for one in rest]))
                return True
        return False


class RationalWFA:
    """A weighted automaton whose numbers are fractions."""

    def __init__(self, wfa: WFA) -> None:
        self.names = [str(symbol) for symbol in wfa.alphabet]
        self.initial = [exact(number) for number in wfa.initial.tolist()]
        self.ends = [exact(number) for number in wfa.ends.tolist()]
        self.matrices = [
            [[exact(number) for number in row] for row in matrix]
            for matrix in wfa.matrices.tolist()
        ]

    def step(self, vector: Vector, symbol: int) -> Vector:
        """The forward vector after one symbol more."""
        columns = zip(*self.matrices[symbol], strict=True)
        return [sum((x * y for x, y in zip(vector, c, strict=True)), Fraction(0)) for c in columns]

    def step_back(self, vector: Vector, symbol: int) -> Vector:
        """The backward vector before one symbol more."""
        rows = self.matrices[symbol]
        return [sum((x * y for x, y in zip(r, vector, strict=True)), Fraction(0)) for r in rows]

    def end(self, vector: Vector) -> Fraction:
        """The value of a forward vector."""
        return sum((x * y for x, y in zip(vector, self.ends, strict=True)), Fraction(0))

    def value(self, word: str) -> Fraction:
        """The value of a word."""
        vector = self.initial
        for symbol in word:
            vector = self.step(vector, self.names.index(symbol))
        return self.end(vector)

    def rank(self) -> int:
        """The rank of the Hankel matrix: of all forward times all backward vectors."""
        vectors = []
        for begin, step in ((self.initial, self.step), (self.ends, self.step_back)):
            span, kept, queue = Span(), [], [begin]
            while queue:
                vector = queue.pop(0)
                if span.grows_by(vector):
                    kept.append(vector)
                    queue += [step(vector, symbol) for symbol in range(len(self.names))]
            vectors.append(kept)
        forward, backward = vectors
        span = Span()
        for one in forward:
            products = [
                sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))
                for other in backward
            ]
            if products:
                span.grows_by(products)
        return len(span)

    def shortest_difference_length(self, other: RationalWFA) -> int | None:
        """Tzeng's method in exact arithmetic: the length of a shortest word with two values."""
        span = Span()
        queue = [(self.initial, other.initial, 0)]
        while queue:
            mine, its, length = queue.pop(0)
            if self.end(mine) != other.end(its):
                return length
            if span.grows_by([*mine, *its]):
                queue += [
                    (self.step(mine, symbol), other.step(its, symbol), length + 1)
                    for symbol in range(len(self.names))
                ]
        return None
