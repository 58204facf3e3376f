"""The benchmark of the store runs, at a tiny size, and writes what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import store
from pdfalearn.stores import AnswerStore


@pytest.mark.parametrize("different", [1.0, 0.01])
def test_what_is_written_is_whole(
    different: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ANSWERS", 3000)
    given = store.make(20, 6, 256, different)
    path = tmp_path / "answers.db"
    assert all(seconds > 0 for seconds in store.measure(given, path))
    with AnswerStore(path) as written:
        assert written.verify().answers == len(given.words) > 2900


@pytest.mark.slow
def test_it_prints_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(store, "ANSWERS", 500)
    monkeypatch.setattr(store, "RUNS", 1)
    store.main()
    header, rule, *rows = capsys.readouterr().out.strip().splitlines()
    assert len(rows) == 2 * (len(store.KINDS) + 1)
    assert {line.count("|") for line in (header, rule, *rows)} == {header.count("|")}
