"""Divergence against states: points, the curves through them, and tables of curves."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from benchmarks.distilling.measuring import Divergence
from benchmarks.support import print_header, print_row

DISTILLED = "distill"


class Point(NamedTuple):
    """An automaton that was measured."""

    rival: str
    setting: str
    states: int
    mean: float
    infinite: float

    @property
    def total(self) -> float:
        """The divergence: infinite if it is so at any position."""
        return Divergence(self.mean, self.infinite).total

    @property
    def shown(self) -> str:
        """The divergence as a text, with the share of infinite ones if there are any."""
        share = f" and {self.infinite:.2g} infinite" if self.infinite else ""
        return f"{self.mean:.4f}{share}"


def best_at_most(points: Sequence[Point], states: float = inf) -> Point | None:
    """Return the point of least divergence with at most this many states; None if there is none.

    Examples
    --------
    >>> points = [Point("x", "", 3, 0.2, 0.0), Point("x", "", 9, 0.1, 0.5)]
    >>> best_at_most(points, 9).states, best_at_most(points, 2)
    (3, None)
    """
    fitting = [point for point in points if point.states <= states]
    return min(fitting, key=lambda point: (point.total, point.infinite, point.mean), default=None)


def print_curves(points: Sequence[Point], sizes: Sequence[int]) -> None:
    """Print a row for each rival: its best at every size, and at any."""
    print_header(["states at most", *map(str, sizes), "any", "states", "setting"])
    for rival in dict.fromkeys(point.rival for point in points):
        own = [point for point in points if point.rival == rival]
        cells = [best_at_most(own, size) for size in sizes]
        best = best_at_most(own)
        if best is not None:
            shown = ["" if cell is None else cell.shown for cell in cells]
            print_row([rival, *shown, best.shown, best.states, best.setting])


def conclusions(points: Sequence[Point], sizes: Sequence[int], best: Point) -> list[str]:
    """Return in words at which sizes distilling is below all rivals, and whether its best is.

    Parameters
    ----------
    points : sequence of Point
        All of them; those of the rival "distill" are held against the others.
    sizes : sequence of int
        Where to compare.
    best : Point
        What is distilled at the size that `distill` itself calls the best.

    Examples
    --------
    >>> points = [Point("distill", "", 2, 0.3, 0.0), Point("k-grams", "", 2, 0.2, 0.0)]
    >>> for line in conclusions(points, (1, 2), points[0]):
    ...     print(line)
    distill is below all rivals at none of these sizes.
    It is not at 2 (0.3000, k-grams 0.2000).
    Its best (0.3000, 2 states) is not below k-grams (0.2000, 2 states).
    """
    ours = [point for point in points if point.rival == DISTILLED]
    others = [point for point in points if point.rival != DISTILLED]
    won, lost = [], []
    for size in sizes:
        mine, other = best_at_most(ours, size), best_at_most(others, size)
        if mine is None and other is None:
            continue
        if other is None or (mine is not None and mine.total < other.total):
            won.append(str(size))
        else:
            own = "nothing" if mine is None else mine.shown
            lost.append(f"{size} ({own}, {other.rival} {other.shown})")
    lines = [f"distill is below all rivals at {', '.join(won) or 'none of these sizes'}."]
    if lost:
        lines.append(f"It is not at {', '.join(lost)}.")
    return [*lines, _about_best(best, best_at_most(others))]


def _about_best(best: Point, other: Point | None) -> str:
    name = f"Its best ({best.shown}, {best.states} states)"
    if other is None:
        return f"{name} has no rival."
    below = "is below all rivals at any size; the next is"
    is_below = best.total < other.total
    relation = below if is_below else "is not below"
    return f"{name} {relation} {other.rival} ({other.shown}, {other.states} states)."
