"""Plots of frontiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdfalearn.plotting import COLOUR, MARK, finish, given_or_new_axes, write_numbers_in_full
from pdfalearn.progress import counted

if TYPE_CHECKING:
    from pdfalearn.distilling.frontier import Frontier


def plotted(frontier: Frontier, axes: Any) -> Any:
    """Draw states against divergence with its confidence interval."""
    axes = given_or_new_axes(axes)
    states = [point.states for point in frontier]
    lows, highs = [point.low for point in frontier], [point.high for point in frontier]
    values = [point.divergence for point in frontier]
    axes.fill_between(states, lows, highs, color=COLOUR, alpha=0.2, linewidth=0, label="95%")
    axes.plot(states, values, marker="o", markersize=4, color=COLOUR, label="divergence")
    best = frontier.point(len(frontier.best))
    label = f"best: {counted(best.states, 'states')}"
    place = [best.states], [best.divergence]
    axes.plot(*place, "o", fillstyle="none", markersize=11, color=MARK, label=label)
    partly = [point for point in frontier if point.infinite_share]
    if partly:
        places = [point.states for point in partly], [point.divergence for point in partly]
        axes.plot(*places, "x", color=MARK, label="infinite at some positions")
    if frontier.knee is not None:
        label = f"knee: {counted(frontier.knee, 'states')}"
        axes.axvline(frontier.knee, linestyle=":", color="#555555", label=label)
    finish(
        axes,
        xscale="log",
        yscale="log" if min(values) > 0 else "linear",
        xlabel="states",
        ylabel="KL divergence per symbol (nats)",
    )
    write_numbers_in_full(axes.xaxis)
    return axes
