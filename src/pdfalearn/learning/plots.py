"""Plots of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdfalearn.plotting import COLOUR, MARK, finish, given_or_new_axes

if TYPE_CHECKING:
    from pdfalearn.learning.results import Result


def plotted(result: Result, axes: Any) -> Any:
    """Draw the words asked against the states that were discovered, at each equivalence query."""
    axes = given_or_new_axes(axes)
    words = [step.words for step in (*result.history, result.statistics)]
    states = [step.states for step in (*result.history, result.statistics)]
    axes.plot([0, *words], [0, *states], color=COLOUR, label="states discovered")
    label = f"equivalence queries: {len(result.history):,}"
    axes.plot(words[:-1], states[:-1], "o", markersize=4, color=COLOUR, label=label)
    count = len(result.pdfa)
    label = f"{result.certificate.kind}: {count:,} state{'s' * (count != 1)}"
    end = words[-1:], states[-1:]
    axes.plot(*end, "o", fillstyle="none", markersize=11, color=MARK, label=label)
    axes.yaxis.get_major_locator().set_params(integer=True)
    return finish(axes, xlabel="words asked", ylabel="states")
