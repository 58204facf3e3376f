"""Plots of frontiers and runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pdfalearn import Budget, Quantization, distill, learn
from pdfalearn.datasets import chain, figure_3, random_pdfa
from pdfalearn.errors import InputError, MissingExtraError
from tests.support import need_module


@pytest.fixture
def pyplot() -> Iterator[Any]:
    matplotlib = need_module("matplotlib")
    matplotlib.use("agg")
    pyplot = need_module("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")


def labels_of(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.slow
def test_a_frontier(pyplot: Any) -> None:
    frontier = distill(random_pdfa(20, seed=1), budget=Budget(max_symbols=3000), seed=1)
    axes = frontier.plot()
    assert axes.figure is pyplot.gcf()  # which is what notebooks show
    (line,) = [line for line in axes.get_lines() if line.get_label() == "divergence"]
    assert line.get_xdata().tolist() == [point.states for point in frontier]
    assert line.get_ydata().tolist() == [point.divergence for point in frontier]
    assert f"best: {len(frontier.best)} states" in labels_of(axes)
    axes.figure.canvas.draw()
    assert {"1", "10"} <= {label.get_text() for label in axes.get_xticklabels()}


@pytest.mark.slow
def test_a_frontier_whose_divergence_is_0(pyplot: Any) -> None:
    frontier = distill(figure_3(), budget=Budget(max_symbols=2000), seed=1)
    assert frontier.points[-1].divergence == 0
    axes = frontier.plot()
    assert axes.get_yscale() == "linear"
    axes.figure.canvas.draw()
    assert "infinite at some positions" not in labels_of(axes)
    first, *others = frontier.points
    partly = replace(frontier, points=(replace(first, infinite_share=0.1), *others))
    assert "infinite at some positions" in labels_of(partly.plot())


@pytest.mark.slow
def test_a_frontier_of_one_state(pyplot: Any) -> None:
    frontier = distill(chain(1), budget=Budget(max_symbols=2000), seed=1)
    assert "best: 1 state" in labels_of(frontier.plot())


@pytest.mark.slow
def test_a_run_on_given_axes(pyplot: Any) -> None:
    result = learn(random_pdfa(200, seed=1), equivalence=Quantization(100))
    figure, (left, right) = pyplot.subplots(1, 2)
    assert result.plot(axes=right) is right
    assert not left.get_lines()
    (line,) = [line for line in right.get_lines() if line.get_label() == "states discovered"]
    steps = [*result.history, result.statistics]
    assert line.get_xdata().tolist() == [0, *(step.words for step in steps)]
    assert line.get_ydata().tolist() == [0, *(step.states for step in steps)]
    assert f"exact: {len(result.pdfa)} states" in labels_of(right)
    figure.canvas.draw()


def test_a_run_that_was_stopped_at_once(pyplot: Any) -> None:
    result = learn(random_pdfa(200, seed=1), budget=Budget(max_words=1))
    axes = result.plot()
    assert "stopped: 1 state" in labels_of(axes)
    axes.figure.canvas.draw()


def test_wrong_axes_and_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    result = learn(figure_3())
    with pytest.raises(InputError, match="axes 'left' are not those of matplotlib"):
        result.plot("left")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install matplotlib$"):
        result.plot()
