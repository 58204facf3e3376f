"""Tables of sweeps: as text, and for pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdfalearn.equivalence.relations import Quantization, Tolerance
from pdfalearn.formats.frames import exchange_package
from pdfalearn.sweeping.relations import relation_text

if TYPE_CHECKING:
    from pdfalearn.sweeping.results import Sweep, SweepRow

HEADER = ("learnt with", "states", "words", "new", "divergence", "from", "to", "infinite", "end")


def cells_of(sweep: Sweep) -> list[tuple[str, ...]]:
    """Return a row of texts for each row; the last says how learning ended."""
    chosen = sweep.recommended
    return [(*_figures(row), _end(row, is_chosen=row is chosen)) for row in sweep]


def _figures(row: SweepRow) -> tuple[str, ...]:
    return (
        relation_text(row.by),
        f"{row.states:,}",
        f"{row.words:,}",
        f"{row.new_words:,}",
        *(f"{value:.3g}" for value in (row.divergence, row.low, row.high)),
        f"{row.infinite_share:.2%}",
    )


def _end(row: SweepRow, *, is_chosen: bool) -> str:
    kind = row.result.certificate.kind
    return f"{kind}, recommended" if is_chosen else kind


def questions_text(sweep: Sweep) -> str:
    """Return how many words were asked, and how many it would have been without sharing."""
    for_measuring = (
        f", {sweep.held_out_questions:,} of them to measure on {sweep.drawn_words:,} drawn words"
        if sweep.drawn_words
        else ""
    )
    return (
        f"{sweep.words_asked:,}{for_measuring}; {sweep.words_alone:,} if every run asked for itself"
    )


def table_of(sweep: Sweep) -> str:
    """Return a table whose columns are aligned by blanks, and the recommendation."""
    rows = [HEADER, *cells_of(sweep)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    facts = [f"words asked: {questions_text(sweep)}", f"recommended: {sweep.recommendation}"]
    return "\n".join([*lines, *facts])


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    """Align the first column and the last to the left, and figures to the right."""
    first, *figures, last = row
    aligned = [text.rjust(width) for text, width in zip(figures, widths[1:-1], strict=True)]
    return f"{first:<{widths[0]}} {' '.join(aligned)}  {last}".rstrip()


def records_of(sweep: Sweep) -> list[dict[str, object]]:
    """Return the figures of each row by name."""
    chosen = sweep.recommended
    return [
        {
            "kappa": row.by.kappa if isinstance(row.by, Quantization) else None,
            "tolerance": row.by.tolerance if isinstance(row.by, Tolerance) else None,
            "states": row.states,
            "words": row.words,
            "new_words": row.new_words,
            "divergence": row.divergence,
            "low": row.low,
            "high": row.high,
            "infinite_share": row.infinite_share,
            "certificate": row.result.certificate.kind,
            "recommended": row is chosen,
        }
        for row in sweep
    ]


def frame_of(sweep: Sweep) -> Any:
    """Make a table of pandas."""
    return exchange_package("pandas", "tables").DataFrame(records_of(sweep))
