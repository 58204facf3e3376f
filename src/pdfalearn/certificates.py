"""What is known about a learnt automaton."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["exact", "pac", "tested", "stopped", "interrupted", "distilled"]


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
    and no more is known; "stopped": a bound was reached; "interrupted": somebody stopped it;
    "distilled": measured on held-out words."""
    statement: str
    """What that means, in a sentence."""
    details: Mapping[str, object] = field(default_factory=dict)
    """The figures in it, ready for JSON."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.statement}"
