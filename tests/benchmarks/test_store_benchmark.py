"""The benchmark of the store runs, at a tiny size, and writes what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import store
from pdfalearn import AnswerStore
from pdfalearn.stores import _file


@pytest.mark.parametrize("new_rows", store.NEW_ROWS.values())
def test_what_is_written_is_whole(new_rows: int, tmp_path: Path) -> None:
    before = _file.SYNC_SECONDS
    path = tmp_path / "answers.db"
    store.write(path, list(store.parts(3000, new_rows)), 0.0)
    assert before == _file.SYNC_SECONDS
    assert store.read(path) == 3072
    with AnswerStore(path) as written:
        written.compact()
        assert written.verify().answers == 3072, "no word is asked twice"


@pytest.mark.slow
def test_it_prints_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(store, "ANSWERS", 2000)
    monkeypatch.setattr(store, "RUNS", 1)
    store.main()
    header, rule, *rows = capsys.readouterr().out.strip().splitlines()
    assert len(rows) == len(store.NEW_ROWS)
    assert {line.count("|") for line in (header, rule, *rows)} == {header.count("|")}
