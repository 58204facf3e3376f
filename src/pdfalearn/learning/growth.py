"""Whether states keep growing in proportion to the questions, so that no end is in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdfalearn.models.cost import QueryCost
    from pdfalearn.oracles.protocol import EquivalenceOracle


def may_be_endless(cost: QueryCost, oracle: EquivalenceOracle) -> bool:
    """Return whether a model may show ever more states: it is not known to be an automaton.

    Asking costs something, and the oracle does not compare with an automaton.
    """
    certificate = getattr(oracle, "certificate", None)
    return not cost.is_free and getattr(certificate, "kind", None) != "exact"
