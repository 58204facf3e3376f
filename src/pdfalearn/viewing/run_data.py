"""The data of a run's panels: how it went, what it cost, and what is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdfalearn.results.certificates import Certificate
from pdfalearn.results.learning_runs import Progress, Result, cost_texts
from pdfalearn.text import LABELS

MOST_ROWS = 300
"""Of longer histories this many rows, evenly spread, are on a page."""


def run_data(result: Result) -> dict[str, Any]:
    """Return how far learning had come before each equivalence query, and in the end.

    Returns
    -------
    dict
        ``rows`` are objects; ``counterexamples`` are those found so far, and None in runs of files
        that do not tell. ``steps`` is how many rows there are in all.
    """
    steps: list[Progress] = [*result.history, result.statistics]
    found = _found_before(result, len(steps))
    places = np.unique(np.linspace(0, len(steps) - 1, min(MOST_ROWS, len(steps))).round())
    return {
        "rows": [_row(steps[place], found, place) for place in places.astype(int).tolist()],
        "steps": len(steps),
    }


def _found_before(result: Result, count: int) -> list[int | None]:
    """Return how many counterexamples had been found before each step."""
    each = result.statistics.counterexamples
    if not each and result.statistics.equivalence_queries:
        return [None] * count
    sums = [0, *np.cumsum(each, dtype=np.int64).tolist()]
    return [sums[min(place, len(sums) - 1)] for place in range(count)]


def _row(step: Progress, found: list[int | None], place: int) -> dict[str, Any]:
    return {
        "queries": step.equivalence_queries,
        "states": step.states,
        "words": step.words,
        "symbols": step.symbols,
        "counterexamples": found[place],
        "seconds": round(step.learning_seconds + step.equivalence_seconds, 6),
    }


def certificate_data(certificate: Certificate, notes: tuple[str, ...]) -> dict[str, Any]:
    """Return what is known in words, and the notes."""
    return {
        "kind": certificate.kind,
        "statement": certificate.statement,
        "meaning": MEANINGS.get(certificate.kind, ""),
        "notes": list(notes),
    }


MEANINGS = {
    "exact": "This is proved.",
    "pac": "It is probably approximately correct: for the words that were drawn, and no others.",
    "tested": "No difference was found, and no more is known.",
    "stopped": "A bound was reached before learning was done.",
    "interrupted": "Somebody stopped it before learning was done.",
    "distilled": "It was measured on words that nothing was learnt from.",
}
"""What the kinds of certificates mean, for people who see one for the first time."""


def statistics_rows(result: Result) -> list[tuple[str, str]]:
    """Return what learning has cost, as labels and texts; what is 0 is left out."""
    statistics = result.statistics
    longest = max(statistics.longest_counterexamples, default=0)
    own = "" if result.by is None else str(result.by)
    rows = {
        "compared by": own or "an equivalence that the file does not keep",
        LABELS["states"]: f"{len(result.pdfa):,}",
        **cost_texts(statistics),
        "counterexamples": f"{sum(statistics.counterexamples):,}",
        "symbols of the longest counterexample": f"{longest:,}",
        "unresolved transitions": f"{len(result.unresolved):,}",
    }
    return [(label, text) for label, text in rows.items() if text != "0"]
