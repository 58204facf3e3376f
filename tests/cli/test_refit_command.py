from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pdfalearn import PDFA, Budget, Corpus, load, refit, save
from pdfalearn.datasets import random_pdfa
from pdfalearn.samplers import ModelWords
from tests.cli.program import error_of, run, run_json

TARGET = random_pdfa(4, seed=1)
FLAT = PDFA(
    alphabet=TARGET.alphabet,
    transitions=TARGET.transitions,
    probabilities=np.full((len(TARGET), 3), 1 / 3),
)
"""The target's structure, with rows that know nothing."""
WORDS = [*TARGET.sample(200, 5).words]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(TARGET, tmp_path / "target.json")
    save(FLAT, tmp_path / "flat.json")
    (tmp_path / "words.txt").write_text("".join(f"{''.join(map(str, word))}\n" for word in WORDS))
    return tmp_path


@pytest.mark.slow
def test_to_a_model(folder: Path) -> None:
    result = run_json("refit", "flat.json", "target.json", "-o", "out.json")
    assert result == {
        "file": "flat.json",
        "source": "target.json",
        "corpus": None,
        "transitions": False,
        "output": "out.json",
        "states": 4,
    }
    fitted = load(folder / "out.json")
    assert fitted == refit(FLAT, TARGET)
    assert np.abs(fitted.probabilities - TARGET.probabilities).max() < 0.05


def test_to_words(folder: Path) -> None:
    output = run("refit", "flat.json", "--corpus", "words.txt", "-o", "out.npz").stdout
    assert output == "out.npz: 4 states, fitted to words.txt\n"
    assert load(folder / "out.npz") == refit(FLAT, WORDS)


@pytest.mark.slow
def test_to_logs_of_other_formats(folder: Path) -> None:
    rows = [f"{case},{symbol}" for case, word in enumerate(WORDS) for symbol in word]
    for name, part in (("one.csv", rows[:300]), ("two.csv", rows[300:])):
        (folder / name).write_text("\n".join(["session,page", *part, "lost", "7777,x"]))
    options = ("--case", "session", "--event", "page", "--skip-bad", "--processes", 2)
    result = run_json("refit", "flat.json", "--corpus", "*.csv", *options, "-o", "out.json")
    assert (result["unknown_events"], result["cut"], result["left_out"]) == ([["x", 2]], 2, 2)
    corpus = Corpus("*.csv", case="session", event="page", skip_bad=True)
    assert load(folder / "out.json") == refit(FLAT, corpus)
    told = run("refit", "flat.json", "--corpus", "*.csv", *options, "-o", "out.json").stdout
    assert "cut, so that no end is counted: 2 words" in told
    assert "events unknown to the automaton: 2: x (2)" in told
    assert "left out, as it could not be read: 2" in told
    scored = run_json("score", "flat.json", "one.csv", "two.csv", *options, "--other", 0.5)
    assert (scored["unknown"], scored["left_out"], scored["other"]) == (2, 2, 0.5)
    message = error_of("score", "flat.json", "one.csv", "--case", "session")
    assert "there is no column 'concept:name'; the columns are 'session', 'page'" in message


def test_options_reach_the_function(folder: Path) -> None:
    options = ("--symbols", 300, "--max-length", 6, "--seed", 2, "--transitions")
    run("refit", "flat.json", "target.json", *options, "-o", "out.json")
    budget, words = Budget(max_symbols=300), ModelWords(6)
    expected = refit(FLAT, TARGET, transitions=True, budget=budget, sampler=words, seed=2)
    assert load(folder / "out.json") == expected
    run("refit", "flat.json", "target.json", "--corpus", "words.txt", "-o", "out.json")
    assert load(folder / "out.json") == refit(FLAT, TARGET, sampler=Corpus("words.txt"))
    run("refit", "flat.json", "--corpus", "words.txt", "--transitions", "-o", "out.json")
    assert load(folder / "out.json") == refit(FLAT, WORDS, transitions=True)


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ([], "Give a SOURCE to ask, or --corpus FILE with words"),
        (["target.json", "--corpus", "bad.txt"], "bad.txt, line 3: symbol 'x' is not in the"),
        (["--corpus", "empty.txt"], "there are no words of the corpus empty.txt"),
        (["--corpus", "words.txt", "--symbols", "100"], "--symbols needs a SOURCE to ask"),
        (["--corpus", "words.txt", "--seed", "0"], "--seed needs a SOURCE to ask"),
        (["--corpus", "words.txt", "--top-k", "2"], "--top-k needs a SOURCE to ask"),
        (["--corpus", "nowhere.txt"], "nowhere.txt: No such file or directory"),
        (["other.json"], "give them the same symbols in the same order"),
        (["target.json", "--symbols", "20"], "max_symbols=20 is too small to draw any words"),
        (["target.json", "--corpus", "words.txt", "--max-length", "3"], "--max-length is for"),
        (["nowhere.json"], "nowhere.json: No such file or directory"),
    ],
)
def test_bad_arguments(arguments: list[str], culprit: str, folder: Path) -> None:
    save(random_pdfa(4, 3, seed=1), folder / "other.json")
    (folder / "bad.txt").write_text("01\n\n0x\n")
    (folder / "empty.txt").write_text("")
    assert culprit in error_of("refit", "flat.json", *arguments, "-o", "out.json")
    assert not (folder / "out.json").exists()


def test_the_output_is_checked_first() -> None:
    message = error_of("refit", "nowhere.json", "target.json", "-o", "out.zip")
    assert "out.zip: cannot save a file of this ending; those that work: .json" in message
