"""What was saved of a run and is loaded again is equal."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pdfalearn
from pdfalearn import PDFA, Certificate, Quantization, Result, learn, load, save, view
from pdfalearn.datasets import figure_3
from pdfalearn.errors import InputError
from pdfalearn.io import check_can_save, load_pdfa
from pdfalearn.results.trees import TreeNode
from tests.cli.program import run, run_json
from tests.io.run_samples import RUNS, TARGET, Halves, bytes_of, load_bytes, members_of, run_of
from tests.learning.test_interruptions import (
    NAMES,
    Fuse,
    in_the_callback,
    in_the_model,
    partial_results,
)
from tests.results.test_values import assert_same
from tests.support import need_program


@pytest.mark.parametrize("name", RUNS)
def test_round_trips(name: str, tmp_path: Path) -> None:
    result = run_of(name)
    assert_same(result, load_bytes(bytes_of(result, tmp_path), tmp_path))


@pytest.mark.parametrize("place", [in_the_model, in_the_callback])
@NAMES
def test_interrupted_anywhere(
    place: Callable[[str, Fuse], Result], name: str, tmp_path: Path
) -> None:
    results = [result for result in partial_results(place, name) if result is not None]
    assert results
    for result in results:
        assert_same(result, load_bytes(bytes_of(result, tmp_path), tmp_path))


def test_the_tree_may_know_of_more_states(tmp_path: Path) -> None:
    result = run_of("interrupted")
    assert len(result.kept_words) >= len(result.pdfa) == len(result.access_words)
    again = load_bytes(bytes_of(result, tmp_path), tmp_path)
    assert again.tree == result.tree
    assert len(again.kept_words) == len(result.kept_words)


def test_odd_symbols_and_probabilities(tmp_path: Path) -> None:
    for seed in range(30):
        pdfa = _odd(seed)
        result = learn(pdfa, equivalence=Quantization(7))
        again = load_bytes(bytes_of(result, tmp_path), tmp_path)
        assert_same(result, again)
        assert again.pdfa.alphabet == pdfa.alphabet


def _odd(seed: int) -> PDFA:
    """A PDFA of symbols that are hard on files."""
    names = ["", '"', "\\", "\n", "\0", "\ud800", "😀", "</", "\u2028", 0, -(2**63), 2**63 - 1]
    random = np.random.default_rng(seed)
    *alphabet, terminal = (names[place] for place in random.permutation(len(names))[:4])
    rows = random.dirichlet(np.ones(4), 5)
    return PDFA(
        alphabet=alphabet,
        terminal=terminal,
        transitions=random.integers(0, 5, (5, 3)),
        probabilities=rows,
    )


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    result = run_of("quant")
    data = bytes_of(result, tmp_path)
    assert bytes_of(load_bytes(data, tmp_path), tmp_path) == data


def test_what_the_file_holds(tmp_path: Path) -> None:
    result = run_of("stopped")
    members = members_of(result, tmp_path)
    text = json.loads(members["run.json"])
    assert (text["format"], text["version"]) == ("pdfalearn run", 1)
    assert text["statistics"]["words"] == result.statistics.words
    assert text["certificate"]["details"]["bound"] == "max_words"
    assert text["equivalence"] == "Quantization(kappa=1000)"
    save(result, tmp_path / "run.zip")
    with np.load(tmp_path / "run.zip", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["transitions"], result.pdfa.transitions)
        assert np.array_equal(arrays["unresolved"], result.unresolved)
    with zipfile.ZipFile(io.BytesIO(bytes_of(result, tmp_path))) as archive:
        assert {member.compress_type for member in archive.infolist()} == {zipfile.ZIP_STORED}


def test_notes(tmp_path: Path) -> None:
    noted = replace(run_of("quant"), notes=("the audit failed", "grün\n"))
    assert_same(noted, load_bytes(bytes_of(noted, tmp_path), tmp_path))


def test_a_relation_of_somebody_else_is_not_kept(tmp_path: Path) -> None:
    result = learn(TARGET, equivalence=Halves())
    again = load_bytes(bytes_of(result, tmp_path), tmp_path)
    assert again.equivalence is None
    assert_same(replace(result, equivalence=None), again)
    assert_same(again, load_bytes(bytes_of(again, tmp_path), tmp_path))
    assert all(isinstance(part, bool) for key in again.tree.children for part in key or ())


@pytest.mark.parametrize(
    "details", [{"x": np.int64(3)}, {"x": float("nan")}, {"x": {1: 2, "1": 3}}, {"x": object()}]
)
def test_details_that_are_not_ready_for_json(details: dict[str, Any], tmp_path: Path) -> None:
    wrong = replace(run_of("quant"), certificate=Certificate("tested", "agrees", details))
    with pytest.raises(InputError, match=r"certificate 'tested' cannot be in a file: .*; its det"):
        save(wrong, tmp_path / "run.zip")
    assert list(tmp_path.iterdir()) == []


def test_symbols_that_no_file_can_hold(tmp_path: Path) -> None:
    pdfa = PDFA(alphabet=[("a", 1)], transitions=[[0]], probabilities=[[0.5, 0.5]])
    (tmp_path / "run.zip").write_text("old")
    with pytest.raises(InputError, match=r"symbol \('a', 1\) cannot be in a file"):
        save(learn(pdfa), tmp_path / "run.zip")
    assert (tmp_path / "run.zip").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["run.zip"]


def test_every_thing_has_its_endings(tmp_path: Path) -> None:
    result = run_of("figure 3")
    with pytest.raises(InputError, match=r"run\.json: cannot .* those that work: \.zip, \.html"):
        save(result, tmp_path / "run.json")
    with pytest.raises(InputError, match=r"x\.ZIP: cannot save .* \.npz"):
        save(result.pdfa, tmp_path / "x.ZIP")
    with pytest.raises(
        InputError, match=r"^3 cannot be saved; what can: PFA, PDFA, TreeNode, Result, F"
    ):
        save(3, tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []
    save(result.tree, tmp_path / "a.dot")
    assert [path.name for path in tmp_path.iterdir()] == ["a.dot"]


@pytest.mark.parametrize("name", ["PDFA", "TreeNode", "Result", "Frontier"])
def test_a_class_of_the_same_name_is_not_taken_for_ours(name: str, tmp_path: Path) -> None:
    kind = type(name, (), {})
    for ending in (".zip", ".json", ".html", ".svg"):
        with pytest.raises(InputError, match=r"^<.*> cannot be saved; what can: PFA, PDFA"):
            save(kind(), tmp_path / f"x{ending}")
    with pytest.raises(InputError, match=r"^there is no page of <"):
        view(kind())
    assert list(tmp_path.iterdir()) == []


def test_a_class_below_ours_is_saved_and_shown_as_ours(tmp_path: Path) -> None:
    class Result(pdfalearn.Result):
        """Its name does not matter, only the class above it."""

    result = run_of("figure 3")
    own = Result(**{field.name: getattr(result, field.name) for field in fields(result)})
    save(own, tmp_path / "run.zip")
    assert load(tmp_path / "run.zip").pdfa == result.pdfa
    assert own._repr_html_() == result._repr_html_()
    assert view(own).title == view(result).title


def test_checks_before_learning(tmp_path: Path) -> None:
    check_can_save(tmp_path / "run.zip", Result)
    check_can_save(tmp_path / "tree.dot", TreeNode)
    check_can_save(tmp_path / "pdfa.npz", PDFA)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="cannot save"):
        check_can_save(tmp_path / "run.zip")
    with pytest.raises(InputError, match="those that work"):
        check_can_save(tmp_path / "run.json", Result)
    with pytest.raises(InputError, match=r": \.dot"):
        check_can_save(tmp_path / "tree.npz", TreeNode)
    with pytest.raises(FileNotFoundError):
        check_can_save(tmp_path / "nowhere" / "run.zip", Result)


def test_checks_before_drawing(tmp_path: Path) -> None:
    need_program("dot")
    check_can_save(tmp_path / "tree.svg", TreeNode)
    assert list(tmp_path.iterdir()) == []


def test_automata_are_automata_still(tmp_path: Path) -> None:
    save(figure_3(), tmp_path / "a.json")
    save(run_of("figure 3"), tmp_path / "run.zip")
    assert isinstance(load(tmp_path / "a.json"), PDFA)
    assert load_pdfa(tmp_path / "a.json") == figure_3()
    assert load_pdfa(tmp_path / "run.zip") == run_of("figure 3").pdfa


def test_commands_take_the_automaton_of_a_run(tmp_path: Path) -> None:
    save(run_of("figure 3"), tmp_path / "run.zip")
    assert run_json("info", tmp_path / "run.zip")["states"] == 4
    run("convert", tmp_path / "run.zip", "-o", tmp_path / "pdfa.json")
    assert load(tmp_path / "pdfa.json") == run_of("figure 3").pdfa
    assert run_json("learn", tmp_path / "run.zip", "--kappa", 10)["states"] == 4
