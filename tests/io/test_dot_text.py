"""Drawings that are loaded again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from pdfalearn import PDFA, load, save
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.viewing import default_picture
from tests.io.samples import complaint_about, load_bytes, odd_pdfas
from tests.support import examples, need_program


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drawings")


@examples(100)
@given(pdfa=odd_pdfas())
def test_it_comes_back_to_the_last_bit(pdfa: PDFA, folder: Path) -> None:
    save(pdfa, folder / "x.dot")
    loaded = load(folder / "x.dot")
    assert loaded == pdfa
    assert loaded.probabilities.tobytes() == pdfa.probabilities.tobytes()


def test_graphviz_draws_the_same_with_the_comments(tmp_path: Path) -> None:
    need_program("dot")
    pdfa = random_pdfa(20, seed=3, symbols=40)
    save(pdfa, tmp_path / "x.dot")
    pictures = [
        subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, check=True).stdout
        for text in ((tmp_path / "x.dot").read_bytes(), default_picture(pdfa).dot.encode())
    ]
    assert pictures[0] == pictures[1]


def test_a_drawing_that_was_edited_is_refused(tmp_path: Path) -> None:
    save(figure_3(), tmp_path / "x.dot")
    data = (tmp_path / "x.dot").read_bytes()
    assert load_bytes(data.replace(b"\n", b"\r\n"), ".dot", tmp_path) == figure_3()
    edits = [
        (b"0/0.5", b"0/0.6"),
        (b"[0.0,0.5,0.5]", b"[0.0,0.6,0.4]"),
        (b"}\n//", b"\n}\n//"),
        (b"//= ", b"//= 0"),
        (b"//= ", b"// "),
    ]
    for old, new in edits:
        assert old in data
        complaint = complaint_about(data.replace(old, new, 1), ".dot", tmp_path)
        assert complaint.startswith("the drawing and the automaton below it are not the same")


def test_drawings_of_others(tmp_path: Path) -> None:
    for data in (b"", b"digraph { a -> b }", default_picture(figure_3()).dot.encode()):
        complaint = complaint_about(data, ".dot", tmp_path)
        assert complaint.startswith("a drawing without the automaton below it")
    assert complaint_about(b"//| [", ".dot", tmp_path).startswith("it is not JSON, or cut off")


def test_odd_symbols_are_drawn_and_not_kept(tmp_path: Path) -> None:
    pdfa = PDFA(alphabet=[("a", 1)], transitions=[[0]], probabilities=np.array([[0.5, 0.5]]))
    save(pdfa, tmp_path / "x.dot")
    assert (tmp_path / "x.dot").read_text() == default_picture(pdfa).dot
