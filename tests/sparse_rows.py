"""Hypothesis strategies: rows that do not list all, and distributions that they may stand for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from pdfalearn.rows import Rows
from pdfalearn.words import offsets_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class OpenRow:
    """A row in whole parts of a denominator: some are listed, the others share the rest."""

    parts: Integers
    denominator: int
    listed: NDArray[np.bool_]
    cap: int
    """No symbol that is not listed has more parts than that."""
    says_cap: bool

    @property
    def rest(self) -> int:
        return int(self.parts[~self.listed].sum())

    def completions(self, seed: int, count: int = 8) -> Floats:
        """Dense rows that the row may stand for; the one that it was made of is the first."""
        random = np.random.default_rng(seed)
        tables = [self.parts, *(self._shared_out(random) for _ in range(count))]
        halves = [(left + right) / 2 for left, right in pairwise(tables)]
        return np.array([*tables, *halves]) / self.denominator

    def _shared_out(self, random: np.random.Generator) -> Integers:
        """Return the rest shared among unlisted symbols, each with at most its ceiling."""
        parts = self.parts.copy()
        places = random.permutation((~self.listed).nonzero()[0])
        parts[places] = 0
        left = self.rest
        while left:
            for place in places:
                least = 1 if random.random() < 0.5 else min(left, self.cap - parts[place])
                taken = min(int(least), left, self.cap - int(parts[place]))
                parts[place] += taken
                left -= taken
        return parts


@st.composite
def open_rows(draw: st.DrawFn, width: int, settled: bool | None = None) -> OpenRow:
    """A row that lists the terminal and some others; all that has any mass if it is settled."""
    denominator = draw(st.sampled_from([2, 3, 7, 10, 100, 1000]))
    cuts = sorted(
        draw(st.lists(st.integers(0, denominator), min_size=width - 1, max_size=width - 1))
    )
    parts = np.diff([0, *cuts, denominator])
    listed = np.array(draw(st.lists(st.booleans(), min_size=width, max_size=width)))
    listed[0] = True
    if settled or (settled is None and draw(st.integers(0, 3)) == 0):
        listed |= parts > 0
    rest = int(parts[~listed].sum())
    most = int(parts[~listed].max(initial=0))
    cap = draw(st.sampled_from([most, min(most + 1, rest), rest]))
    return OpenRow(parts, denominator, listed, cap, cap < rest or draw(st.booleans()))


def as_rows(rows: list[OpenRow]) -> Rows:
    """Put open rows into a batch."""
    columns = [row.listed.nonzero()[0] for row in rows]
    values = [row.parts[row.listed] / row.denominator for row in rows]
    rest = np.array([row.rest / row.denominator for row in rows])
    ceiling = np.array([(row.cap if row.says_cap else row.rest) / row.denominator for row in rows])
    return Rows.sparse(
        len(rows[0].parts),
        offsets_of([len(part) for part in columns]),
        np.concatenate(columns),
        np.concatenate(values),
        rest=rest if rest.any() else None,
        ceiling=ceiling if any(row.says_cap for row in rows) else None,
    )
