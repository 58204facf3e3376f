from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import PDFA, Corpus, compare, load, save
from pdfalearn.datasets import random_pdfa
from tests.cli.program import error_of, run, run_json


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three PDFA of one family: b is a with symbols swapped, c differs from both after x."""
    loops = [[1, 0], [1, 0]]
    rows = [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]]
    save(PDFA(alphabet="xy", transitions=loops, probabilities=rows), tmp_path / "a.json")
    swapped = [[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]
    save(
        PDFA(alphabet="yx", transitions=[[0, 1], [0, 1]], probabilities=swapped),
        tmp_path / "b.json",
    )
    rows[1] = [0.125, 0.51, 0.365]
    save(PDFA(alphabet="xy", transitions=loops, probabilities=rows), tmp_path / "c.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_yes() -> None:
    assert run("compare", "a.json", "b.json").stdout == "yes: a.json and b.json are equivalent\n"
    assert run_json("compare", "a.json", "b.json", "--exact") == {
        "a": "a.json",
        "b": "b.json",
        "kappa": None,
        "tolerance": None,
        "equivalent": True,
        "word": None,
    }


@pytest.mark.usefixtures("folder")
def test_no_with_symbols_matched_by_name() -> None:
    assert run_json("compare", "b.json", "c.json", exit_code=1) == {
        "a": "b.json",
        "b": "c.json",
        "kappa": None,
        "tolerance": None,
        "equivalent": False,
        "word": ["x"],
        "symbols": ["$", "y", "x"],
        "distribution_a": [0.125, 0.375, 0.5],
        "distribution_b": [0.125, 0.365, 0.51],
    }
    text = run("compare", "b.json", "c.json", exit_code=1).stdout
    assert text.startswith("no: b.json and c.json are not equivalent\nafter x\n")
    assert "0.375" in text
    assert "0.51" in text


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "exit_code", "verdict"),
    [
        (["--kappa", 10], 0, "are equivalent at kappa 10\n"),
        (["--kappa", 100], 1, "are not equivalent at kappa 100\n"),
        (["--tolerance", 0.01], 0, "are similar within tolerance 0.01\n"),
        (["--tolerance", 0.009], 1, "are not similar within tolerance 0.009\n"),
    ],
)
def test_relations(options: list[object], exit_code: int, verdict: str) -> None:
    assert verdict in run("compare", "a.json", "c.json", *options, exit_code=exit_code).stdout
    result = run_json("compare", "a.json", "c.json", *options, exit_code=exit_code)
    assert result["equivalent"] == (exit_code == 0)


def test_a_word_undefined_in_one_of_them(folder: Path) -> None:
    for name, successor in {"whole": 0, "partial": -1}.items():
        pdfa = PDFA(alphabet="ab", transitions=[[0, successor]], probabilities=[[0.5, 0.5, 0]])
        save(pdfa, folder / f"{name}.json")
    result = run_json("compare", "whole.json", "partial.json", exit_code=1)
    assert (result["word"], result["distribution_b"]) == (["b"], None)
    assert "undefined" in run("compare", "whole.json", "partial.json", exit_code=1).stdout


def test_long_words_are_shortened_in_the_table_only(folder: Path) -> None:
    for name, last in {"long": 0.5, "other": 0.25}.items():
        chain = [[min(state + 1, 999)] for state in range(1000)]
        rows = [[0.5, 0.5]] * 999 + [[last, 1 - last]]
        pdfa = PDFA(alphabet=["step"], transitions=chain, probabilities=rows)
        save(pdfa, folder / f"{name}.npz")
    text = run("compare", "long.npz", "other.npz", exit_code=1).stdout
    assert "step step ... step step" in text
    assert "(999 symbols)" in text
    assert len(text) < 2000
    assert run_json("compare", "long.npz", "other.npz", exit_code=1)["word"] == ["step"] * 999


def test_of_many_symbols_those_are_shown_that_differ_most(folder: Path) -> None:
    pdfa = random_pdfa(1, 100, exact_size=True, seed=0)
    rows = pdfa.probabilities.copy()
    rows[0, 50] += rows[0, 60]
    rows[0, 60] = 0
    changed = PDFA(alphabet=pdfa.alphabet, transitions=pdfa.transitions, probabilities=rows)
    save(pdfa, folder / "wide.json")
    save(changed, folder / "changed.json")
    text = run("compare", "wide.json", "changed.json", exit_code=1).stdout
    assert "81 more symbols" in text
    assert {"49", "59"} < {line.split()[1] for line in text.splitlines() if len(line.split()) > 4}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (["--kappa", "0"], "kappa 0"),
        (["--tolerance", "1.5"], "tolerance 1.5"),
        (["--tolerance", "nan"], "tolerance nan"),
        (["--tolerance", "x"], "'x'"),
        (["--exact", "--kappa", "3"], "only one of"),
        (["--kappa", "3", "--tolerance", "0.1"], "only one of"),
    ],
)
def test_bad_options(options: list[str], culprit: str) -> None:
    assert culprit in error_of("compare", "a.json", "b.json", *options)


def test_symbols_of_one_only_are_impossible_in_the_other(folder: Path) -> None:
    document = json.loads((folder / "a.json").read_text())
    document["alphabet"] = ["x", "z"]
    (folder / "z.json").write_text(json.dumps(document))
    found = json.loads(run("compare", "a.json", "z.json", "--json", exit_code=1).stdout)
    assert found["symbols"] == ["$", "x", "y", "z"]
    assert [found[name][-1] for name in ("distribution_a", "distribution_b")] == [0.0, 0.25]


@pytest.mark.usefixtures("folder")
def test_two_files_are_needed() -> None:
    assert "'B'" in error_of("compare", "a.json")
    assert "nope.json" in error_of("compare", "a.json", "nope.json")


def test_the_symbol_that_decides_is_shown_among_many(tmp_path: Path) -> None:
    symbols = [f"s{i}" for i in range(30)]
    first, second = np.full(31, 0.03), np.full(31, 0.03)
    first[0], second[0] = 0.1, 0.0999
    first[1:], second[1:] = 0.9 / 30, 0.9001 / 30
    first[1:16] += 0.005
    first[16:] -= 0.005
    for name, row in (("a.json", first), ("b.json", second)):
        pdfa = PDFA(alphabet=symbols, transitions=[[0] * 30], probabilities=[row])
        save(pdfa, tmp_path / name)
    files = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    shown = run("compare", *files, "--kappa", "10", exit_code=1)
    assert "0.0999" in shown.stdout


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files of sessions, and an automaton."""
    usual = PDFA(
        alphabet=["get", "put"], transitions=[[0, 1], [0, 1]], probabilities=[[0.2, 0.4, 0.4]] * 2
    )
    save(usual, tmp_path / "usual.json")
    (tmp_path / "monday.txt").write_text("get get\nget put\n" * 60)
    (tmp_path / "friday.txt").write_text("get get\nget put put\nget drop\n" * 40)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("logs")
def test_what_has_changed_between_two_files_of_words() -> None:
    text = run("compare", "monday.txt", "friday.txt", "--model", "usual.json", exit_code=1).stdout
    assert text.startswith("120 and 120 words along 2 states: ")
    assert text.index("drop") < text.index("changed transitions; a: monday.txt, b: friday.txt")
    found = run_json("compare", "monday.txt", "friday.txt", "--model", "usual.json", exit_code=1)
    corpora = Corpus("monday.txt"), Corpus("friday.txt")
    expected = compare(*corpora, model=load("usual.json")).document()
    assert found == {
        "a": "monday.txt",
        "b": "friday.txt",
        "model": "usual.json",
        "left_out": 0,
        **json.loads(json.dumps(expected)),
    }
    assert found["events"][0]["event"] == "drop"


@pytest.mark.usefixtures("logs")
def test_the_same_words_have_not_changed() -> None:
    text = run("compare", "monday.txt", "monday.txt", "--false-alarms", 0.2).stdout
    assert "no change is known" in text
    assert "at most 20% of comparisons" in text
    assert run_json("compare", "monday.txt", "monday.txt")["changed"] is False


@pytest.mark.slow
def test_raw_lines_are_not_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for day in ("monday", "friday"):
        Path(f"{day}.log").write_text("".join(f"user {day}{i} in\n" for i in range(60)))
    done = run("compare", "monday.log", "friday.log", "--log-every", 0.001)
    first, second, *_ = done.stderr.splitlines()
    assert first.startswith("note: a line is read as a word; for raw lines give a --model")
    assert second.startswith("distilling: ")
    assert "note: are these raw lines?" in done.stderr


@pytest.mark.usefixtures("logs")
def test_options_of_words_and_of_automata_are_kept_apart() -> None:
    words = ("compare", "monday.txt", "friday.txt")
    assert "is for automata, not words" in error_of(*words, "--kappa", 3)
    automata = ("compare", "usual.json", "usual.json")
    assert "--model is for two files of words" in error_of(*automata, "--model", "usual.json")
    assert "--false-alarms is for two" in error_of(*automata, "--false-alarms", 0.1)
    assert "is not a file of an automaton" in error_of("compare", "usual.json", "friday.txt")
