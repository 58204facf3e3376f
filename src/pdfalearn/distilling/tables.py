"""Tables of frontiers, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdfalearn.distilling.frontier import Frontier, Point

HEADER = ("states", "divergence", "from", "to", "infinite", "L1", "WER", "perplexity", "")


def cells_of(frontier: Frontier) -> list[tuple[str, ...]]:
    """Return a row of texts for each point; the last says whether it is the best or the knee."""
    marks = {"best": len(frontier.best), "knee": frontier.knee}
    return [
        (*_figures(point), ", ".join(name for name, size in marks.items() if size == point.states))
        for point in frontier
    ]


def table_of(frontier: Frontier) -> str:
    """Return a table whose columns are aligned by blanks."""
    rows = [HEADER, *cells_of(frontier)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    return "\n".join([*lines, f"perplexity of the model itself: {frontier.model_perplexity:.3f}"])


def _figures(point: Point) -> tuple[str, ...]:
    return (
        f"{point.states:,}",
        *(f"{value:.5f}" for value in (point.divergence, point.low, point.high)),
        f"{point.infinite_share:.2%}",
        f"{point.l1:.4f}",
        f"{point.word_error_rate:.2%}",
        f"{point.perplexity:.3f}",
    )


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    """Align figures to the right, and the mark behind them to the left."""
    *figures, mark = row
    aligned = [text.rjust(width) for text, width in zip(figures, widths, strict=False)]
    return f"{' '.join(aligned)}  {mark}".rstrip()
