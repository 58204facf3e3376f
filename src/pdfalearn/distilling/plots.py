"""Pictures of frontiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdfalearn.errors import MissingExtraError

if TYPE_CHECKING:
    from pdfalearn.distilling.frontier import Frontier


def plotted(frontier: Frontier, axes: Any) -> Any:
    """Draw states against divergence with its confidence interval."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "a plot needs matplotlib: pip install 'pdfalearn[report]'"
        ) from error
    if axes is None:
        axes = Figure(figsize=(7, 4.5), layout="constrained").subplots()
    states = [point.states for point in frontier]
    axes.fill_between(
        states, [point.low for point in frontier], [point.high for point in frontier], alpha=0.25
    )
    axes.plot(states, [point.divergence for point in frontier], marker="o", markersize=3)
    best = frontier.point(len(frontier.best))
    axes.plot([best.states], [best.divergence], "o", fillstyle="none", markersize=10, label="best")
    if frontier.knee is not None:
        axes.axvline(frontier.knee, linestyle=":", label=f"knee: {frontier.knee} states")
    axes.set(xscale="log", yscale="log", xlabel="states", ylabel="KL divergence per symbol (nats)")
    axes.legend()
    return axes
