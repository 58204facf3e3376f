"""Whether quantization is too coarse to see anything."""

from __future__ import annotations

import math

from pdfalearn.equivalence.relations import Quantization, Relation, Rounded
from pdfalearn.observations.tree import ObservationTree

_SLACK = 2.0**-50
"""A probability this much below a boundary counts as on it, as in `Quantization`."""


def coarseness_note(observations: ObservationTree) -> str | None:
    """Return a note if no probability reaches 1/κ, so that all answers are in one class.

    None if there are more classes, if all answers are equal, or if it is not quantization.
    """
    found = _kappa_and_decimals(observations.by)
    if found is None or observations.answers.class_count > 1 or observations.answers.size < 2:
        return None
    kappa, decimals = found
    largest = round(max(float(table.max()) for table in observations.tables()), decimals)
    if kappa * (largest + _SLACK) >= 1:
        return None
    enough = math.ceil(1 / (largest + _SLACK)) if largest else None
    remedy = "" if enough is None else f"; kappa = {enough:,} is the least that sees one"
    return (
        f"kappa = {kappa:,} is too coarse: no probability reaches 1/{kappa:,}, so that all "
        f"{observations.answers.size:,} different answers are in one class{remedy}"
    )


def _kappa_and_decimals(by: Relation) -> tuple[int, int] | None:
    """Return the number of intervals, and the decimals that probabilities are rounded to."""
    decimals = 17
    while isinstance(by, Rounded):
        decimals = min(decimals, by.decimals)
        by = by.by
    return (by.kappa, decimals) if isinstance(by, Quantization) else None
