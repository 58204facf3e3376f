"""The figures of a report, how learners look in them, drawn with matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import MissingExtraError
from pdfalearn.experiments.definitions import EXPERIMENTS
from pdfalearn.experiments.observations import (
    AUTHORS,
    Observation,
    Series,
    linear_trend,
    medians,
    power_trend,
    speed_ups,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER_SLOPE = 0.2
"""The paper: QuaNT's speed-up over L_p* is about 0.2 n."""
SPEED_UP = "speed-up"


@dataclass(frozen=True)
class Style:
    """A learner's name, a colour of Okabe and Ito's palette, a marker and a line."""

    label: str
    colour: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    """As Matplotlib takes it: a name, or an offset and the lengths of dashes and gaps."""


STYLES = {
    "quant": Style("QuaNT", "#0072B2", "o", "-"),
    "quant-classes": Style("QuaNT, classes", "#56B4E9", "v", (0, (5, 1))),
    "quant-paper": Style("plain QuaNT", "#CC79A7", "s", "--"),
    "lpstar": Style("L_p*", "#D55E00", "^", "-."),
    "wlstar": Style("WL*", "#009E73", "D", ":"),
}
"""How each learner is drawn; they are told apart in black and white, too."""

X_LABELS = {
    "states": "states of the target (actual size)",
    "symbols": "alphabet size m",
    "kappa": "quantization parameter κ",
    "distributions": "number of distributions d",
}
Y_LABELS = {
    "seconds": "median time, s",
    "structure_size": "table cells or tree nodes",
    SPEED_UP: "time of the other / time of QuaNT",
}
_SUBJECTS = {
    "seconds": "execution time",
    "structure_size": "structure size",
    SPEED_UP: "speed-up of QuaNT",
}


@dataclass(frozen=True)
class Drawing:
    """A figure: one quantity over the axis of an experiment."""

    name: str
    experiment: int
    y: str
    """A quantity of observations, or the speed-up."""

    @property
    def varies(self) -> str:
        """What is on the axis."""
        return EXPERIMENTS[self.experiment].varies

    @property
    def x(self) -> str:
        """What of observations is on the axis: targets' actual sizes, if it is sizes."""
        return "states" if self.varies == "states" else "value"

    @property
    def caption(self) -> str:
        """What is to be seen, for those who cannot see it as well."""
        over = X_LABELS[self.varies]
        text = f"Experiment {self.experiment}: {_SUBJECTS[self.y]} over {over}."
        if self.y == SPEED_UP:
            return text
        axes = "Both axes are" if self.has_logarithmic_x else "The vertical axis is"
        return f"{text} {axes} logarithmic."

    @property
    def has_logarithmic_x(self) -> bool:
        """Whether the horizontal axis is logarithmic; the vertical one is but for the speed-up."""
        return self.y != SPEED_UP and self.varies != "distributions"

    def caption_of(self, disturbed: bool) -> str:
        """Mark the caption of times, if runs that others were beside are among them."""
        return f"{self.caption} †" if disturbed and self.y == "seconds" else self.caption


DRAWINGS = (
    Drawing("exp1-time", 1, "seconds"),
    Drawing("exp1-structure", 1, "structure_size"),
    Drawing("exp1-speed-up", 1, SPEED_UP),
    Drawing("exp2-time", 2, "seconds"),
    Drawing("exp2-structure", 2, "structure_size"),
    Drawing("exp3-time", 3, "seconds"),
    Drawing("exp3-structure", 3, "structure_size"),
    Drawing("exp4-time", 4, "seconds"),
    Drawing("exp4-structure", 4, "structure_size"),
    Drawing("exp5-time", 5, "seconds"),
    Drawing("exp5-structure", 5, "structure_size"),
)
"""The paper's figures, and structure sizes where it has none."""


Points = tuple[list[int], list[float]]

_MATHEMATICAL = {"L_p*": "$L_p^*$", "WL*": "$WL^*$"}


def draw(drawing: Drawing, observations: Sequence[Observation]) -> dict[str, bytes] | None:
    """Draw a figure as SVG and as PNG; None if there is nothing to draw."""
    chosen = [one for one in observations if one.experiment == drawing.experiment]
    is_speed_up = drawing.y == SPEED_UP
    points = speed_ups(chosen) if is_speed_up else medians(chosen, drawing.x, drawing.y)
    if not points:
        return None
    with _settings():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.6))
        axes = figure.add_subplot()
        for series in sorted(points, key=_order):
            _draw_series(axes, drawing, series, points[series])
        if is_speed_up:
            _draw_paper_slope(axes, [size for sizes, _ in points.values() for size in sizes])
        _label(axes, drawing, sorted({one.value for one in chosen}))
        figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9.5)
        return {kind: _rendered(figure, kind) for kind in ("svg", "png")}


def _settings() -> AbstractContextManager[None]:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError(
            "figures need matplotlib: pip install 'pdfalearn[report]'"
        ) from error
    settings: AbstractContextManager[None] = mpl.rc_context(
        {
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
    )
    return settings


def _order(series: Series) -> tuple[bool, int]:
    """Put ours first, and learners in the order of their styles."""
    source, learner = series
    return source == AUTHORS, list(STYLES).index(learner)


def _draw_series(axes: Axes, drawing: Drawing, series: Series, points: Points) -> None:
    source, learner = series
    style, theirs = STYLES[learner], source == AUTHORS
    look: dict[str, Any] = {
        "color": style.colour,
        "marker": style.marker,
        "markerfacecolor": "white" if theirs else style.colour,
        "alpha": 0.65 if theirs else 1,
    }
    label = _MATHEMATICAL.get(style.label, style.label) + (" (authors)" if theirs else "")
    trend = _trend(drawing, points) if drawing.x == "states" else None
    if trend is None:
        line = style.line if drawing.x == "value" else ""
        axes.plot(*points, linestyle=line, label=label, **look)
    else:
        axes.plot(*points, linestyle="", **look)
        look |= {"linestyle": style.line, "markevery": []}
        axes.plot(trend.xs, trend.ys, label=f"{label}: {trend.text}", **look)


class _Trend(NamedTuple):
    xs: NDArray[np.float64]
    ys: NDArray[np.float64]
    text: str


def _trend(drawing: Drawing, points: Points) -> _Trend | None:
    """Return the ends of a trend line, which is straight on its axes, and its text."""
    sizes = np.array([min(points[0]), max(points[0])], dtype=np.float64)
    is_linear = drawing.y == SPEED_UP
    fitted = linear_trend(*points) if is_linear else power_trend(*points)
    if fitted is None:
        return None
    first, second = fitted
    if is_linear:
        return _Trend(sizes, first + second * sizes, f"slope {second:.2g}")
    return _Trend(sizes, first * sizes**second, f"∝ n$^{{{second:.2f}}}$")


def _draw_paper_slope(axes: Axes, sizes: Sequence[int]) -> None:
    ends = np.array([min(sizes), max(sizes)])
    axes.plot(
        ends,
        PAPER_SLOPE * ends,
        color="#555555",
        linewidth=1,
        linestyle=(0, (1, 2)),
        label=f"the paper: {PAPER_SLOPE} n",
    )


def _label(axes: Axes, drawing: Drawing, values: Sequence[int]) -> None:
    """Name the axes; the ticks are the values of the experiment."""
    from matplotlib.ticker import LogLocator

    axes.set_xlabel(X_LABELS[drawing.varies])
    axes.set_ylabel(Y_LABELS[drawing.y])
    if drawing.y == SPEED_UP:
        axes.set_ylim(bottom=0)
    else:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        if high < 100 * low:  # powers of ten alone would be one tick or none
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:,g}")
    if drawing.has_logarithmic_x:
        axes.set_xscale("log")
    # Four digits without a comma: 2000 and 3000 stand close together.
    labels = [f"{value:,}" if value >= 10_000 else str(value) for value in values]
    axes.set_xticks(values, labels=labels, fontsize=9.5)
    axes.minorticks_off()


def _rendered(figure: Figure, kind: str) -> bytes:
    stream = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(stream, format=kind, dpi=160, metadata=metadata)
    return stream.getvalue()
