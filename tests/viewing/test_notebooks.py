"""What notebooks show: small, soon, and with a reason where there is no picture."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from pdfalearn import PDFA, compare, divergence, evaluate, learn, simplify
from pdfalearn.analysis import differences, distances, most_likely
from pdfalearn.datasets import chain, figure_1, figure_3, random_pdfa, reber
from pdfalearn.viewing import notebooks
from tests.io.sample_trees import FIGURE_3, star
from tests.support import need_program
from tests.viewing.picture_samples import bigram, fake_dot, texts_of


def shown(thing: Any) -> dict[str, str]:
    bundle: dict[str, str] = thing._repr_mimebundle_(include=None, exclude=None)
    assert len(bundle) == 1
    return bundle


def text_of(html: str) -> str:
    return re.sub("<[^>]*>", " ", html)


def test_automata_and_trees_are_pictures() -> None:
    need_program("dot")
    assert "q₃" in texts_of(shown(figure_3())["image/svg+xml"])
    assert any("(1, 6, 3)" in text for text in texts_of(shown(FIGURE_3)["image/svg+xml"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "pdfa",
    [bigram(), random_pdfa(60, seed=3), random_pdfa(5000, seed=1), chain(1000)],
    ids=["bigram", "60", "5000", "chain"],
)
def test_large_automata_have_a_picture_too(pdfa: PDFA) -> None:
    need_program("dot")
    svg = shown(pdfa)["image/svg+xml"]
    assert "left out" in svg or " states, " in svg
    assert len(svg) < 200_000


def test_too_large_ones_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "MOST_CELLS", 100)
    html = shown(random_pdfa(60, seed=1))["text/html"]
    assert "too many to be drawn unasked; draw(pdfa) draws the likely core, view(pdfa)" in html
    html = shown(star(41))["text/html"]
    assert "41 leaves are too many for a notebook; save(tree, " in text_of(html)


def test_without_graphviz_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for html in (shown(reber())["text/html"], shown(FIGURE_3)["text/html"]):
        assert "no picture: drawings need Graphviz" in html
        assert "apt-get install graphviz" in html
    assert "apt-get install graphviz" in learn(reber())._repr_html_()


@pytest.mark.slow
def test_a_slow_graphviz_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, "import time; time.sleep(60)", monkeypatch)
    begin = time.perf_counter()
    html = shown(figure_3())["text/html"]
    assert time.perf_counter() - begin < 30
    assert "did not finish a picture of 4 states in 2 seconds" in html


def test_a_result() -> None:
    result = learn(random_pdfa(200, seed=1))
    text = text_of(result._repr_html_())
    assert "exact:" in text
    assert re.search(rf"words asked +{result.statistics.words:,}", text)
    assert len(text) < 1000
    assert len(repr(result)) < 100
    assert len(repr(result.statistics)) < 600


@pytest.mark.slow
def test_evaluations_divergences_and_simplified() -> None:
    pdfa = random_pdfa(60, seed=1)
    smaller = simplify(pdfa, states=5)
    evaluation = evaluate(pdfa, smaller.pdfa, seed=1)
    text = text_of(evaluation._repr_html_())
    figures = re.findall(r"\d+\.\d+", evaluation.table())
    assert f"{evaluation.perplexity:.6g}" in figures
    assert all(figure in text for figure in figures)
    assert f"{smaller.divergence!r}" in smaller._repr_html_()
    between = divergence(figure_1(), figure_1(0.25))
    assert between.table() in text_of(between._repr_html_())


def test_measures_are_tables() -> None:
    a, b = figure_1(), figure_1(0.25)
    result = learn(figure_3())
    for value, words in (
        (distances(a, b), ["Hellinger distance", "0.229586"]),
        (differences(a, b, 2), ["a after a", "0.25"]),
        (compare(a, b, count=2), ["total variation", "0.138013 to 0.320377"]),
        (compare(["a"] * 50, ["aa"] * 50, model=a), ["50 and 50 words", "p-value"]),
        (result.statistics, ["words asked", f"{result.statistics.words:,}"]),
    ):
        html: str = value._repr_html_()
        assert html.startswith("<div>")
        for text in words:
            assert text in text_of(html)
            assert text in str(value)
    assert str(next(most_likely(figure_3()))) == "0  0.05"


def test_a_picture_is_as_wide_as_its_column_at_most() -> None:
    need_program("dot")
    assert 'style="max-width:100%;height:auto"' in shown(figure_3())["image/svg+xml"]
