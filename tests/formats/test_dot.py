from __future__ import annotations

import html
import re
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given

from pdfalearn import PDFA, InputError, MissingExtraError, chain, figure_2, figure_3, save
from pdfalearn.formats.dot import notebook_svg, render, to_dot
from tests.formats.samples import odd_pdfas
from tests.support import examples, need_program

SIGNATURES = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


def one_state(*alphabet: object) -> PDFA:
    width = len(alphabet)
    rows = [[0, *[1 / width] * width]]
    return PDFA(alphabet=alphabet, transitions=[[0] * width], probabilities=rows)


def texts_of(svg: str) -> list[str]:
    """The lines of text of a picture, as a reader sees them."""
    return [html.unescape(text) for text in re.findall("<text[^>]*>(.*?)</text>", svg, re.DOTALL)]


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


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("a", "a"),
        ("a b", "a b"),
        (7, "7"),
        (("a", 1), "\"('a', 1)\""),
        ('"', '"'),
        ("\\", "\\"),
        ("\\n", "\\n"),
        ("\\N", "\\N"),
        ("\n", "'\\n'"),
        ("", "''"),
        (" ", "' '"),
        (",", "','"),
        ("a/b", "'a/b'"),
        ("<b>", "<b>"),
        ("&lt;", "&lt;"),
        ("&", "&"),
        ("é😀", "é😀"),
        ("\ud800", "'\\ud800'"),
        ("\0", "'\\x00'"),
    ],
)
def test_symbols_are_seen_as_they_are(symbol: object, shown: str) -> None:
    need_program("dot")
    svg = render(one_state(symbol), "svg").decode()
    assert texts_of(svg) == ["q₀", "0", f"{shown}/1"]


@examples(25)
@given(pdfa=odd_pdfas())
def test_graphviz_draws_any_symbols(pdfa: PDFA) -> None:
    need_program("dot")
    assert texts_of(render(pdfa, "svg").decode())


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_pictures_are_saved(kind: str, tmp_path: Path) -> None:
    need_program("dot")
    save(figure_3(), tmp_path / f"picture.{kind}")
    assert (tmp_path / f"picture.{kind}").read_bytes().startswith(SIGNATURES[kind])


@pytest.mark.slow
def test_dense_pictures_do_not_take_long() -> None:
    need_program("dot")
    pdfa = PDFA(
        alphabet="ab",
        transitions=[[(7 * q + 3) % 300, (q * q) % 300] for q in range(300)],
        probabilities=[[0.5, 0.25, 0.25]] * 300,
    )
    render(pdfa, "svg")


def test_a_picture_of_many_states_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^a picture of 301 states won't help; draw the quotient"):
        save(chain(301), tmp_path / "large.svg")
    save(chain(301), tmp_path / "large.dot")
    assert [path.name for path in tmp_path.iterdir()] == ["large.dot"]


def test_a_missing_graphviz_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        MissingExtraError, match=r"apt-get install graphviz .*brew install graphviz"
    ):
        save(figure_3(), tmp_path / "picture.svg")
    assert notebook_svg(figure_3()) is None
    assert list(tmp_path.iterdir()) == []


def fake_dot(folder: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "dot"
    command = shlex.join([sys.executable, "-c", program])  # a folder's name may have blanks
    path.write_text(f"#!/bin/sh\nexec {command}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_a_failing_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, "import sys; sys.exit('Error: no such font\\nmore')", monkeypatch)
    with pytest.raises(InputError, match=r"could not draw PDFA\(4 states.*: Error: no such font$"):
        render(figure_3(), "png")
    assert notebook_svg(figure_3()) is None


def test_a_slow_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, "import time; time.sleep(60)", monkeypatch)
    with pytest.raises(InputError, match=r"did not finish PDFA\(4 states.* in 0\.2 seconds; draw"):
        render(figure_3(), "png", time_limit=0.2)


def test_notebooks() -> None:
    need_program("dot")
    svg = figure_3()._repr_svg_()
    assert svg is not None
    assert "q₃" in svg
    assert chain(41)._repr_svg_() is None
