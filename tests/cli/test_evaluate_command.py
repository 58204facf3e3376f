from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pdfalearn import PDFA, Quantization, Tolerance, evaluate, load, save
from pdfalearn.datasets import figure_1, random_pdfa
from pdfalearn.metrics import evaluate_exactly
from pdfalearn.results import Evaluation
from tests.cli.program import error_of, run, run_json


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    save(random_pdfa(20, 3, distributions=4, seed=1), tmp_path / "a.json")
    save(random_pdfa(20, 3, distributions=4, seed=2), tmp_path / "b.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(found: dict[str, object], expected: Evaluation, **given: object) -> None:
    assert given.items() <= found.items()
    assert found["over_prefixes"] == vars(expected.over_prefixes)
    assert found["over_words"] == vars(expected.over_words)
    for name in ("words", "cut_words", "mean_length", "k", "log_probability_error"):
        assert found[name] == getattr(expected, name)
    for name in ("one_sided_words", "target_perplexity", "perplexity"):
        assert found[name] == getattr(expected, name)


@pytest.mark.usefixtures("folder")
def test_drawn_words() -> None:
    a, b = load("a.json"), load("b.json")
    found = run_json("evaluate", "a.json", "b.json", "--kappa", 10)
    expected = evaluate(a, b, equivalence=Quantization(10))
    check(found, expected, a="a.json", b="b.json", kappa=10, tolerance=None, corpus=None)
    assert found["kl_of_words"] == expected.kl_of_words
    options = ["--words", 50, "--seed", 3, "--max-length", 4, "--tolerance", 0.1, "--k", 3]
    found = run_json("evaluate", "a.json", "b.json", *options)
    expected = evaluate(a, b, count=50, seed=3, max_length=4, equivalence=Tolerance(0.1), k=3)
    assert expected.cut_words > 0
    check(found, expected, tolerance=0.1)


@pytest.mark.usefixtures("folder")
def test_all_words() -> None:
    expected = evaluate_exactly(load("a.json"), load("b.json"))
    check(run_json("evaluate", "a.json", "b.json", "--all-words"), expected)
    text = run("evaluate", "a.json", "b.json", "--all-words").stdout
    assert "all, with their probabilities" in text
    assert "log-probability error" not in text


@pytest.mark.parametrize("symbols", [["0", "1", "2"], ["up", "a b", "\n"], ["\\", "\n", "c"]])
def test_a_corpus_of_what_sample_prints(symbols: list[str], folder: Path) -> None:
    for name in ("a.json", "b.json"):
        pdfa = load(name)
        rows, transitions = pdfa.probabilities, pdfa.transitions
        save(PDFA(alphabet=symbols, transitions=transitions, probabilities=rows), folder / name)
    printed = run("sample", "a.json", "--count", 200, "--max-length", 5, "--seed", 0).stdout
    assert " (cut)\n" in printed
    (folder / "corpus.txt").write_text(printed)
    words, cut = load("a.json").sample(200, 0, 5)
    found = run_json("evaluate", "a.json", "b.json", "--corpus", "corpus.txt")
    expected = replace(evaluate(load("a.json"), load("b.json"), words), cut_words=int(cut.sum()))
    check(found, expected, corpus="corpus.txt")
    assert "kl_of_words" not in found
    table = run("evaluate", "a.json", "b.json", "--corpus", "corpus.txt").stdout
    assert re.search(rf"of these cut +│ {cut.sum()} ", table)


def test_tables(folder: Path) -> None:
    text = run("evaluate", "a.json", "b.json", "--words", 2000, "--kappa", 5).stdout
    for label in ("word error rate", "NDCG@2", "different at kappa 5", "whole words", "2,000"):
        assert label in text
    assert "out of tolerance 0.2" in run("evaluate", "a.json", "b.json", "--tolerance", 0.2).stdout
    save(figure_1(), folder / "half.json")
    save(figure_1(0.5), folder / "once.json")
    assert run_json("evaluate", "half.json", "once.json")["log_probability_error"] == "inf"
    assert "inf" in run("evaluate", "half.json", "once.json").stdout


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (["--words", "0"], "count 0"),
        (["--words", "x"], "'x'"),
        (["--seed", "-1"], "--seed"),
        (["--max-length", "-1"], "max_length -1"),
        (["--k", "5"], "k 5"),
        (["--kappa", "0"], "kappa 0"),
        (["--kappa", "3", "--tolerance", "0.1"], "only one of"),
        (["--words", "3", "--all-words"], "only one of --words"),
        (["--corpus", "nope.txt"], "nope.txt"),
        (["--corpus", "binary.txt"], "binary.txt, line 1: byte 1 of the line is not a text"),
        (["--corpus", "empty.txt"], "there are no words"),
    ],
)
def test_bad_options(options: list[str], culprit: str, folder: Path) -> None:
    (folder / "binary.txt").write_bytes(b"\xff\xfe")
    (folder / "empty.txt").write_text("")
    assert culprit in error_of("evaluate", "a.json", "b.json", *options)


def test_bad_automata(folder: Path) -> None:
    save(figure_1(), folder / "other.json")
    assert "alphabets differ" in error_of("evaluate", "a.json", "other.json")
    loop = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0, 1]])
    save(loop, folder / "loop.json")
    assert "never ends" in error_of("evaluate", "loop.json", "other.json", "--all-words")
    save(PDFA(alphabet=[1, "1"], transitions=[[0, 0]], probabilities=[[1, 0, 0]]), "same.json")
    (folder / "words.txt").write_text("1\n")
    assert "cannot tell them apart" in error_of(
        "evaluate", "same.json", "same.json", "--corpus", "words.txt"
    )
