"""The κ and tolerances of a sweep."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TypeVar

from pdfalearn.equivalence.relations import Quantization, Relation, Tolerance, relation_text
from pdfalearn.errors import InputError

Value = TypeVar("Value", int, float)
DEFAULT_KAPPAS = (5, 10, 20, 50, 100, 200, 500, 1000)
LEARNERS = {Quantization: "quant", Tolerance: "lpstar"}
"""Which learner compares by what."""


def checked_relations(kappas: Iterable[int], tolerances: Iterable[float]) -> list[Relation]:
    """Return κ from the smallest on, then tolerances from the largest on; each may come once."""
    quantized = [Quantization(kappa) for kappa in _listed(kappas, "kappas")]
    quantizations = sorted(quantized, key=lambda by: by.kappa)
    tolerant = sorted(
        map(Tolerance, _listed(tolerances, "tolerances")), key=lambda by: by.tolerance
    )
    relations: list[Relation] = [*quantizations, *tolerant[::-1]]
    if not relations:
        raise InputError("there is nothing to sweep over; give kappas, tolerances or both")
    for one, other in pairwise(relations):
        if one == other:
            raise InputError(f"{relation_text(one)} is given twice; give each once")
    return relations


def _listed(values: Iterable[Value], name: str) -> list[Value]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name} {values!r} is not a list of numbers, such as [10, 100]")
    return list(values)
