"""``pdfalearn coherence``."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import PDFA, FunctionModel, save
from pdfalearn.datasets import random_pdfa
from pdfalearn.equivalence import Ranking
from pdfalearn.metrics import coherence
from tests.cli.program import error_of, run, run_json, unboxed

A, B = (random_pdfa(8, distributions=3, seed=seed) for seed in (1, 2))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(A, "a.json")
    save(B, "b.json")
    Path("box.py").write_text(
        "import pdfalearn\n"
        "pdfa = pdfalearn.load('a.json')\n"
        "model = pdfalearn.FunctionModel(pdfa.next_distributions, '01')\n"
    )


def test_json_has_what_the_library_finds() -> None:
    given = "coherence", "a.json", "b.json", "--equivalence", "ranking:1", "--count", 2
    found, expected = run_json(*given), coherence(A, B, equivalence=Ranking(1), count=2)
    for name in ("compression", "distinction", "precision", "recall"):
        assert found[name] == getattr(expected, name)
    assert [tuple(one["word"]) for one in found["merged"]] == [one.word for one in expected.merged]
    text = unboxed(run(*given).stdout)
    assert expected.statement in text
    assert all(" ".join(row) in text for table in expected.tables() for row in table[1:])


def test_a_black_box() -> None:
    found = run_json("coherence", "box.py:model", "b.json", "--least", 0.2)
    box = FunctionModel(A.next_distributions, "01")
    expected = coherence(box, B, least=0.2)
    assert (found["beginnings"], found["words"]) == (expected.beginnings, expected.words)
    assert found["world"] == "b.json"


def test_one_state_has_nothing_to_tell_apart() -> None:
    save(PDFA(alphabet="01", transitions=[[0, 0]], probabilities=[[0.2, 0.4, 0.4]]), "one.json")
    assert run_json("coherence", "one.json", "one.json")["distinction"] is None
    assert "nan" in run("coherence", "one.json", "one.json").stdout


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["a.json", "c.json"], "c.json"),
        (["a.json", "b.json", "--least", "2"], "--least"),
        (["a.json", "b.json", "--equivalence", "topk"], "no right number"),
        (["box.py:model", "b.json", "--least", "0"], "least"),
    ],
)
def test_bad_input(arguments: list[str], culprit: str) -> None:
    assert culprit in error_of("coherence", *arguments)


def test_many_symbols_by_an_equivalence_that_looks_at_them_together() -> None:
    wide = [random_pdfa(2, 30, seed=seed) for seed in (1, 2)]
    for name, pdfa in zip(("a.json", "b.json"), wide, strict=True):
        save(pdfa, name)
    Path("keys.py").write_text("def keys(rows):\n    return rows[:, 3:9].argmax(axis=1)\n")
    for by in ("topk:3", "support:0.1+zero", "keys.py:keys"):
        text = run("compare", "a.json", "b.json", "--equivalence", by, exit_code=1).stdout
        assert "11 more symbols" in text
