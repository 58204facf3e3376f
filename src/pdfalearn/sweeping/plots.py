"""Pictures of sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdfalearn.errors import MissingExtraError
from pdfalearn.sweeping.relations import relation_text

if TYPE_CHECKING:
    from pdfalearn.sweeping.results import Sweep


def plotted(sweep: Sweep, axes: Any) -> Any:
    """Draw states against divergence with its interval, each point with its κ or tolerance."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "a plot needs matplotlib: pip install 'pdfalearn[report]'"
        ) from error
    if axes is None:
        axes = Figure(figsize=(7, 4.5), layout="constrained").subplots()
    for has_ended, label, style in ((True, "learning ended", "o"), (False, "stopped", "x")):
        rows = [row for row in sweep if row.has_ended == has_ended]
        if rows:
            errors = [
                [row.divergence - row.low for row in rows],
                [row.high - row.divergence for row in rows],
            ]
            states, values = [row.states for row in rows], [row.divergence for row in rows]
            axes.errorbar(states, values, yerr=errors, fmt=style, capsize=3, label=label)
    for row in sweep:
        place = row.states, row.divergence
        axes.annotate(relation_text(row.by), place, textcoords="offset points", xytext=(5, 5))
    chosen = sweep.recommended
    if chosen is not None:
        marked = {"fillstyle": "none", "markersize": 12, "label": "recommended"}
        axes.plot([chosen.states], [chosen.divergence], "o", **marked)
    axes.set(xscale="log", xlabel="states", ylabel="KL divergence per symbol (nats)")
    axes.legend()
    return axes
