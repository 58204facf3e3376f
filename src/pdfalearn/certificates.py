"""What is known about a learnt automaton."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pdfalearn.alphabet import shortened
from pdfalearn.budgets import BudgetReached

if TYPE_CHECKING:
    from pdfalearn.learners.protocol import Learner

Kind = Literal["exact", "pac", "tested", "stopped", "interrupted"]


@dataclass(frozen=True)
class Certificate:
    """What is known about a learnt automaton, in one word, in a sentence and in figures.

    Examples
    --------
    >>> print(Certificate("exact", "equivalent to the target"))
    exact: equivalent to the target
    """

    kind: Kind
    """"exact": proved; "pac": probably approximately correct; "tested": no difference was found,
    and no more is known; "stopped": a bound was reached; "interrupted": somebody stopped it."""
    statement: str
    """What that means, in a sentence."""
    details: Mapping[str, object] = field(default_factory=dict)
    """The figures in it, ready for JSON."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.statement}"


def stopped(reached: BudgetReached, learner: Learner) -> Certificate:
    """Certify that a bound was reached, where, and what could not be resolved."""
    alphabet = learner.observations.model.alphabet
    states, symbols = divmod(learner.unresolved(), len(alphabet))
    names = [alphabet.symbols[symbol] for symbol in symbols.tolist()]
    unresolved = [list(pair) for pair in zip(states.tolist(), names, strict=True)]
    where = "" if reached.where is None else f" at the word {shortened(reached.where)}"
    count = len(unresolved)
    leads = "transition leads" if count == 1 else "transitions lead"
    guessed = f"{count:,} {leads} to the best match so far"
    return Certificate(
        "stopped",
        f"{reached.bound} = {reached.limit:,} was reached{where}; {guessed}",
        {
            "bound": reached.bound,
            "limit": reached.limit,
            "where": None if reached.where is None else list(reached.where),
            "unresolved": unresolved,
        },
    )
