"""Whether states keep growing in proportion to the questions, so that no end is in sight."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdfalearn.models.protocol import QueryCost
    from pdfalearn.oracles.protocol import EquivalenceOracle


WARN_STATES = 3000
"""With fewer states than this there is no warning: many automata have some hundreds."""


class EndlessLearningWarning(UserWarning):
    """States keep growing with the questions, so that learning may never end.

    Examples
    --------
    >>> issubclass(EndlessLearningWarning, UserWarning)
    True
    """


def may_be_endless(cost: QueryCost, oracle: EquivalenceOracle) -> bool:
    """Return whether a model may show ever more states: it is not known to be an automaton.

    Asking costs something, and the oracle does not compare with an automaton.
    """
    certificate = getattr(oracle, "certificate", None)
    return not cost.is_free and getattr(certificate, "kind", None) != "exact"


def warn_of_growth(states: int, words: int) -> None:
    """Warn that learning may never end, and say what to do instead."""
    warnings.warn(
        f"{states:,} states after {words:,} words, and they keep growing with the questions: the "
        "model may be no automaton, and learning may never end; distill(model) finds the best "
        "automaton of each size, a smaller kappa has fewer classes, and budget=Budget(…) bounds "
        "what is asked",
        EndlessLearningWarning,
        stacklevel=2,
    )
