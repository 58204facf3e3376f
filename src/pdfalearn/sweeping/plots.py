"""Plots of sweeps."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from pdfalearn.plotting import COLOUR, MARK, finish, given_or_new_axes
from pdfalearn.sweeping.relations import relation_text

if TYPE_CHECKING:
    from pdfalearn.sweeping.results import Sweep, SweepRow

_PLACES = 20
"""An axis has this many parts; points in the same part share their name."""


def plotted(sweep: Sweep, axes: Any) -> Any:
    """Draw states against divergence with its interval, each point with its κ or tolerance."""
    axes = given_or_new_axes(axes)
    for has_ended, label, style in ((True, "learning ended", "o"), (False, "stopped", "x")):
        rows = [row for row in sweep if row.has_ended == has_ended]
        if rows:
            _draw(rows, axes, fmt=style, label=label)
    _name(sweep, axes)
    chosen = sweep.recommended
    if chosen is not None:
        marked = {"fillstyle": "none", "markersize": 12, "color": MARK, "label": "recommended"}
        axes.plot([chosen.states], [chosen.divergence], "o", **marked)
    return finish(axes, xscale="log", xlabel="states", ylabel="KL divergence per symbol (nats)")


def _name(sweep: Sweep, axes: Any) -> None:
    """Write at each place what was learnt with there; places too near to be told apart share it."""
    widest = max(log(row.states) for row in sweep)
    for rows in _together(sweep, widest):
        states, divergence = rows[0].states, rows[0].divergence
        is_right = log(states) > widest / 2
        axes.annotate(
            "\n".join(map(_text, rows)),
            (states, divergence),
            textcoords="offset points",
            xytext=(-6 if is_right else 6, 6),
            horizontalalignment="right" if is_right else "left",
        )


def _text(row: SweepRow) -> str:
    """Name a row; its point only shows the positions where its divergence is finite."""
    share = row.infinite_share
    return relation_text(row.by) + (f", infinite at {share:.2%}" if share else "")


def _together(sweep: Sweep, widest: float) -> list[list[SweepRow]]:
    """Part the rows by where their points are."""
    highest = max(row.divergence for row in sweep)
    parts: dict[tuple[int, int], list[SweepRow]] = {}
    for row in sweep:
        across = round(_PLACES * log(row.states) / (widest or 1))
        up = round(_PLACES * row.divergence / (highest or 1))
        parts.setdefault((across, up), []).append(row)
    return [*parts.values()]


def _draw(rows: list[SweepRow], axes: Any, **style: Any) -> None:
    states, values = [row.states for row in rows], [row.divergence for row in rows]
    below = [row.divergence - row.low for row in rows]
    above = [row.high - row.divergence for row in rows]
    axes.errorbar(states, values, yerr=[below, above], color=COLOUR, capsize=3, **style)
