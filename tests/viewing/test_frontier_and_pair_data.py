"""What the pages of frontiers and of two automata hold, and how they are written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, Frontier, Result, distill, learn, load, save, view
from pdfalearn.analysis import differences, distances
from pdfalearn.datasets import figure_1, figure_3, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.io import check_can_save
from pdfalearn.viewing.automaton import COUNT, MOST_STEPS, comparison_data
from pdfalearn.viewing.views import frontier_parts, share_out
from tests.cli.program import error_of, run, run_json
from tests.strategies import pdfas
from tests.support import examples

TWO_MEGABYTES = 2_000_000


@pytest.fixture(scope="module")
def frontier() -> Frontier:
    return distill(random_pdfa(12, 3, seed=2), budget=Budget(max_symbols=1000), sizes=[1, 3, 6])


def test_the_curve_has_the_points_of_the_frontier(frontier: Frontier) -> None:
    certificate, part = frontier_parts(frontier)
    assert certificate.data["statement"] == frontier.certificate.statement
    data: dict[str, Any] = part.data
    assert [point["states"] for point in data["points"]] == [point.states for point in frontier]
    assert [point["divergence"] for point in data["points"]] == [p.divergence for p in frontier]
    assert data["points"][data["best"]]["states"] == len(frontier.best)
    if frontier.knee is None:
        assert data["knee"] is None
    else:
        assert data["points"][data["knee"]]["states"] == frontier.knee
    assert [automaton["states"] for automaton in data["automata"]] == [p.states for p in frontier]
    json.dumps(data, allow_nan=False)


@examples(200)
@given(st.lists(st.integers(0, 1000), min_size=1), st.integers(0, 3000))
def test_room_is_shared_fairly(sizes: list[int], room: int) -> None:
    shares = share_out(sizes, room)
    assert sum(shares) <= room
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    cut = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    if cut:
        assert max(cut) - min(cut) <= 1
        assert max(shares) - min(cut) <= 1
        assert room - sum(shares) < len(sizes)


@pytest.mark.slow
def test_pages_of_large_automata_stay_small(frontier: Frontier) -> None:
    large = random_pdfa(2000, 20, seed=1)
    points = tuple(replace(point, pdfa=large, states=2000) for point in frontier)
    assert len(view(replace(frontier, points=points)).html) < TWO_MEGABYTES
    pair = random_pdfa(3000, 20, seed=1), random_pdfa(3000, 20, seed=2)
    page = view(*pair)
    assert len(page.html) < TWO_MEGABYTES
    assert "pairs of states" in page.html


@examples(30)
@given(pdfas(alphabet="ab"), pdfas(alphabet="ab"))
def test_words_are_followed_as_the_automata_do(a: PDFA, b: PDFA) -> None:
    data = comparison_data(a, b)
    json.dumps(data, allow_nan=False)
    found = differences(a, b, COUNT)
    assert len(data["words"]) == len(found.words)
    assert [entry["share"] for entry in data["prefixes"]] == [one.share for one in found.prefixes]
    assert data["distances"][0][1] == [distances(a, b).hellinger]
    for entry, one in zip(data["prefixes"], found.prefixes, strict=True):
        for place, step in enumerate(entry["steps"]):
            prefix = one.prefix[:place]
            for automaton, state, column in zip((a, b), step["states"], (1, 2), strict=True):
                row = automaton.next_distributions([prefix])[0]
                assert_bars(step["bars"], column, row if state >= 0 else np.zeros(3))


def assert_bars(bars: list[list[float]], column: int, row: Any) -> None:
    """The bars are the row, and what they leave out is in the last one."""
    shown = {int(bar[0]): bar[column] for bar in bars}
    rest = shown.pop(-1, 0.0)
    for place, value in shown.items():
        assert value == pytest.approx(row[place], rel=1e-5)
    assert rest + sum(shown.values()) == pytest.approx(row.sum(), abs=1e-5)


def test_symbols_in_another_order() -> None:
    a = figure_3()
    b = PDFA(
        alphabet=["1", "0"],
        transitions=a.transitions[:, ::-1],
        probabilities=a.probabilities[:, [0, 2, 1]],
        initial=a.initial,
    )
    data = comparison_data(a, b)
    assert data["words"] == []
    assert data["reason"] == "The two give every word the same probability."


def test_long_words_are_cut() -> None:
    size = 200
    rows = [[0.0, 1.0]] * size + [[0.5, 0.5]]
    others = [[0.0, 1.0]] * size + [[0.9, 0.1]]
    transitions = [[min(state + 1, size)] for state in range(size + 1)]
    a, b = (PDFA(alphabet="a", transitions=transitions, probabilities=p) for p in (rows, others))
    entry = comparison_data(a, b)["words"][0]
    assert entry["length"] >= size
    assert len(entry["codes"]) == MOST_STEPS
    assert len(entry["steps"]) == MOST_STEPS + 1


def test_different_symbols_are_refused() -> None:
    with pytest.raises(InputError, match="the alphabets differ: symbol"):
        view(figure_1(), figure_3())
    with pytest.raises(InputError, match="other is 3, not a PDFA"):
        view(figure_1(), 3)  # type: ignore[arg-type]


def test_saving(frontier: Frontier, tmp_path: Path) -> None:
    result = learn(figure_3())
    for name, thing in (("run", result), ("frontier", frontier)):
        path = tmp_path / f"{name}.html"
        check_can_save(path, type(thing))
        save(thing, path)
        assert path.read_text(encoding="utf-8") == view(thing).html
    with pytest.raises(InputError, match="cannot save a file of this ending"):
        check_can_save(tmp_path / "run.htm", Result)


def test_the_command_line(frontier: Frontier, tmp_path: Path) -> None:
    target, archive, many = (tmp_path / name for name in ("t.json", "run.zip", "many.zip"))
    save(figure_3(), target)
    assert f"{archive}: the whole run" in run("learn", target, "-o", archive).stdout
    assert load(archive).pdfa == learn(figure_3()).pdfa
    page = tmp_path / "learnt.html"
    run("learn", target, "-o", page)
    assert "Learnt PDFA of 4 states" in page.read_text(encoding="utf-8")
    save(frontier, many)
    for file in (archive, many):
        output = tmp_path / f"{file.stem}.html"
        assert run("view", file, "-o", output).stdout.startswith(f"{output}: ")
        assert f"<title>{file.name}</title>" in output.read_text(encoding="utf-8")
    output = tmp_path / "both.html"
    told = run_json("view", target, archive, "-o", output)
    assert (told["file"], told["other"]) == (str(target), str(archive))
    assert "<title>A: t.json, B: run.zip</title>" in output.read_text(encoding="utf-8")
    assert "the alphabets differ" in error_of("view", target, many, "-o", output)
