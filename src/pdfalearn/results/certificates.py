"""What is known: certificates of learnt automata, and bounds of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.budgets import BudgetReached
from pdfalearn.text import format_table

Kind = Literal["exact", "pac", "tested", "stopped", "interrupted", "distilled", "unsteady"]

# The certificate names at most this many unresolved transitions.
_SHOWN = 10
# The most states that are named.
_MOST_BLAMED = 5
_SINGLE_ROWS = (
    "rows are those of single words: refit estimates them from many, and distill finds the best "
    "automaton of each size"
)
_ENDLESS = (
    "states grew with the questions to the end, so that learning may never end here: take a "
    "smaller kappa, or distill"
)


class NotebookValue:
    """A value that notebooks show as what `pdfalearn.viewing` makes of its class."""

    def _repr_html_(self) -> str:
        from pdfalearn.viewing import value_html

        return value_html(self)


class TableValue(NotebookValue):
    """A value that prints as a sentence, if it has one, and tables; notebooks show it so, too."""

    @property
    def statement(self) -> str:
        """What stands above the tables."""
        return ""

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return rows of texts, the names of the columns first."""
        raise NotImplementedError

    def __str__(self) -> str:
        texts = [self.statement, *(format_table(rows) for rows in self.tables())]
        return "\n\n".join(filter(None, texts))


@dataclass(frozen=True)
class Certificate(NotebookValue):
    """What is known about a learnt automaton, in one word, in a sentence and in figures.

    Examples
    --------
    >>> print(Certificate("exact", "equivalent to the target"))
    exact: equivalent to the target
    """

    kind: Kind
    """"exact": proved; "pac": probably approximately correct; "tested": no difference was found,
    and no more is known; "stopped": a bound was reached; "interrupted": somebody stopped it;
    "distilled": measured on held-out words; "unsteady": the model answers differently the second
    time."""
    statement: str
    """What that means, in a sentence."""
    details: Mapping[str, object] = field(default_factory=dict)
    """The figures in it, ready for JSON."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.statement}"


def certificate_document(certificate: Certificate) -> dict[str, object]:
    """Return what a file says of a certificate, ready for JSON if its details are."""
    return vars(certificate) | {"details": dict(certificate.details)}


def certify_stop(
    reached: BudgetReached,
    alphabet: Alphabet,
    unresolved: NDArray[np.int64],
    added: int,
    *,
    is_growing: bool,
) -> Certificate:
    """Certify that a bound was reached, and that ``unresolved`` transitions lead to a best match.

    They are given as state * symbols + symbol; ``added`` states were added so that the automaton
    agrees with every answer.
    """
    default = ", the default bound, which budget=Budget() lifts" if reached.is_default else ""
    states, symbols = divmod(unresolved[:_SHOWN], len(alphabet))
    names = [alphabet.symbols[symbol] for symbol in symbols.tolist()]
    where = "" if reached.where is None else f" at the word {shorten(reached.where)}"
    count = len(unresolved)
    also = f"; {added:,} states stand for single words, to agree with answers" if added else ""
    leads = "transition leads" if count == 1 else "transitions lead"
    endless = f"; {_ENDLESS}" if is_growing else ""
    return Certificate(
        "stopped",
        f"{reached.bound} = {reached.limit:,} was reached{where}{default}; {count:,} {leads} to "
        f"the best match so far{also}; {_SINGLE_ROWS}{endless}",
        {
            "bound": reached.bound,
            "limit": reached.limit,
            "where": None if reached.where is None else list(reached.where),
            "unresolved": count,
            "added_states": added,
            "first_unresolved": [list(pair) for pair in zip(states.tolist(), names, strict=True)],
            "rows": "single words",
            "is_growing": is_growing,
        },
    )


def certify_interrupt(*, is_growing: bool) -> Certificate:
    """Certify that somebody stopped learning, while states kept growing or not."""
    endless = f"; {_ENDLESS}" if is_growing else ""
    statement = f"stopped by hand, the newest hypothesis{endless}"
    return Certificate("interrupted", statement, {"is_growing": is_growing})


@dataclass(frozen=True)
class Bounds(NotebookValue):
    """What a value is at least and at most, and for which models that holds.

    Examples
    --------
    >>> from pdfalearn import Quantization
    >>> from pdfalearn.analysis import probability_bounds
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.languages import HasLength
    >>> bounds = probability_bounds(figure_1(), HasLength(most=2), equivalence=Quantization(4))
    >>> round(bounds.low, 9), round(bounds.high, 9), bounds.confidence
    (0.75, 0.8125, 1.0)
    """

    low: float
    high: float
    holds_for: str
    """For which models."""
    confidence: float
    """1, or for a PAC certificate 1 - δ."""
    blamed: tuple[int, ...]
    """Where a bound says nothing (it is 0, 1 or infinite, and the other far from it), the states to
    blame: those in which the classes allow words to go on for ever, or if there are none, those
    whose classes leave the most open."""

    def __str__(self) -> str:
        sure = "" if self.confidence == 1 else f" with confidence {self.confidence:g}"
        text = f"[{self.low:.6g}, {self.high:.6g}]{sure} for {self.holds_for}"
        if not self.blamed:
            return text
        blamed = ", ".join(map(str, self.blamed[:_MOST_BLAMED]))
        if len(self.blamed) > _MOST_BLAMED:
            blamed += f" and {len(self.blamed) - _MOST_BLAMED} more"
        states = "states" if len(self.blamed) > 1 else "state"
        return f"{text}; it says so little because of the {states} {blamed}"
