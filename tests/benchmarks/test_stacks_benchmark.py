"""The benchmark of stacks of wrappers runs, at tiny sizes, and its judge sees what is wrong."""

from __future__ import annotations

import pytest

from benchmarks import stacks
from pdfalearn import learn
from pdfalearn.datasets import figure_3


def test_tables_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["stacks", "--stacks", "3"])
    stacks.main()
    printed = capsys.readouterr().out
    assert printed.startswith("3 random stacks of one to three wrappers")
    assert "| exact | " in printed


def test_another_automaton_is_not_the_quotient(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = next(seed for seed in range(20) if stacks.check_stack(seed) == "exact")
    monkeypatch.setattr(
        stacks, "learn", lambda model, equivalence: learn(figure_3(), equivalence=equivalence)
    )
    assert stacks.check_stack(seed) == "not the quotient"
