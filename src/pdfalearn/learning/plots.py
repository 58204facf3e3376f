"""Plots of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdfalearn.plotting import COLOUR, MARK, finish, given_or_new_axes

if TYPE_CHECKING:
    from pdfalearn.learning.results import Result

_FAR = 100
"""Words are on a logarithmic scale where the last query has so many times those of the first."""


def plotted(result: Result, axes: Any) -> Any:
    """Draw the words asked against the states of each hypothesis."""
    axes = given_or_new_axes(axes)
    steps = [*result.history, result.statistics]
    words, states = [step.words for step in steps], [step.states for step in steps]
    axes.step(words, states, where="post", color=COLOUR, label="states discovered")
    label = f"{len(result.history):,} equivalence queries"
    axes.plot(words[:-1], states[:-1], "o", markersize=4, color=COLOUR, label=label)
    count = len(result.pdfa)
    label = f"{result.certificate.kind}: {count:,} state{'s' * (count != 1)}"
    axes.plot(
        words[-1:], states[-1:], "o", fillstyle="none", markersize=11, color=MARK, label=label
    )
    is_far = words[0] > 0 and words[-1] >= _FAR * words[0]
    scale = "log" if is_far else "linear"
    return finish(axes, xscale=scale, xlabel="words asked", ylabel="states")
