"""What is known about an automaton when a bound was reached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.budgets import BudgetReached
from pdfalearn.certificates import Certificate

_SHOWN = 10
"""The certificate names at most this many unresolved transitions."""


def stopped(
    reached: BudgetReached, alphabet: Alphabet, unresolved: NDArray[np.int64]
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
    """
    states, symbols = divmod(unresolved[:_SHOWN], len(alphabet))
    names = [alphabet.symbols[symbol] for symbol in symbols.tolist()]
    where = "" if reached.where is None else f" at the word {shortened(reached.where)}"
    count = len(unresolved)
    leads = "transition leads" if count == 1 else "transitions lead"
    return Certificate(
        "stopped",
        f"{reached.bound} = {reached.limit:,} was reached{where}; {count:,} {leads} to the best "
        "match so far",
        {
            "bound": reached.bound,
            "limit": reached.limit,
            "where": None if reached.where is None else list(reached.where),
            "unresolved": count,
            "first_unresolved": [list(pair) for pair in zip(states.tolist(), names, strict=True)],
        },
    )
