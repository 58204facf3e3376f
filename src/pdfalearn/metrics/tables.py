"""Tables of evaluations, as text and for pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdfalearn.equivalence.relations import Quantization, Tolerance
from pdfalearn.formats.frames import exchange_package

if TYPE_CHECKING:
    from pdfalearn.metrics.results import Evaluation

HEADER = ("", "all prefixes", "whole words")
FACTS = {
    "words": "words",
    "cut_words": "of these cut",
    "mean_length": "mean length",
    "log_probability_error": "log-probability error",
    "one_sided_words": "possible in one only",
    "target_perplexity": "perplexity of the target",
    "perplexity": "perplexity of the candidate",
}
"""What the figures of whole words are called."""


def labels_of(evaluation: Evaluation) -> dict[str, str]:
    """Return what the fields of its comparisons are called."""
    return {
        "word_error_rate": "word error rate",
        "ndcg": f"NDCG@{evaluation.k}",
        "difference": _difference_text(evaluation.by),
        "l1": "L1",
        "kl": "KL",
        "infinite_kl": "KL is infinite",
    }


def _difference_text(by: object) -> str:
    if isinstance(by, Quantization):
        return f"different at kappa {by.kappa}"
    return f"out of tolerance {by.tolerance:g}" if isinstance(by, Tolerance) else "different"


def comparison_cells(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Return a row of texts for each measure, over all prefixes and over whole words."""
    over = vars(evaluation.over_prefixes), vars(evaluation.over_words)
    return [
        (label, figure(over[0][name]), figure(over[1][name]))
        for name, label in labels_of(evaluation).items()
    ]


def fact_cells(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return a row of texts for each of the other figures that there are."""
    return [
        (label, figure(value))
        for name, label in FACTS.items()
        if (value := getattr(evaluation, name)) is not None
    ]


def figure(value: object) -> str:
    """Write a figure."""
    return f"{value:.6g}" if isinstance(value, float) else f"{value:,}"


def table_of(evaluation: Evaluation) -> str:
    """Return the measures as a table whose columns are aligned, and the other figures below."""
    rows, facts = [HEADER, *comparison_cells(evaluation)], fact_cells(evaluation)
    first = max(len(label) for label, *_ in (*rows, *facts))
    widths = [max(len(row[column]) for row in rows) for column in (1, 2)]
    lines = [f"{row[0]:<{first}}  {row[1]:>{widths[0]}}  {row[2]:>{widths[1]}}" for row in rows]
    return "\n".join([*lines, *(f"{label:<{first}}  {text:>{widths[0]}}" for label, text in facts)])


def frame_of(evaluation: Evaluation) -> Any:
    """Make a table of pandas with a line for each measure."""
    over = {
        "over_prefixes": vars(evaluation.over_prefixes),
        "over_words": vars(evaluation.over_words),
    }
    return exchange_package("pandas", "tables").DataFrame(over, index=[*labels_of(evaluation)])
