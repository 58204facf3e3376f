from __future__ import annotations

import re

from pdfalearn import PDFA
from pdfalearn.datasets import figure_2
from pdfalearn.io.dot import to_dot
from tests.viewing.picture_samples import one_state


def test_figure_2_as_in_the_paper() -> None:
    lines = [line.strip() for line in to_dot(figure_2()[0]).splitlines()]
    assert "start -> 0;" in lines
    assert '2 [label="q₂\\n0.3"];' in lines
    assert '3 -> 3 [label="a,b/0.5"];' in lines
    assert [line for line in lines if line.startswith("0 ->")] == [
        '0 -> 1 [label="a/0.1"];',
        '0 -> 3 [label="b/0.9"];',
    ]


def test_edges_between_the_same_states_are_one_of_several_lines() -> None:
    pdfa = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0, 0.5, 0.25, 0.25]])
    assert '0 -> 0 [label="a/0.5\\nb,c/0.25"];' in to_dot(pdfa)


def test_undefined_transitions_are_not_drawn_and_those_of_probability_0_are_dashed() -> None:
    pdfa = PDFA(
        alphabet="abc",
        transitions=[[-1, 1, 0], [1, 1, 1]],
        probabilities=[[0.25, 0, 0, 0.75], [0.5, 0, 0.5, 0]],
    )
    edges = [line.strip() for line in to_dot(pdfa).splitlines() if re.match(r" *\d ->", line)]
    assert edges == [
        '0 -> 1 [label="b/0", style=dashed, color="#999999", fontcolor="#999999"];',
        '0 -> 0 [label="c/0.75"];',
        '1 -> 1 [label="a,c/0\\nb/0.5"];',
    ]


def test_numbers_are_short() -> None:
    rows = [[1 / 3, 2 / 3], [1e-7, 1 - 1e-7], [1.0, 0.0]]
    text = to_dot(PDFA(alphabet="a", transitions=[[1], [2], [0]], probabilities=rows))
    for label in ("q₀\\n0.3333", "a/0.6667", "q₁\\n1e-07", "a/1", "q₂\\n1"):
        assert f'"{label}"' in text


def test_many_symbols_are_cut() -> None:
    assert '"0,1,2,3,4,5,6,…93 more/0.01"' in to_dot(one_state(*range(100)))
    weights = range(1, 41)
    rows = [[0, *(weight / sum(weights) for weight in weights)]]
    pdfa = PDFA(alphabet=range(40), transitions=[[0] * 40], probabilities=rows)
    assert '…25 more"' in to_dot(pdfa)
