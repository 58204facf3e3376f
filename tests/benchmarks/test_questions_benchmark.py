"""The benchmarks that compare checkouts run, and agree with themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import edition_jobs, editions, questions
from benchmarks.checkouts import call, find
from pdfalearn import Quantization, learn
from pdfalearn.datasets import chain, random_pdfa
from tests.models.networks import needed_torch

ROOT = Path(__file__).parents[2]


def test_there_are_sixty_runs_of_all_kinds() -> None:
    names = questions.cases()
    assert len(names) == 60
    assert {name.partition(":")[0] for name in names} >= {
        *("automaton", "chain", "function", "large alphabet", "lock", "network", "undefined"),
        *("budget", "distill", "lpstar", "quant-classes", "quant-paper", "store", "wrapper"),
    }


def test_questions_are_those_of_learn() -> None:
    [figures] = questions.measure(["automaton: n=20, m=2"]).values()
    found = learn(random_pdfa(20, seed=1), equivalence=Quantization(1000)).statistics
    assert [figures[name] for name in ("states", "words", "symbols")] == [
        *(found.states, found.words, found.symbols)
    ]


def test_what_a_model_received_is_counted() -> None:
    parts = ["function: of words", "store: fresh", "budget: max_words", "wrapper: stack(f"]
    for name, figures in questions.measure(parts).items():
        assert figures["received"] >= figures["words"] > 0, name


def test_differences_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    for path, words in zip(files, (3, 5), strict=True):
        path.write_text(json.dumps({"a": {"words": words, "states": 2}, "b": {"words": 1}}))
    questions.main(["--compare", *map(str, files)])
    first, _, *table = capsys.readouterr().out.splitlines()
    assert first == "1 of 2 runs are the same in every figure."
    assert table[2:] == ["| a | words | 3 | 5 |"]


def test_another_checkout_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    with pytest.raises(SystemExit) as ended:
        questions.main(["figure 1", "--root", str(ROOT), "--json", str(path)])
    assert ended.value.code == 0
    assert json.loads(path.read_text())["figure 1"]["states"] == 2


def test_keywords_are_passed_by_the_name_that_they_have() -> None:
    def older(model: object, *, price: int = 0, identity: str = "") -> tuple[object, int, str]:
        return model, price, identity

    def newer(model: object, *, cost: int = 0) -> tuple[object, int]:
        return model, cost

    def oldest(model: object, *, by: str) -> tuple[object, str]:
        return model, by

    assert call(older, 1, cost=2, fingerprint="a") == (1, 2, "a")
    assert call(newer, 1, price=2, identity="a") == (1, 2)
    assert call(oldest, 1, equivalence="a") == (1, "a")
    with pytest.raises(TypeError, match="equivalence"):
        call(newer, 1, equivalence="a")
    with pytest.raises(TypeError, match="unknown"):
        call(newer, 1, unknown=2)
    with pytest.raises(LookupError, match="unlearn"):
        find("unlearn")


def test_what_a_room_imports_is_not_found_in_it() -> None:
    assert find("chain") is chain


def test_turns_alternate_and_failures_leave() -> None:
    order = []

    def run(name: str) -> dict[str, float]:
        order.append(name)
        if name == "c":
            raise LookupError("not there")
        return {"seconds": {"a": 2.0, "b": 3.0}[name]}

    runs = [lambda name=name: run(name) for name in "abc"]
    measured = editions.by_turns(runs, 3)
    assert order == ["a", "b", "c", "b", "a", "a", "b"]
    assert editions.cells_of(measured, "seconds") == [2.0, 3.0, "–", 1.5, "3/3", "–", "–"]


@pytest.mark.slow
def test_jobs_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    editions.print_jobs({"one": ROOT, "two": ROOT}, ["function, n=20", "nothing"], turns=2)
    rows = capsys.readouterr().out.splitlines()[-2:]
    assert rows[0].startswith("| function, n=20 | ")
    assert rows[1] == "| nothing | – | – | – | – |"


@pytest.mark.slow
def test_steps_and_memory_are_counted() -> None:
    needed_torch()
    assert edition_jobs.timed("GRU")["steps"] < edition_jobs.timed("GRU, a tenth kept")["steps"]
    assert edition_jobs.peak("function, n=20")["peak"] > 10
