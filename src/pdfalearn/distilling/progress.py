"""How far distilling has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pdfalearn.distilling.frontier import Frontier

Phase = Literal["words", "questions", "automata", "measuring"]


@dataclass(frozen=True)
class DistillingProgress:
    """How far distilling has come.

    Examples
    --------
    >>> from pdfalearn import Budget, distill, figure_3
    >>> seen = []
    >>> _ = distill(figure_3(), budget=Budget(max_symbols=2000), progress=seen.append)
    >>> seen[0].phase, seen[-1].phase, seen[-1].symbols <= 2000
    ('words', 'measuring', True)
    """

    phase: Phase
    """"words": words are drawn; "questions": blind spots are asked; "automata": these are searched;
    "measuring": held-out words are looked at."""
    words: int
    """Words drawn so far."""
    symbols: int
    """Symbols that the model was led through."""
    cost: float
    """What asking has cost by the model's cost."""
    share: float
    """The share of the budget that is spent."""
    states: int | None = None
    """The size of the automaton that was found last."""
    training_divergence: float | None = None
    """Its divergence on the words that it was made from."""
    held_out_divergence: float | None = None
    """Its divergence on words that are held out, unless it is very large."""


class DistillingInterrupted(KeyboardInterrupt):
    """Distilling was interrupted; ``frontier`` is what was found until then, if anything was.

    Examples
    --------
    >>> from pdfalearn import Budget, distill, figure_3
    >>> def stop(progress):
    ...     if progress.phase == "automata":
    ...         raise KeyboardInterrupt
    >>> try:
    ...     distill(figure_3(), budget=Budget(max_symbols=2000), progress=stop)
    ... except DistillingInterrupted as interrupted:
    ...     print(type(interrupted.frontier).__name__)
    Frontier
    """

    def __init__(self, frontier: Frontier | None) -> None:
        super().__init__("distilling was interrupted")
        self.frontier = frontier
