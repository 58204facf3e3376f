"""The page of a frontier: the curve, and its automata."""

from __future__ import annotations

from pdfalearn.results.frontiers import Frontier
from pdfalearn.viewing.automaton import automaton_data
from pdfalearn.viewing.core import MOST_TRANSITIONS
from pdfalearn.viewing.frontier_data import curve_data
from pdfalearn.viewing.page import Part
from pdfalearn.viewing.run_data import certificate_data


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
