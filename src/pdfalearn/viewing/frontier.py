"""The page of a frontier: the curve, and its automata."""

from __future__ import annotations

from math import isfinite
from typing import Any

from pdfalearn.results import Frontier, Point
from pdfalearn.viewing.automaton import MOST_TRANSITIONS, automaton_data
from pdfalearn.viewing.page import Part
from pdfalearn.viewing.result import certificate_data


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


def frontier_title(frontier: Frontier) -> str:
    """Return how the page of a frontier is called if nobody says."""
    first, last = frontier.points[0].states, frontier.points[-1].states
    if len(frontier) == 1:
        return f"Frontier of one automaton of {first:,} state{'s' * (first != 1)}"
    return f"Frontier of {len(frontier):,} automata of {first:,} to {last:,} states"


def frontier_parts(frontier: Frontier) -> list[Part]:
    """Return the parts of a frontier's page; all automata together have one page's room."""
    rooms = shared_room([point.pdfa.transitions.size for point in frontier], MOST_TRANSITIONS)
    automata = [
        automaton_data(point.pdfa, most_transitions=room)
        for point, room in zip(frontier, rooms, strict=True)
    ]
    return [
        Part("certificate", "", certificate_data(frontier.certificate, frontier.notes)),
        Part(
            "frontier", "States against divergence", curve_data(frontier) | {"automata": automata}
        ),
    ]


def shared_room(sizes: list[int], room: int) -> list[int]:
    """Share room out so that the smaller ones have what they need, and the larger ones the same.

    Examples
    --------
    >>> shared_room([10, 1000, 2, 1000], 112)
    [10, 50, 2, 50]
    """
    shares = [0] * len(sizes)
    for left, place in enumerate(sorted(range(len(sizes)), key=lambda place: sizes[place])):
        shares[place] = min(sizes[place], room // (len(sizes) - left))
        room -= shares[place]
    return shares
