"""What `save` writes as a drawing is what `draw` draws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pdfalearn import PDFA, draw, save
from pdfalearn.datasets import figure_2, random_pdfa
from tests.viewing.picture_samples import bigram, one_state


def saved_text(pdfa: PDFA, folder: Path) -> str:
    save(pdfa, folder / "saved.dot")
    return (folder / "saved.dot").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "pdfa", [figure_2()[0], one_state("a", 'b"\\'), random_pdfa(150, seed=1), bigram()], ids=repr
)
def test_save_and_draw_make_the_same_drawing(pdfa: PDFA, tmp_path: Path) -> None:
    assert saved_text(pdfa, tmp_path) == draw(pdfa, tmp_path / "drawn.dot").dot


def test_figure_2_as_in_the_paper(tmp_path: Path) -> None:
    text = saved_text(figure_2()[0], tmp_path)
    assert re.search(r"start -> 0\b", text)
    assert re.search(r'2 \[label=<q₂<BR/><FONT POINT-SIZE="11">0.3</FONT>>', text)
    assert '3 -> 3 [label="a,b/0.5"' in text
    assert re.findall(r' 0 -> . \[label="[^"]*"', text) == [
        ' 0 -> 1 [label="a/0.1"',
        ' 0 -> 3 [label="b/0.9"',
    ]


def test_edges_between_the_same_states_are_one_of_several_lines(tmp_path: Path) -> None:
    pdfa = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0, 0.5, 0.25, 0.25]])
    assert '0 -> 0 [label="a/0.5\\nb,c/0.25"' in saved_text(pdfa, tmp_path)


def test_undefined_and_impossible_transitions_are_not_drawn(tmp_path: Path) -> None:
    pdfa = PDFA(
        alphabet="abc",
        transitions=[[-1, 1, 0], [1, 1, 1]],
        probabilities=[[0.25, 0, 0, 0.75], [0.5, 0, 0.5, 0]],
    )
    edges = re.findall(r'\d -> \d \[label="[^"]*"', saved_text(pdfa, tmp_path))
    assert edges == ['0 -> 0 [label="c/0.75"']


def test_numbers_are_short(tmp_path: Path) -> None:
    rows = [[1 / 3, 2 / 3], [1e-7, 1 - 1e-7], [1.0, 0.0]]
    pdfa = PDFA(alphabet="a", transitions=[[1], [2], [0]], probabilities=rows)
    text = saved_text(pdfa, tmp_path)
    for label in (">0.33<", '"a/0.67"', '"a/1"', ">1<"):
        assert label in text
    assert ">1e-07<" not in text  # as good as never


def test_many_symbols_are_cut(tmp_path: Path) -> None:
    assert '"0,1,2,3,4,5,6,…93 more/0.01"' in saved_text(one_state(*range(100)), tmp_path)
    weights = range(1, 41)
    rows = [[0, *(weight / sum(weights) for weight in weights)]]
    pdfa = PDFA(alphabet=range(40), transitions=[[0] * 40], probabilities=rows)
    assert "…37 more/" in saved_text(pdfa, tmp_path)
