"""What is known about an automaton when a bound was reached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.budgets import BudgetReached
from pdfalearn.results.certificates import Certificate

_SHOWN = 10
"""The certificate names at most this many unresolved transitions."""


_SINGLE_ROWS = (
    "rows are those of single words: fit estimates them from many, and distill finds the best "
    "automaton of each size"
)
_ENDLESS = (
    "states grew with the questions to the end, so that learning may never end here: take a "
    "smaller kappa, or distill"
)


def stopped(
    reached: BudgetReached,
    alphabet: Alphabet,
    unresolved: NDArray[np.int64],
    added: int,
    *,
    is_growing: bool,
) -> Certificate:
    """Certify that a bound was reached, where, and how much could not be resolved.

    Parameters
    ----------
    reached : BudgetReached
        The bound.
    alphabet : Alphabet
        The symbols.
    unresolved : array of int
        The transitions that lead to the best match so far, as state * symbols + symbol.
    added : int
        How many states were added so that the automaton agrees with every answer.
    is_growing : bool
        Whether states kept growing with the questions to the end.
    """
    default = ", the default bound, which budget=Budget() lifts" if reached.is_default else ""
    states, symbols = divmod(unresolved[:_SHOWN], len(alphabet))
    names = [alphabet.symbols[symbol] for symbol in symbols.tolist()]
    where = "" if reached.where is None else f" at the word {shortened(reached.where)}"
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


def interrupted(*, is_growing: bool) -> Certificate:
    """Certify that somebody stopped learning.

    Parameters
    ----------
    is_growing : bool
        Whether states kept growing with the questions until then.
    """
    endless = f"; {_ENDLESS}" if is_growing else ""
    statement = f"stopped by hand, the newest hypothesis{endless}"
    return Certificate("interrupted", statement, {"is_growing": is_growing})
