"""The benchmark of programs runs, at tiny sizes."""

from __future__ import annotations

import gc

import pytest
from click.testing import CliRunner

from benchmarks import programs


@pytest.mark.slow
def test_a_table_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "collect", lambda: 0)  # slow beside all that tests leave behind
    result = CliRunner().invoke(programs.main, ["--words", "64", "--runs", "1"])
    assert result.exit_code == 0
    header, rule, *rows = result.stdout.splitlines()
    assert [row.split()[1] for row in rows] == ["1", "16", "256", "1024", "4096"]
    assert {line.count("|") for line in (header, rule, *rows)} == {5}
