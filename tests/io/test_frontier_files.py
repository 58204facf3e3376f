"""What was saved of a frontier and is loaded again is equal; frontiers are values."""

from __future__ import annotations

import copy
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import (
    PDFA,
    Budget,
    Certificate,
    Frontier,
    Quantization,
    Result,
    distill,
    learn,
    load,
    save,
)
from pdfalearn.datasets import figure_3
from pdfalearn.errors import InputError
from pdfalearn.io import check_can_save, load_pdfa
from tests.distilling.frontiers import FRONTIERS, bytes_of, frontier_of, load_bytes, members_of


def assert_same(one: Frontier, other: Frontier) -> None:
    """Check what can be seen of two frontiers."""
    assert one == other
    assert hash(one) == hash(other)
    assert one.points == other.points
    assert one.certificate == other.certificate
    assert (one.sizes, one.notes) == (other.sizes, other.notes)
    assert (one.best, one.knee) == (other.best, other.knee)
    assert one.model_perplexity == other.model_perplexity
    assert one.table() == other.table()
    assert repr(one) == repr(other)
    for name in ("kept_losses", "kept_infinite", "kept_lengths"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
        assert not getattr(other, name).flags.writeable


@pytest.mark.parametrize("name", FRONTIERS)
def test_round_trips(name: str, tmp_path: Path) -> None:
    frontier = frontier_of(name)
    data = bytes_of(frontier, tmp_path)
    again = load_bytes(data, tmp_path)
    assert_same(frontier, again)
    assert bytes_of(again, tmp_path) == data


@pytest.mark.slow
def test_the_samples_are_of_all_kinds() -> None:
    assert any(point.infinite_share > 0 for point in frontier_of("infinite"))
    assert len(frontier_of("one size")) == 1
    assert frontier_of("integers").best.alphabet.symbols == (7, -(2**63), "b")
    for name in FRONTIERS:
        is_interrupted = frontier_of(name).certificate.details["interrupted"]
        assert is_interrupted is name.startswith("interrupted")


def test_infinite_figures(tmp_path: Path) -> None:
    first, *others = frontier_of("figure 3").points
    odd = replace(first, high=float("inf"), perplexity=float("inf"), low=5e-324)
    frontier = replace(frontier_of("figure 3"), points=(odd, *others))
    assert_same(frontier, load_bytes(bytes_of(frontier, tmp_path), tmp_path))


def pickled(frontier: Frontier) -> Frontier:
    copied = pickle.loads(pickle.dumps(frontier))  # noqa: S301
    assert isinstance(copied, Frontier)
    return copied


@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", FRONTIERS)
def test_copies_are_equal(name: str, copied: Callable[[Frontier], Frontier]) -> None:
    frontier = frontier_of(name)
    other = copied(frontier)
    assert other is not frontier
    assert_same(frontier, other)


@pytest.mark.slow
def test_frontiers_that_differ_are_not_equal() -> None:
    frontier = frontier_of("figure 3")
    first, *others = frontier.points
    different = [
        replace(frontier, points=frontier.points[1:]),
        replace(frontier, points=(replace(first, low=first.low / 2), *others)),
        replace(frontier, sizes=(1, 2)),
        replace(frontier, notes=("late",)),
        replace(frontier, kept_losses=frontier.kept_losses + 1),
        replace(frontier, certificate=Certificate("distilled", "")),
        replace(frontier, model_perplexity=1.0),
        frontier_of("random"),
        frontier.points,
    ]
    assert all(frontier != other for other in different)
    assert frontier == distill(figure_3(), budget=Budget(max_symbols=600), sizes=[1, 2, 4], seed=1)


def test_what_the_file_holds(tmp_path: Path) -> None:
    frontier = frontier_of("figure 3")
    text = json.loads(members_of(frontier, tmp_path)["frontier.json"])
    assert (text["format"], text["version"]) == ("pdfalearn frontier", 1)
    assert text["states"] == [point.states for point in frontier]
    assert text["certificate"]["details"]["seed"] == 1
    save(frontier, tmp_path / "frontier.zip")
    with np.load(tmp_path / "frontier.zip", allow_pickle=False) as arrays:
        column = arrays["figures"][:, text["figures"].index("divergence")]
        assert column.tolist() == [point.divergence for point in frontier]
        assert np.array_equal(arrays["4/transitions"], frontier.at_most(4).transitions)
    with zipfile.ZipFile(io.BytesIO(bytes_of(frontier, tmp_path))) as archive:
        assert {member.compress_type for member in archive.infolist()} == {zipfile.ZIP_STORED}


def test_runs_and_frontiers_are_told_apart(tmp_path: Path) -> None:
    frontier, result = frontier_of("figure 3"), learn(figure_3(), equivalence=Quantization(10))
    save(frontier, tmp_path / "a.zip")
    save(result, tmp_path / "b.zip")
    assert load(tmp_path / "a.zip") == frontier
    assert load(tmp_path / "b.zip") == result
    assert load_pdfa(tmp_path / "a.zip") == frontier.best
    assert load_pdfa(tmp_path / "b.zip") == result.pdfa


def test_every_thing_has_its_endings(tmp_path: Path) -> None:
    frontier = frontier_of("figure 3")
    message = r"x\.json: cannot save a file of this ending; those that work: \.zip, \.html"
    with pytest.raises(InputError, match=message):
        save(frontier, tmp_path / "x.json")
    with pytest.raises(InputError, match=message):
        check_can_save(tmp_path / "x.json", Frontier)
    with pytest.raises(InputError, match=r"x\.zip: cannot save a file of this ending"):
        save(frontier.best, tmp_path / "x.zip")
    with pytest.raises(FileNotFoundError):
        check_can_save(tmp_path / "nowhere" / "x.zip", Frontier)
    check_can_save(tmp_path / "x.zip", Frontier)
    check_can_save(tmp_path / "x.zip", Result)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("details", [{"x": np.int64(3)}, {"x": float("nan")}, {"x": object()}])
def test_details_that_are_not_ready_for_json(details: dict[str, Any], tmp_path: Path) -> None:
    certificate = Certificate("distilled", "near", details)
    wrong = replace(frontier_of("figure 3"), certificate=certificate)
    with pytest.raises(InputError, match=r"frontier's certificate 'distilled' cannot be in a file"):
        save(wrong, tmp_path / "x.zip")
    assert list(tmp_path.iterdir()) == []


def test_symbols_that_no_file_can_hold(tmp_path: Path) -> None:
    pdfa = PDFA(alphabet=[("a", 1)], transitions=[[0]], probabilities=[[0.5, 0.5]])
    (tmp_path / "x.zip").write_text("old")
    with pytest.raises(InputError, match=r"symbol \('a', 1\) cannot be in a file"):
        save(distill(pdfa, budget=Budget(max_symbols=200)), tmp_path / "x.zip")
    assert (tmp_path / "x.zip").read_text() == "old"
