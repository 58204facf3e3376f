"""What notebooks show of results, frontiers, evaluations and certificates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pdfalearn.results import EVALUATION_HEADER as EVALUATION_HEADER
from pdfalearn.results import FRONTIER_HEADER as HEADER
from pdfalearn.results import SWEEP_HEADER as SWEEP_HEADER
from pdfalearn.results import (
    Bounds,
    Certificate,
    Divergence,
    Evaluation,
    Frontier,
    Result,
    Simplified,
    Sweep,
    comparison_cells,
    cost_texts,
    fact_cells,
    questions_text,
)
from pdfalearn.results import frontier_cells as cells_of
from pdfalearn.results import sweep_cells as sweep_cells
from pdfalearn.text import LABELS, described
from pdfalearn.viewing.notebook_pictures import paragraph, pdfa_image, section, table

_MOST_ROWS = 12
"""Tables of more rows are thinned out."""
_MOST_NOTES = 5


def result_html(result: Result) -> str:
    """Show a result: what is known, what it cost, and the automaton."""
    costs, texts = result.statistics, cost_texts(result.statistics)
    names = [LABELS[name] for name in ("words", "symbols", "equivalence_queries")]
    rows = [
        (LABELS["states"], f"{len(result.pdfa):,}"),
        *((name, texts[name]) for name in names),
        ("seconds", f"{costs.learning_seconds + costs.equivalence_seconds:.3g}"),
    ]
    known = _known(result.certificate)
    return section(known, *_notes(result.notes), table(rows), pdfa_image(result.pdfa))


def frontier_html(frontier: Frontier) -> str:
    """Show a frontier: what is known, and its points, or of many some of them."""
    known = _known(frontier.certificate)
    own = paragraph(f"perplexity of the model itself: {frontier.model_perplexity:.3f}")
    rows = cells_of(frontier)
    shown = _thinned(rows)
    left_out = len(rows) - len(shown)
    more = [paragraph(f"{left_out} more: table() has them all, plot() draws them")] * (left_out > 0)
    return section(known, *_notes(frontier.notes), table(shown, HEADER), *more, own)


def sweep_html(sweep: Sweep) -> str:
    """Show a sweep: its rows, how many words it asked, and what it recommends."""
    questions = paragraph(questions_text(sweep), bold="words asked")
    advice = paragraph(sweep.recommendation, bold="recommended")
    return section(table(sweep_cells(sweep), SWEEP_HEADER), questions, advice)


def evaluation_html(evaluation: Evaluation) -> str:
    """Show an evaluation: its measures after every prefix and after whole words."""
    measures = table(comparison_cells(evaluation), EVALUATION_HEADER)
    return section(measures, table(fact_cells(evaluation)))


def certificate_html(certificate: Certificate) -> str:
    """Show a certificate: its kind, its statement and its figures."""
    rows = [
        (str(name), value if isinstance(value, str) else described(value))
        for name, value in certificate.details.items()
    ]
    return section(_known(certificate), *([table(rows)] if rows else []))


def simplified_html(simplified: Simplified) -> str:
    """Show a smaller automaton and what it loses."""
    loss = f"states, {simplified.divergence:.4g} nats per symbol from the original"
    return section(paragraph(loss, bold=f"{simplified.states:,}"), pdfa_image(simplified.pdfa))


def divergence_html(divergence: Divergence) -> str:
    """Show a divergence, both ways."""
    return section(table(divergence.rows(), ("", "a ‖ b", "b ‖ a")))


def bounds_html(bounds: Bounds) -> str:
    """Show bounds in a sentence."""
    return section(paragraph(str(bounds)))


def _known(certificate: Certificate) -> str:
    return paragraph(certificate.statement, bold=f"{certificate.kind}:")


def _notes(notes: Sequence[str]) -> Iterable[str]:
    return [paragraph(note, bold="note:") for note in notes[:_MOST_NOTES]]


def _thinned(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave out rows of a long table evenly, but none that has a mark at its end."""
    if len(rows) <= _MOST_ROWS:
        return rows
    last = len(rows) - 1
    evenly = {round(place * last / (_MOST_ROWS - 3)) for place in range(_MOST_ROWS - 2)}
    return [row for place, row in enumerate(rows) if row[-1] or place in evenly]
