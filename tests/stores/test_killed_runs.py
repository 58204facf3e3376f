"""Runs that are killed go on where they stopped."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import load
from tests.stores import killed
from tests.support import many

BATCH = 256
KILLS = many(40)


def started(folder: Path, name: str, store: str = "answers.db") -> subprocess.Popen[bytes]:
    files = [folder / store, folder / f"{name}.log", folder / f"{name}.npz"]
    program = str(Path(killed.__file__))
    return subprocess.Popen([sys.executable, program, *map(str, files)])


def words_asked(folder: Path, name: str) -> int:
    path = folder / f"{name}.log"
    return sum(map(int, path.read_text().split())) if path.exists() else 0


def check_integrity(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
def test_kills_cost_at_most_a_batch_each(tmp_path: Path) -> None:
    assert started(tmp_path, "whole", "other.db").wait(60) == 0
    whole = words_asked(tmp_path, "whole")
    random = np.random.default_rng(1)
    kills = 0
    for _ in range(KILLS):
        process = started(tmp_path, "killed")
        try:
            process.wait(random.uniform(0.3, 0.8))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
    assert kills >= KILLS // 2
    assert started(tmp_path, "killed").wait(60) == 0
    check_integrity(tmp_path / "answers.db")
    assert load(tmp_path / "killed.npz") == load(tmp_path / "whole.npz")
    assert whole > 5 * BATCH
    runs = KILLS + 1
    asked_again = 4 + 16  # when a store is opened, and in the audit
    assert words_asked(tmp_path, "killed") <= whole + kills * BATCH + runs * asked_again


@pytest.mark.slow
def test_two_processes_share_a_store(tmp_path: Path) -> None:
    both = [started(tmp_path, "one"), started(tmp_path, "two")]
    assert [process.wait(60) for process in both] == [0, 0]
    check_integrity(tmp_path / "answers.db")
    assert load(tmp_path / "one.npz") == load(tmp_path / "two.npz")
    assert started(tmp_path, "three").wait(60) == 0
    assert words_asked(tmp_path, "three") <= 4 + 16
    assert load(tmp_path / "three.npz") == load(tmp_path / "one.npz")
