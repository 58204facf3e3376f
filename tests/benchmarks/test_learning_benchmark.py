"""The benchmarks of learning run, at tiny sizes, and every learner finds the quotient."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from benchmarks import comparisons, learning
from benchmarks.comparisons import BY, compare
from benchmarks.peers import Machine, Recorder, System, peer
from benchmarks.sleeping import learn_sleeping
from pdfalearn import PDFA, quotient, save
from pdfalearn.datasets import chain, combination_lock, figure_1, random_pdfa
from tests.support import need_module

TARGETS = {
    "random": random_pdfa(30, seed=1),
    "shared": random_pdfa(30, distributions=2, seed=2),
    "one distribution": random_pdfa(30, distributions=1, seed=2),
    "alphabet": random_pdfa(10, 12, seed=3),
    "chain": chain(8),
    "reset": chain(8, reset=True),
    "lock": combination_lock(6),
}

BESIDE_AALPY = {"random", "shared", "alphabets", "chain", "words"}


def is_quotient(machine: Machine, target: PDFA) -> bool:
    """Walk machine and quotient together and say whether their states correspond one to one."""
    smaller = quotient(target, equivalence=BY)
    outputs = System(smaller, BY).outputs
    partners = {smaller.initial: machine.initial_state}
    pending = [smaller.initial]
    while pending:
        state = pending.pop()
        if outputs[state] != partners[state].output:
            return False
        for letter, successor in enumerate(smaller.transitions[state].tolist()):
            if successor not in partners:
                partners[successor] = partners[state].transitions[letter]
                pending.append(successor)
            if partners[successor] is not partners[state].transitions[letter]:
                return False
    return len(partners) == len(machine.states) == len(smaller)


@pytest.mark.parametrize("name", ["KV", "L*", "L#"])
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_peers_find_the_quotient(name: str, target: PDFA) -> None:
    need_module("aalpy")
    outcome = peer(name, System(target, BY))()
    assert is_quotient(cast("Machine", outcome.learnt), target)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_learners_agree(target: PDFA) -> None:
    need_module("aalpy")
    measured = compare(target, runs=1)
    assert list(measured) == ["learn", "KV", "L*", "KV on lists"]
    assert {outcome.states for _, outcome in measured.values()} == {
        len(quotient(target, equivalence=BY))
    }


def test_recorder_counts_words_and_the_prefixes_they_show() -> None:
    recorder = Recorder(figure_1(), BY)
    system = System(figure_1(), BY)
    for word in ((), (0, 0), (0, 0), (0,)):
        assert recorder.query(word) == system.query(word)
    assert recorder.words == {(), (0,), (0, 0)}
    assert recorder.distributions == {(), (0,), (0, 0)}
    assert recorder.symbols == 3


def test_a_sleeping_function_is_timed_inside() -> None:
    run = learn_sleeping(random_pdfa(20, seed=1), BY)
    assert run.inside > len(run.sizes) * 1e-3
    assert run.ratio > 1
    assert run.spread()[0] == min(run.sizes)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make every target tiny, and measure all in this process."""

    def tiny_random(size: int, symbols: int = 2, **options: int) -> PDFA:
        return random_pdfa(min(size, 20), min(symbols, 5), **options)  # type: ignore[arg-type]

    def at_once(job: Callable[..., object], *arguments: object) -> object:
        return job(*arguments)

    for module in (comparisons, learning):
        monkeypatch.setattr(module, "random_pdfa", tiny_random)
    monkeypatch.setattr(comparisons, "chain", lambda size, reset: chain(9, reset=reset))
    monkeypatch.setattr(learning, "combination_lock", lambda size: combination_lock(size // 10))
    monkeypatch.setattr(learning, "in_a_process", at_once)
    monkeypatch.setattr(gc, "collect", lambda: 0)  # slow beside all that tests leave behind
    monkeypatch.setenv("PDFALEARN_PAPER_DATA", str(tmp_path))
    folder = tmp_path / "paper-targets" / "exp5"
    folder.mkdir(parents=True)
    save(random_pdfa(20, distributions=2, seed=1), folder / "d2-0.json.gz")


@pytest.mark.slow
@pytest.mark.parametrize("family", learning.FAMILIES)
@pytest.mark.usefixtures("tiny")
def test_family_prints_a_table(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    if family in BESIDE_AALPY:
        need_module("aalpy")
    learning.main([family, "--all"])
    title, empty, header, rule, *rows = capsys.readouterr().out.strip().splitlines()
    assert title.startswith(f"{family}: ")
    assert not empty
    assert rows
    assert {line.count("|") for line in (header, rule, *rows)} == {header.count("|")}


def test_unknown_family_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        learning.main(["nonsense"])
    assert "there is no family 'nonsense'" in capsys.readouterr().err


def test_without_the_data_of_the_paper_a_line_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PDFALEARN_PAPER_DATA", str(tmp_path))
    learning.main(["words"])
    assert "Skipped: there is no" in capsys.readouterr().out


def test_without_aalpy_a_line_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "aalpy.learning_algs", None)
    learning.main(["random"])
    assert "pip install '.[bench]'" in capsys.readouterr().out
