"""``pdfalearn support``, and its file where a language or a guide is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import PDFA, Guided, learn, load, most_likely, probability, save
from pdfalearn.datasets import reber
from pdfalearn.learning import support_dfa
from tests.cli.program import error_of, run, run_json
from tests.support import need_module

ROWS = [[0.1, 0.6, 0.3], [0.5, 0.1, 0.4]]
MODEL = PDFA(alphabet="ab", transitions=[[1, 0], [1, 0]], probabilities=ROWS)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(MODEL, "model.json")
    save(support_dfa(MODEL, threshold=0.2).dfa, "may.json")
    Path("box.py").write_text(
        "import pdfalearn\n"
        "pdfa = pdfalearn.load('model.json')\n"
        "model = pdfalearn.FunctionModel(pdfa.next_distributions, 'ab')\n"
    )


@pytest.mark.parametrize("name", ["model.json", "box.py:model"])
def test_the_dfa_is_written(name: str) -> None:
    settings = "--threshold", 0.2, "-o", "found.json.gz"
    found = run_json("support", name, *settings)
    dfa, expected = load("found.json.gz"), support_dfa(MODEL, threshold=0.2).dfa
    assert dfa.transitions.tolist() == expected.transitions.tolist()
    assert dfa.accepting.tolist() == expected.accepting.tolist()
    assert (found["states"], found["accepting"], found["threshold"]) == (2, 1, 0.2)
    assert found["certificate"]["kind"] == ("exact" if name == "model.json" else "pac")
    assert " under Support(threshold=0.2)" in found["certificate"]["statement"]
    assert found["certificate"]["equivalence"] == "Support(threshold=0.2)"


def test_a_bound_leaves_what_is_known() -> None:
    shown = run("support", "box.py:model", "--max-words", 1, "-o", "found.json").stdout
    assert "stopped" in shown
    assert "found.json: the DFA" in shown
    assert len(load("found.json")) == 1


def test_the_file_is_a_language_and_a_guide() -> None:
    need_module("interegular")
    may = load("may.json")
    assert run_json("ask", "probability", "model.json", "may.json")["probability"] == probability(
        MODEL, may
    )
    given = run_json("ask", "probability", "model.json", "b.*", "--given", "may.json")
    assert given["probability"] == probability(MODEL, "b.*", may)
    likeliest = run_json("ask", "likeliest", "model.json", "--language", "may.json", "--count", 2)
    expected = [list(one.word) for one in most_likely(MODEL, 2, may)]
    assert [one["word"] for one in likeliest["words"]] == expected
    run("learn", "model.json", "--guide", "may.json", "-o", "guided.json")
    assert load("guided.json") == learn(Guided(MODEL, may)).pdfa
    asked = run_json("ask", "answers", "box.py:model", "--matches", "may.json")
    assert asked["low"] <= probability(MODEL, may) <= asked["high"] < asked["low"] + 0.011


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["support", "model.json", "--threshold", "2"], "--threshold"),
        (["support", "model.json", "--threshold", "0.7"], "no symbol is above the threshold"),
        (["support", "model.json", "-o", "found.npz"], "found.npz"),
        (["support", "model.json", "-o", "model.json"], "-o"),
        (["support", "may.json"], "may.json holds a DFA"),
        (["info", "may.json"], "may.json holds a DFA"),
        (["ask", "probability", "model.json", "model.json"], "model.json does not hold a DFA"),
        (["learn", "reber.json", "--guide", "may.json"], "symbol 'a' of the guide"),
    ],
)
def test_bad_input(arguments: list[str], culprit: str) -> None:
    save(reber(), "reber.json")
    assert culprit in error_of(*arguments)
