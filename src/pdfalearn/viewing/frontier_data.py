"""The data of a frontier's panel: the curve, its figures, and the automata."""

from __future__ import annotations

from math import isfinite
from typing import Any

from pdfalearn.results.frontiers import Frontier, Point


def curve_data(frontier: Frontier) -> dict[str, Any]:
    """Return the points of a frontier, and which of them are the best and the knee."""
    return {
        "points": [_point(point) for point in frontier],
        "best": frontier.points.index(frontier.point(len(frontier.best))),
        "knee": _knee(frontier),
        "modelPerplexity": _figure(frontier.model_perplexity),
    }


def _knee(frontier: Frontier) -> int | None:
    if frontier.knee is None:
        return None
    return frontier.points.index(frontier.point(frontier.knee))


def _point(point: Point) -> dict[str, Any]:
    """Return the figures of a point; None is not finite."""
    return {name: _figure(value) for name, value in vars(point).items() if name != "pdfa"}


def _figure(value: float) -> float | None:
    return value if isfinite(value) else None
