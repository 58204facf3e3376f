"""Questions on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import PDFA, most_likely, probability, save, score
from pdfalearn.analysis import (
    complexity,
    condition,
    differences,
    distances,
    entropy,
    expected_count,
    expected_visits,
    length,
    surprisals,
)
from pdfalearn.datasets import random_pdfa
from pdfalearn.io import load_pdfa
from pdfalearn.languages import BeginsWith, Contains, EndsWith
from pdfalearn.languages.kinds import LanguageLike
from tests.cli.program import error_of, run, run_json
from tests.support import need_module

A, B = random_pdfa(8, 2, seed=1), random_pdfa(6, 2, seed=2)
NUMBERS = PDFA(alphabet=[1, 22], transitions=[[0, 1], [0, 0]], probabilities=[[0.5, 0.2, 0.3]] * 2)
ENDLESS = PDFA(
    alphabet="01", transitions=[[1, -1], [1, -1]], probabilities=[[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, pdfa in (("a", A), ("b", B), ("endless", ENDLESS), ("numbers", NUMBERS)):
        save(pdfa, tmp_path / f"{name}.json")
    return tmp_path


def test_languages_are_regular_expressions() -> None:
    need_module("interegular")
    result = run_json("ask", "probability", "a.json", "0.*", "--given", ".{1,4}")
    assert result["probability"] == probability(A, "0.*", ".{1,4}")
    assert f"{probability(A, '0.*'):.6g}" in run("ask", "probability", "a.json", "0.*").stdout
    assert run_json("ask", "count", "a.json", ".*0")["expected"] == expected_count(A, ".*0")
    assert "does not parse" in error_of("ask", "probability", "a.json", "(0")
    assert "is empty" in error_of("ask", "probability", "a.json", "x")
    assert "has probability 0" in error_of(
        "ask", "probability", "endless.json", "0", "--given", "0+"
    )


@pytest.mark.parametrize(
    ("form", "language"),
    [
        ("word", [(22, 1)]),
        ("begins", BeginsWith([22, 1])),
        ("ends", EndsWith([22, 1])),
        ("contains", Contains([22, 1])),
    ],
)
def test_languages_given_by_a_word_know_all_symbols(form: str, language: LanguageLike) -> None:
    asked = ("numbers.json", "22 1", "--as", form)
    expected = probability(NUMBERS, language)
    assert run_json("ask", "probability", *asked)["probability"] == expected
    assert run_json("ask", "count", *asked)["expected"] == expected_count(NUMBERS, language)
    bounds = run_json("ask", "bounds", *asked, "--kappa", 100)
    assert bounds["low"] <= expected <= bounds["high"]
    assert run_json("condition", *asked, "-o", "given.json")["probability"] == expected
    assert load_pdfa("given.json") == condition(NUMBERS, language)


def test_languages_that_do_not_fit_the_symbols() -> None:
    asked = ("ask", "probability", "numbers.json")
    assert "symbol 1 is not text" in error_of(*asked, "1*")
    assert "the word '22 3': symbol '3' is not in the alphabet" in error_of(
        *asked, "22 3", "--as", "word"
    )


def test_what_never_ends_is_told_beside_a_probability() -> None:
    asked = ("ask", "probability", "endless.json", "", "--as", "word")
    assert run(*asked).stdout == (
        "0.5\n0.5 of all words never end (words do not end from state 1)\n"
    )
    assert run_json(*asked)["never_end"] == 0.5


def test_visits() -> None:
    found, expected = run_json("ask", "visits", "a.json"), expected_visits(A)
    assert found["states"] == expected.states.tolist()
    assert found["transitions"] == expected.transitions.tolist()
    assert run_json("ask", "visits", "endless.json")["states"] == [1.0, "inf"]
    assert run("ask", "visits", "endless.json", "--count", 1).stdout.count("inf") == 1


def test_likeliest_words_and_prefixes() -> None:
    found = run_json("ask", "likeliest", "a.json", "--count", 4)["words"]
    assert [tuple(one["word"]) for one in found] == [one.word for one in most_likely(A, 4)]
    text = run("ask", "likeliest", "a.json", "--prefixes", 2).stdout
    assert "beginning" in text
    assert "only one of" in error_of(
        "ask", "likeliest", "a.json", "--prefixes", 2, "--language", "0"
    )


def test_lengths_and_entropies() -> None:
    result, expected = run_json("ask", "length", "a.json", "--quantiles", "0.5"), length(A)
    assert (result["mean"], result["quantiles"]) == (expected.mean, {"0.5": expected.quantile(0.5)})
    assert "█" in run("ask", "length", "a.json").stdout
    endless = run_json("ask", "length", "endless.json")
    assert (endless["mean"], endless["never_end"], endless["endless_states"]) == ("inf", 0.5, [1])
    assert "words do not end from state 1" in run("ask", "length", "endless.json").stdout
    assert run_json("ask", "entropy", "a.json")["per_word"] == entropy(A).per_word
    assert "per symbol" in run("ask", "entropy", "endless.json").stdout
    assert "quantile" in error_of("ask", "length", "a.json", "--quantiles", "2")
    assert "not a list of numbers" in error_of("ask", "length", "a.json", "--quantiles", "half")


def test_complexity() -> None:
    golden = PDFA(
        alphabet="01", transitions=[[0, 1], [0, -1]], probabilities=[[0, 0.5, 0.5], [0, 1.0, 0]]
    )
    save(golden, "golden.json")
    found = run_json("ask", "complexity", "golden.json")
    assert found["causal_states"] == 2
    assert found["excess_low"] == pytest.approx(complexity(golden).excess_low)
    assert "0.636514" in run("ask", "complexity", "golden.json").stdout
    assert "words may end in state 0" in error_of("ask", "complexity", "endless.json")


def test_two_automata() -> None:
    result, expected = run_json("ask", "distances", "a.json", "b.json"), distances(A, B)
    assert result["hellinger"] == expected.hellinger
    assert "total variation" in run("ask", "distances", "a.json", "b.json").stdout
    parts = run_json("ask", "differences", "a.json", "b.json", "--count", 2)
    assert [tuple(one["word"]) for one in parts["words"]] == [
        one.word for one in differences(A, B, 2).words
    ]
    assert "where it arises" in run("ask", "differences", "a.json", "b.json").stdout


def test_scores(folder: Path) -> None:
    (folder / "words.txt").write_text("01\n0\n\n")
    result, expected = run_json("score", "a.json", "words.txt"), score(A, ["01", "0", ""])
    assert result["log_probability"] == pytest.approx(expected.log_probability)
    assert result["words"] == 3
    lines = run_json("score", "a.json", "words.txt", "--line", 1)
    assert lines["surprises"] == pytest.approx(surprisals(A, "01").tolist())
    assert "impossible" in run("score", "endless.json", "words.txt").stdout
    assert "surprise" in run("score", "a.json", "words.txt", "--line", 2).stdout
    assert "has no line 9" in error_of("score", "a.json", "words.txt", "--line", 9)
    (folder / "words.txt").write_text("0\n2\n")
    assert run_json("score", "a.json", "words.txt")["unknown_events"] == [["2", 1]]
    told = run("score", "a.json", "words.txt", "--other", 0.5).stdout
    assert "events unknown to the automaton: 1: 2 (1)" in told


def test_conditions() -> None:
    need_module("interegular")
    result = run_json("condition", "a.json", "0.*", "-o", "given.json")
    assert result["probability"] == probability(A, "0.*")
    assert load_pdfa("given.json") == condition(A, "0.*")
    assert "has probability 0" in error_of("condition", "endless.json", "0+", "-o", "given.json")
