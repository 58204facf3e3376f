"""What has changed from one automaton to another, state by state, as a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.arrays import numbered_rows
from pdfalearn.equivalence import Equivalence, check_equivalence, checked_keys, over_union
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results.certificates import TableValue
from pdfalearn.text import symbol_text
from pdfalearn.typing import Codes, Integers

# States are told apart by what follows within this many symbols.
_DEEPEST = 12
_MOST_ROWS = 20


@dataclass(frozen=True)
class ReferenceChanges(TableValue):
    """What has changed from one automaton to another, state by state.

    Examples
    --------
    >>> from pdfalearn import Exact
    >>> from pdfalearn.datasets import figure_3
    >>> old = figure_3()
    >>> table = old.transitions.copy()
    >>> table[0, 1] = 3
    >>> new = PDFA(alphabet="01", transitions=table, probabilities=old.probabilities)
    >>> print(ReferenceChanges.between(old, new, equivalence=Exact()))
    0 changed rows, 1 changed transition, 0 new states, 0 lost states
    <BLANKLINE>
    from  symbol  to  before
    0          1   3       2
    """

    rows: tuple[tuple[int, int], ...]
    """The states, before and now, whose distributions are not the same any more."""
    transitions: tuple[tuple[int, Symbol, int | None, int | None], ...]
    """Of what leads elsewhere the state and the symbol, and where it leads now and before. All are
    the numbers of now, but for where it led before if that state is lost: then it is None."""
    new: tuple[int, ...]
    """The states of now that there were not before."""
    lost: tuple[int, ...]
    """The states of before that are not there any more."""

    @classmethod
    def between(cls, old: PDFA, new: PDFA, *, equivalence: Equivalence) -> ReferenceChanges:
        """Find for states of one automaton those of the other; return what differs.

        States are matched if nothing else looks as they do for as many symbols as possible, then
        where matched states lead by the same symbol. Symbols are matched by name.
        """
        by = check_equivalence(equivalence)
        first, second = over_union(check_pdfa(old, "old"), check_pdfa(new, "new"))
        size = len(first)
        rows = np.vstack((first.probabilities, second.probabilities))
        keys = numbered_rows(checked_keys(by, rows))
        shifted = np.where(second.transitions < 0, -1, second.transitions + size)
        table = np.vstack((first.transitions, shifted))
        partner = _match(table, keys, size, (first.initial, second.initial + size))
        pairs = [(q, int(partner[q])) for q in range(size) if partner[q] >= 0]
        partners = np.append(partner, -1)
        symbols, changed = second.alphabet.symbols, []
        for before, now in pairs:
            ends, are = partners[table[before]], table[now]
            differs = (ends != are) | ((table[before] < 0) != (are < 0))
            changed += [
                (
                    now - size,
                    symbols[s],
                    _number(are[s], size),
                    _number(ends[s], size),
                )
                for s in differs.nonzero()[0].tolist()
            ]
        taken = {now for _, now in pairs}
        return cls(
            rows=tuple((a, b - size) for a, b in pairs if keys[a] != keys[b]),
            transitions=tuple(changed),
            new=tuple(q - size for q in range(size, len(table)) if q not in taken),
            lost=tuple(q for q in range(size) if partner[q] < 0),
        )

    @property
    def statement(self) -> str:
        """How much has changed, in a sentence."""
        names = {"rows": "changed row", "transitions": "changed transition"}
        names |= {"new": "new state", "lost": "lost state"}
        counts = {name: len(getattr(self, name)) for name in names}
        texts = [f"{n:,} {names[name]}{'s' * (n != 1)}" for name, n in counts.items()]
        return ", ".join(texts)

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return a table of the changed transitions; of long ones the beginning."""
        texts = [
            (str(state), symbol_text(symbol), *("-" if q is None else str(q) for q in ends))
            for state, symbol, *ends in self.transitions[:_MOST_ROWS]
        ]
        return [[("from", "symbol", "to", "before"), *texts]] if texts else []


def _number(state: int, size: int) -> int | None:
    return None if state < 0 else int(state) - size


def _match(table: Codes, keys: Integers, size: int, initial: tuple[int, int]) -> Integers:
    """Return for each state its partner in the other automaton; -1 if it has none.

    The states of the second automaton come behind those of the first.
    """
    levels = [keys]
    for _ in range(_DEEPEST):
        colours = np.append(levels[-1], -1)
        levels.append(numbered_rows(np.column_stack((levels[-1], colours[table]))))
    partner = np.full(len(table), -1)
    for colours in reversed(levels):
        free = (partner < 0).nonzero()[0]
        lefts, rights = (_alone(colours, free[part]) for part in (free < size, free >= size))
        pairs = [(lefts[colour], rights[colour]) for colour in lefts.keys() & rights.keys()]
        _follow(table, partner, sorted(pairs), keys)
    known = (partner[:size] >= 0).nonzero()[0]
    pairs = [*zip(known.tolist(), partner[known].tolist(), strict=True), initial]
    _follow(table, partner, pairs, None)
    return partner


def _alone(colours: Integers, states: Integers) -> dict[int, int]:
    """Return those of some states that are alone with their colour, by colour."""
    values, firsts, counts = np.unique(colours[states], return_index=True, return_counts=True)
    alone = counts == 1
    return dict(zip(values[alone].tolist(), states[firsts[alone]].tolist(), strict=True))


def _follow(
    table: Codes, partner: Integers, pairs: list[tuple[int, int]], keys: Integers | None
) -> None:
    """Match pairs of states, and where both lead by the same symbol, if their classes are equal."""
    while pairs:
        left, right = pairs.pop()
        if partner[left] < 0 and partner[right] < 0:
            partner[left], partner[right] = right, left
        if partner[left] == right:
            for pair in zip(table[left].tolist(), table[right].tolist(), strict=True):
                is_free = min(pair) >= 0 and partner[pair[0]] < 0 and partner[pair[1]] < 0
                if is_free and (keys is None or keys[pair[0]] == keys[pair[1]]):
                    pairs.append(pair)
