"""``pdfalearn ask answers`` and ``drift``: bounds, verdicts by exit codes, prompts of LLMs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pdfalearn import PDFA, save
from tests.cli.program import error_of, run, run_json
from tests.support import need_module

ROWS = [[0.5, 0.3, 0.2], [0.25, 0.25, 0.5]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    need_module("interegular")
    monkeypatch.chdir(tmp_path)
    for name, rows in (("a", ROWS), ("b", ROWS[::-1])):
        pdfa = PDFA(alphabet="01", transitions=[[0, 1], [1, 0]], probabilities=rows)
        save(pdfa, tmp_path / f"{name}.json")
    return tmp_path


def test_bounds_lists_and_samples() -> None:
    classes = ("--class", "zero=0.*", "--class", "one=1.*")
    lists = ("--likeliest", "2", "--instead", "1", "--sample", "3", "--gap", "0.001")
    found = run_json("ask", "answers", "a.json", *classes, "--begins", *lists)
    assert found["classes"]["zero"]["low"] == pytest.approx(0.3, abs=1e-9)
    assert found["classes"]["one"]["high"] == pytest.approx(0.2, abs=1e-9)
    assert found["high"] - found["low"] <= 0.001
    assert [one["word"] for one in found["likeliest"]] == [["0"], ["1"]]
    assert found["instead"][0]["word"] == []
    assert len(found["sample"]["words"]) == 3
    shown = run("ask", "answers", "a.json", *classes, "--begins", *lists).stdout
    for text in ("zero", "any of these", "likeliest", "instead", "sample", "calls"):
        assert text in shown


@pytest.mark.parametrize(("least", "code"), [("0.2", 0), ("0.4", 1)])
def test_verdicts_are_exit_codes(least: str, code: int) -> None:
    asked = ("ask", "answers", "a.json", "--matches", "0", "--begins", "--at-least", least)
    assert run(*asked, exit_code=code).stdout
    near = ("drift", "a.json", "b.json", "--matches", "0", "--begins", "--tolerance")
    assert run(*near, "0.1", exit_code=0).stdout
    assert run(*near, "0.01", exit_code=1).stdout


def test_an_open_verdict() -> None:
    hard = ("--matches", ".*01.*", "--max-words", "2", "--at-least", "0.25")
    found = json.loads(run("ask", "answers", "a.json", *hard, "--json", exit_code=3).stdout)
    assert found["verdict"] is None
    assert found["stopped"] == "max_words"


def test_what_is_refused() -> None:
    for arguments, message in (
        (("--begins",), "Give either --class"),
        (("--matches", "0", "--class", "a=1"), "Give either --class"),
        (("--class", "a"), "NAME=REGEX"),
        (("--matches", "0", "--begins", "--contains"), "only one of"),
        (("--matches", "0", "--prompts", "x"), "--prompts is for LLMs"),
    ):
        assert message in error_of("ask", "answers", "a.json", *arguments)


def test_a_file_is_a_baseline(folder: Path) -> None:
    asked = ("ask", "answers", "a.json", "--class", "zero=0.*", "--class", "one=1.*")
    run(*asked, "--save", "march.jsonl", "--save", "march.jsonl")
    run(*asked, "--save", "march.csv")
    lines = (folder / "march.csv").read_text().splitlines()
    assert lines[0] == "prompt,language,low,high"
    assert len(lines) == 4
    assert run_json("drift", "march.jsonl", "a.json", "--tolerance", "0.05")["verdict"] is True
    run("drift", "march.jsonl", "b.json", "--tolerance", "0.05", exit_code=1)
    assert "another question" in error_of("drift", "march.jsonl", "a.json", "--matches", "0")
    assert "are both files" in error_of("drift", "march.jsonl", "march.jsonl")
    assert "those that work: .jsonl, .csv" in error_of(*asked, "--save", "march.txt")


@pytest.mark.slow
def test_prompts_of_an_llm(folder: Path) -> None:
    for name in ("torch", "transformers", "tokenizers"):
        need_module(name)
    from tests.exploring.cases import tiny_llm
    from tests.models.transformers_tokenizers import byte_tokenizer

    tokenizer = byte_tokenizer()
    tiny_llm(len(tokenizer)).save_pretrained(folder / "llm")
    tokenizer.save_pretrained(folder / "llm")
    (folder / "prompts.txt").write_text('"the coin"\n"the number"\n')
    asked = ("ask", "answers", "hf:llm", "--matches", "[a-m]", "--begins", "--gap", "0.001")
    found = run_json(*asked, "--prompts", "prompts.txt")
    assert [one["prompt"] for one in found["prompts"]] == ["the coin", "the number"]
    assert all(one["high"] - one["low"] <= 0.001 for one in found["prompts"])
    same = ("drift", "hf:llm", "hf:llm", "--matches", "[a-m]", "--begins", "--prompt", "the coin")
    assert run(*same, "--tolerance", "0.1").stdout
    save = ("--save", "march.jsonl", "--stop", "e", "--within", "3", "--cut-ends")
    run("ask", "answers", "hf:llm", "--matches", "[a-m]*", "--prompts", "prompts.txt", *save)
    assert run("drift", "march.jsonl", "hf:llm", "--tolerance", "0.1").stdout
    assert "another question" in error_of("drift", "march.jsonl", "hf:llm", "--stop", "x")
    (folder / "bad.txt").write_text("the coin\n")
    assert "line 1 is not JSON" in error_of(*asked, "--prompts", "bad.txt")


FUNCTION = """
def coin(words):
    return [[0.5, 0.3, 0.2]] * len(words)
"""


def test_any_model_is_asked(folder: Path) -> None:
    (folder / "coin.py").write_text(FUNCTION, encoding="utf-8")
    live = ("coin.py:coin", "--alphabet", "ht")
    found = run_json("ask", "probability", live[0], "h*", *live[1:])
    assert found["low"] <= 0.5 / 0.7 <= found["high"]
    assert found["high"] - found["low"] <= 0.001 + 1e-9
    assert (
        "for the model as it computes" in run("ask", "probability", live[0], "h*", *live[1:]).stdout
    )
    contains = run_json("ask", "probability", live[0], "h", "--as", "contains", *live[1:])
    assert contains["low"] <= 0.375 <= contains["high"]
    likely = run_json("ask", "likeliest", *live, "--count", "2")
    assert [(one["word"], one["certified"]) for one in likely["words"]] == [
        ([], True),
        (["h"], True),
    ]
    assert "--prefixes is for automata" in error_of("ask", "likeliest", *live, "--prefixes", "2")


def test_frontiers_answer_for_the_model_and_name_their_scope() -> None:
    run("distill", "a.json", "--symbols", "500", "-o", "frontier.zip")
    found = run_json("ask", "probability", "frontier.zip", "0.*")
    assert found["low"] <= found["value"] <= found["high"]
    assert found["of_automaton"] == pytest.approx(found["value"], abs=0.1)
    for question in ("length", "entropy", "visits", "likeliest"):
        asked = run("ask", question, "frontier.zip")
        assert "exact of the automaton of" in asked.stderr
        assert "explore asks the model itself" in asked.stderr
        assert not run("ask", question, "a.json").stderr


def test_pages_are_written(folder: Path) -> None:
    asked = ("ask", "answers", "a.json", "--matches", "0.*")
    assert "page.html: the page" in run(*asked, "-o", "page.html").stdout
    run("drift", "a.json", "b.json", "--matches", "0.*", "-o", "drift.html")
    assert "Two live models" in (folder / "drift.html").read_text(encoding="utf-8")
    assert "html" in error_of(*asked, "-o", "page.json")


def test_a_sample_that_fails_does_not_cost_the_bounds(folder: Path) -> None:
    rare = ("ask", "answers", "a.json", "--matches", "0{40}", "--max-words", "5", "--sample", "9")
    asked = run(*rare, "--save", "march.jsonl", "--save", "march.csv", exit_code=2)
    assert "at most" in asked.stdout
    assert "no answers were drawn: only" in asked.stderr
    assert (folder / "march.csv").is_file()
    assert "calls" in run_json(*rare, exit_code=2)
    drawn = run_json("ask", "answers", "a.json", "--matches", "", "--begins", "--sample", "3")
    assert len(drawn["sample"]["words"]) == 3


def test_an_interrupt_while_noise_is_measured_keeps_the_bounds(folder: Path) -> None:
    (folder / "slow.py").write_text(INTERRUPTED, encoding="utf-8")
    models = ("slow.py:one", "slow.py:two", "--alphabet", "ht", "--matches", ".*ht")
    found = run(*("drift", *models, "--max-words", "4", "-o", "page.html"), exit_code=130)
    assert "what differs most" in found.stdout
    assert "interrupted" in found.stdout
    assert "nothing was saved" not in found.stderr
    assert (folder / "page.html").is_file()


INTERRUPTED = """
calls = []


def one(words):
    calls.extend(words)
    if len(calls) > 9:
        raise KeyboardInterrupt
    return [[0.5, 0.3, 0.2]] * len(words)


def two(words):
    return [[0.5, 0.25, 0.25]] * len(words)
"""
