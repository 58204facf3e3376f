"""What has been learnt and what it has cost: a table for people, an object for scripts."""

from __future__ import annotations

from collections import Counter
from statistics import median_low
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdfalearn import Certificate, Result, Statistics


_NEAR = 1e-6
"""By more than this a network in float32 hardly differs from one batch to the next."""


def facts_of(result: Result) -> dict[str, str]:
    """Give the rows of the table."""
    statistics = result.statistics
    batches = _batches(statistics)
    return {
        "states": f"{len(result.pdfa):,}",
        "words asked": f"{statistics.words:,}",
        "words taken from the store": f"{statistics.stored_words:,}",
        "words asked again (audit)": f"{statistics.audited_words:,}",
        "largest difference in the audit": f"{statistics.largest_difference:.3g}",
        **_near_boundary(result),
        "distributions read": f"{statistics.distributions:,}",
        "symbols": f"{statistics.symbols:,}",
        "batches": "{count:,} (median size {median:,}, largest {largest:,})".format(**batches),
        "equivalence queries": f"{statistics.equivalence_queries:,}",
        "tree depth": f"{statistics.tree_depth:,}",
        "inner nodes": f"{statistics.inner_nodes:,}",
        "seconds for learning": f"{statistics.learning_seconds:,.3f}",
        "seconds for equivalence": f"{statistics.equivalence_seconds:,.3f}",
        "certificate": str(result.certificate),
    }


def _near_boundary(result: Result) -> dict[str, str]:
    """Say how many probabilities might fall into another class; nothing if there are no bounds."""
    if not result.has_boundaries:
        return {}
    count = result.near_boundary(_NEAR)
    return {f"probabilities within {_NEAR:g} of a boundary": f"{count:,}"}


def object_of(result: Result, with_access_words: bool) -> dict[str, object]:
    """Give the members of the JSON object."""
    members = {
        "certificate": certificate_object(result.certificate),
        "states": len(result.pdfa),
        "near_boundary": result.near_boundary(_NEAR) if result.has_boundaries else None,
        "statistics": {**vars(result.statistics), "batches": _batches(result.statistics)},
        "history": [vars(progress) for progress in result.history],
    }
    return {**members, "access_words": result.access_words} if with_access_words else members


def certificate_object(certificate: Certificate) -> dict[str, object]:
    """Give the members of a certificate's JSON object."""
    words = {"kind": certificate.kind, "statement": certificate.statement}
    return {**words, **certificate.details}


def _batches(statistics: Statistics) -> dict[str, object]:
    """Sum up the sizes of all batches: one for each word is too long a list to print."""
    sizes = statistics.batches
    return {
        "count": len(sizes),
        "median": median_low(sizes) if sizes else 0,
        "largest": max(sizes, default=0),
        "sizes": sorted(Counter(sizes).items()),
    }
