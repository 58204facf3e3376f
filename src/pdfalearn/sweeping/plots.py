"""Plots of sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdfalearn.plotting import COLOUR, MARK, finish, given_or_new_axes
from pdfalearn.sweeping.relations import relation_text

if TYPE_CHECKING:
    from pdfalearn.sweeping.results import Sweep, SweepRow


def plotted(sweep: Sweep, axes: Any) -> Any:
    """Draw states against divergence with its interval, each point with its κ or tolerance."""
    axes = given_or_new_axes(axes)
    for has_ended, label, style in ((True, "learning ended", "o"), (False, "stopped", "x")):
        rows = [row for row in sweep if row.has_ended == has_ended]
        if rows:
            _draw(rows, axes, fmt=style, label=label)
    for row in sweep:
        place = row.states, row.divergence
        axes.annotate(relation_text(row.by), place, textcoords="offset points", xytext=(5, 5))
    chosen = sweep.recommended
    if chosen is not None:
        marked = {"fillstyle": "none", "markersize": 12, "color": MARK, "label": "recommended"}
        axes.plot([chosen.states], [chosen.divergence], "o", **marked)
    return finish(axes, xscale="log", xlabel="states", ylabel="KL divergence per symbol (nats)")


def _draw(rows: list[SweepRow], axes: Any, **style: Any) -> None:
    states, values = [row.states for row in rows], [row.divergence for row in rows]
    below = [row.divergence - row.low for row in rows]
    above = [row.high - row.divergence for row in rows]
    axes.errorbar(states, values, yerr=[below, above], color=COLOUR, capsize=3, **style)
