"""What ``pdfalearn learn`` does where nothing is said, bounds, and how a stopped run is told."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import pdfalearn
from pdfalearn import Budget, FunctionModel, LanguageModel, Quantization, TopK, learn, load
from pdfalearn.learning import loop
from tests.cli.program import error_of, run, run_json

ASK = ("asked_model:ask", "--alphabet", "01")


def model() -> LanguageModel:
    return FunctionModel(load("target.json").next_distributions, "01")


@pytest.mark.usefixtures("black_boxes")
@pytest.mark.parametrize("seed", [0, 3])
def test_there_is_one_default_oracle(seed: int) -> None:
    equivalence = Quantization(10)
    for words, given in [
        (ASK, model()),
        ((*ASK, "--top-k", 2), TopK(model(), 2)),
        (["target.json"], load("target.json")),
    ]:
        expected = learn(given, equivalence=equivalence, seed=seed)
        found = run_json("learn", *words, "--kappa", 10, "--seed", seed)
        assert found["certificate"]["statement"] == expected.certificate.statement
        assert found["certificate"].items() >= expected.certificate.details.items()
        assert found["statistics"]["words"] == expected.statistics.words
        assert found["states"] == len(expected.pdfa)


@pytest.mark.usefixtures("black_boxes")
def test_one_option_leaves_the_other_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = run_json("learn", *ASK)["certificate"]
    for option, value in [
        ("--epsilon", loop.EPSILON),
        ("--delta", loop.DELTA),
        ("--max-length", loop.MAX_LENGTH),
        ("--sampler", "uniform"),
        ("--oracle", "pac"),
    ]:
        assert run_json("learn", *ASK, option, value)["certificate"] == usual
    assert run_json("learn", "target.json", "--max-length", 3)["certificate"]["kind"] == "exact"
    top = run_json("learn", *ASK, "--top-k", 2, "--max-length", 9)["certificate"]
    assert top["sampler"].startswith("walks over the automaton's support of up to 9 symbols")
    warm = run_json("learn", *ASK, "--temperature", 2, "--max-length", 9)["certificate"]
    assert warm["sampler"] == "uniform words of up to 9 symbols"


def test_the_help_names_the_defaults() -> None:
    text = " ".join(run("learn", "--help").stdout.split())
    for option, default in [
        ("epsilon E", loop.EPSILON),
        ("delta D", loop.DELTA),
        ("max-length N", loop.MAX_LENGTH),
        ("walks-per-state N", 20),
    ]:
        shown = re.search(rf"--{option}\D.*?\[default: \(([^)]*)\)", text)
        assert shown, option
        assert float(shown[1]) == default


@pytest.mark.usefixtures("black_boxes")
def test_a_bound_on_the_cost() -> None:
    found = run_json("learn", *ASK, "--kappa", 10, "--max-cost", 12.5)
    assert found["certificate"]["bound"] == "max_cost"
    assert found["certificate"]["limit"] == 12.5
    expected = learn(model(), equivalence=Quantization(10), budget=Budget(max_cost=12.5))
    assert found["statistics"]["words"] == expected.statistics.words <= 12
    assert "--max-cost" in error_of("learn", *ASK, "--max-cost", -1)
    assert "max_cost" in error_of("learn", *ASK, "--max-cost", "inf")


@pytest.mark.usefixtures("black_boxes")
def test_the_cost_is_told_if_there_is_one() -> None:
    cost = learn(model(), equivalence=Quantization(100)).statistics.cost
    assert cost > 0
    assert run_json("learn", *ASK, "--kappa", 100)["statistics"]["cost"] == cost
    text = run("learn", *ASK, "--kappa", 100).stdout
    assert re.search(rf"│ cost +│ {cost:,.0f} +│", text)
    assert "│ cost" not in run("learn", "target.json", "--kappa", 100).stdout


@pytest.mark.usefixtures("black_boxes")
def test_where_a_run_was_stopped() -> None:
    bounds = ("--kappa", 100, "--max-words", 5)
    certificate = run_json("learn", *ASK, *bounds)["certificate"]
    expected = learn(model(), equivalence=Quantization(100), budget=Budget(max_words=5))
    unresolved = expected.unresolved.tolist()
    assert certificate["unresolved"] == len(unresolved) > 0
    symbols = expected.pdfa.alphabet.symbols
    named = [[state, symbols[symbol]] for state, symbol in unresolved]
    assert certificate["first_unresolved"] == named[:10]
    text = " ".join(run("learn", *ASK, *bounds).stdout.replace("│", " ").split())
    shown = ", ".join(f"{state} by {symbol}" for state, symbol in named[:5])
    more = ", …" if len(named) > 5 else ""
    assert f"unresolved transitions {len(named)}: from {shown}{more}" in text
    assert "unresolved" not in run("learn", *ASK, "--kappa", 2).stdout


@pytest.mark.usefixtures("black_boxes")
def test_notes_are_lines_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = learn(load("target.json"))
    noted = replace(whole, notes=("one", "two\x1b"))
    monkeypatch.setattr(pdfalearn, "learn", lambda *_, **__: noted)
    result = run("learn", "target.json", "-o", "learnt.json")
    assert result.stderr == "note: one\nnote: two\\x1b\n"
    assert load("learnt.json") == whole.pdfa
    result = run("learn", "target.json", "--json")
    assert result.stderr.count("note: ") == 2
