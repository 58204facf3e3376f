"""The figures of a report, how learners look in them, drawn with matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pdfalearn.experiments.findings import (
    AUTHORS,
    PAPER_SLOPE,
    STYLES,
    AnyRun,
    Points,
    Series,
    medians,
    speed_ups,
)
from pdfalearn.experiments.plans import EXPERIMENTS
from pdfalearn.extras import import_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPEED_UP = "speed-up"
X_LABELS = {
    "nominal_states": "states of the target (actual size)",
    "alphabet_size": "alphabet size m",
    "kappa": "quantization parameter κ",
    "distributions": "number of distributions d",
}
# What is drawn: its name in files, in captions and at the axis.
QUANTITIES = {
    "seconds": ("time", "execution time", "median time, s"),
    "structure_size": ("structure", "structure size", "table cells or tree nodes"),
    SPEED_UP: (SPEED_UP, "speed-up of QuaNT", "time of the other / time of QuaNT"),
}


# The paper's figures, and structure sizes where it has none: experiment and quantity.
FIGURES = [(n, y) for n in EXPERIMENTS for y in QUANTITIES if y != SPEED_UP or n == 1]
_LOOK = {
    "font.size": 11,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 6,
    "svg.hashsalt": "pdfalearn",  # the same picture for the same runs
    "figure.constrained_layout.use": True,
}


def caption(number: int, y: str) -> str:
    """Return a description, also for those who cannot see the figure."""
    return f"Experiment {number}: {QUANTITIES[y][1]} over {X_LABELS[EXPERIMENTS[number].varies]}."


def draw_figure(number: int, y: str, runs: Sequence[AnyRun]) -> dict[str, bytes]:
    """Draw a figure as SVG and as PNG; nothing if there is nothing to draw."""
    chosen = [run for run in runs if run.experiment == number]
    varies = EXPERIMENTS[number].varies
    # Targets' actual sizes are on the axis, if it is sizes.
    x = "target_states" if varies == "nominal_states" else "value"
    points = speed_ups(chosen, x) if y == SPEED_UP else medians(chosen, x, y)
    if not points:
        return {}
    with import_extra("matplotlib.style", "figures").context(_LOOK):
        figure = import_extra("matplotlib.figure", "figures").Figure(figsize=(6.4, 4.6))
        axes = figure.add_subplot()
        order = list(STYLES)  # ours first, and learners in the order of their styles
        for series in sorted(points, key=lambda one: (one[0] == AUTHORS, order.index(one[1]))):
            _draw_series(axes, series, points[series])
        if y == SPEED_UP:
            sizes = [size for sizes, _ in points.values() for size in sizes]
            ends = np.array([min(sizes), max(sizes)])
            look: dict[str, Any] = {"color": "#555555", "linewidth": 1, "linestyle": (0, (1, 2))}
            axes.plot(ends, PAPER_SLOPE * ends, label=f"the paper: {PAPER_SLOPE} n", **look)
        _label_axes(axes, varies, y, sorted({run.value for run in chosen}))
        figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9.5)
        files = {}
        for kind, undated in (("svg", "Date"), ("png", "Software")):
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, dpi=160, metadata={undated: None})
            files[kind] = stream.getvalue()
        return files


def _draw_series(axes: Axes, series: Series, points: Points) -> None:
    """Draw medians, and lines that join them."""
    source, learner = series
    style, theirs = STYLES[learner], source == AUTHORS
    look: dict[str, Any] = {
        "color": style.colour,
        "marker": style.marker,
        "linestyle": style.line,
        "markerfacecolor": "white" if theirs else style.colour,
        "alpha": 0.65 if theirs else 1,
    }
    label = style.label.replace("L_p*", "$L_p^*$").replace("WL*", "$WL^*$")
    axes.plot(*points, label=f"{label} (authors)" if theirs else label, **look)


def _label_axes(axes: Axes, varies: str, y: str, values: Sequence[int]) -> None:
    """Name the axes; the ticks are the values of the experiment."""
    from matplotlib.ticker import LogLocator

    axes.set(xlabel=X_LABELS[varies], ylabel=QUANTITIES[y][2])
    if y == SPEED_UP:
        axes.set_ylim(bottom=0)
    else:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        if high < 100 * low:  # powers of ten alone would be one tick or none
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:,g}")
    if y != SPEED_UP and varies != "distributions":
        axes.set_xscale("log")
    # Four digits without a comma: 2000 and 3000 stand close together.
    labels = [f"{value:,}" if value >= 10_000 else str(value) for value in values]
    axes.set_xticks(values, labels=labels, fontsize=9.5)
    axes.minorticks_off()
