"""What a page holds: sizes, visits, what is left out, and where it is written."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from pdfalearn import PDFA, load, save, view
from pdfalearn.analysis import expected_visits
from pdfalearn.datasets import figure_1, random_pdfa, reber
from pdfalearn.errors import InputError
from pdfalearn.io import check_can_save
from pdfalearn.viewing.automaton import MOST_ROW, MOST_STATES, MOST_TRANSITIONS, automaton_data
from pdfalearn.viewing.choosing import cut_visits
from tests.cli.program import error_of, run, run_json
from tests.strategies import pdfas
from tests.support import examples

TWO_MEGABYTES = 2_000_000


def array(data: dict[str, Any], name: str, kind: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(data[name]), f"<{kind}")


def pdfa_in(data: dict[str, Any]) -> tuple[Any, Any]:
    """Read transitions and probabilities of a page that has all of an automaton."""
    numbers, counts = array(data, "numbers", "i4"), array(data, "counts", "i4")
    size, symbols = data["states"], data["alphabet"]
    rows, table = np.zeros((size, symbols + 1)), np.full((size, symbols), -1)
    states = np.repeat(numbers, counts)
    codes = array(data, "symbols", "i4")
    rows[numbers, 0] = array(data, "terminal", "f8")
    rows[states, codes + 1] = array(data, "probabilities", "f8")
    table[states, codes] = numbers[array(data, "targets", "i4")]
    return table, rows


@examples(100)
@given(pdfas())
def test_a_small_page_has_all_of_the_automaton(pdfa: PDFA) -> None:
    data: dict[str, Any] = automaton_data(pdfa)
    used = len(data["texts"])
    if used == len(pdfa.alphabet):
        table, rows = pdfa_in(data)
        assert np.array_equal(table, pdfa.transitions)
        assert np.array_equal(rows, pdfa.probabilities)
    assert array(data, "numbers", "i4")[0] == pdfa.initial
    assert array(data, "leftOut", "i4").sum() == 0


@examples(100)
@given(pdfas())
def test_visits_are_the_expected_ones_where_words_are_short(pdfa: PDFA) -> None:
    visits = cut_visits(pdfa)
    if visits.symbols is None:
        assert np.allclose(visits.states, expected_visits(pdfa).states, rtol=1e-5, atol=1e-7)
    else:
        assert visits.states.sum() <= visits.symbols + 1 + 1e-6


@pytest.mark.slow
def test_pages_of_a_thousand_states_are_small_and_whole() -> None:
    pdfa = random_pdfa(1000, symbols=40, seed=1)
    data: dict[str, Any] = automaton_data(pdfa)
    assert len(array(data, "numbers", "i4")) == 1000
    assert len(view(pdfa).html.encode()) < TWO_MEGABYTES


@pytest.mark.slow
@pytest.mark.parametrize(("states", "symbols"), [(300_000, 2), (3000, 100), (40, 5000)])
def test_larger_pages_have_the_core(states: int, symbols: int) -> None:
    pdfa = random_pdfa(states, symbols=symbols, seed=2)
    data: dict[str, Any] = automaton_data(pdfa)
    assert len(view(pdfa).html.encode()) < TWO_MEGABYTES
    visits = cut_visits(pdfa).states
    shown = array(data, "numbers", "i4")
    left = np.delete(visits, shown)
    assert 1 < len(shown) <= MOST_STATES
    assert array(data, "counts", "i4").sum() <= MOST_TRANSITIONS
    assert left.size == 0 or visits[shown[1:]].min() >= left.max()
    assert data["allVisits"] == pytest.approx(visits.sum())
    counts, left_out = array(data, "counts", "i4"), array(data, "leftOut", "i4")
    assert (counts + left_out == symbols).all()
    assert counts.max() == min(symbols, MOST_ROW)


def test_long_names_of_symbols_do_not_make_a_page_large() -> None:
    names = [f"{number} {'x' * 20_000}" for number in range(200)]
    pdfa = PDFA(alphabet=names, transitions=[[0] * 200], probabilities=[[0, *[0.005] * 200]])
    assert len(view(pdfa).html.encode()) < TWO_MEGABYTES


def test_pages_are_saved_by_their_ending(tmp_path: Path) -> None:
    path = tmp_path / "view.HTML"
    check_can_save(path)
    save(reber(), path)
    assert path.read_text(encoding="utf-8") == view(reber()).html
    with pytest.raises(InputError, match="cannot load a file of this ending"):
        load(path)
    with pytest.raises(InputError, match="cannot save a file of this ending"):
        view(reber()).save(tmp_path / "view.txt")


def test_the_command_writes_a_page_and_tells_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(figure_1(), "small.json")
    done = run("view", "small.json")
    assert done.stdout.startswith("small.html: ")
    assert "<h1>small.json</h1>" in Path("small.html").read_text(encoding="utf-8")
    told = run_json("view", "small.json", "-o", "other.html", "--title", "Two & two")
    written = Path("other.html").stat().st_size
    assert told == {"file": "small.json", "other": None, "output": "other.html", "bytes": written}
    assert "<h1>Two &amp; two</h1>" in Path("other.html").read_text(encoding="utf-8")
    for name in ("page.svg", "page.json"):
        error = error_of("view", "small.json", "-o", name)
        assert error.endswith("cannot save a file of this ending; those that work: .html")


@pytest.mark.slow
def test_the_page_is_opened_in_the_default_browser(tmp_path: Path) -> None:
    save(figure_1(), tmp_path / "small.json")
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n', encoding="utf-8")
    browser.chmod(0o755)
    page = tmp_path / "a page.html"
    settings = os.environ | {"BROWSER": f"{browser} %s"}
    command = ["-m", "pdfalearn", "view", "small.json", "-o", page.name, "--open"]
    subprocess.run([sys.executable, *command], cwd=tmp_path, env=settings, check=True, timeout=120)
    assert (tmp_path / "opened").read_text(encoding="utf-8").strip() == page.as_uri()
