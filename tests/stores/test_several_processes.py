"""Several processes on one store, and processes that are killed: nothing is lost or mixed up."""

from __future__ import annotations

import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from pdfalearn.stores import AnswerStore
from tests.stores.adding import Adding
from tests.stores.given import listed, read, some, stored


def integrity(path: Path) -> str:
    connection = sqlite3.connect(path)
    (message,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return str(message)


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    """They even make the store at once."""
    path, count = tmp_path / "answers.db", 100
    keys = ["one", "two", "two"]
    with ExitStack() as stack:
        addings = [
            stack.enter_context(Adding(path, seed=seed, count=count, key=key))
            for seed, key in enumerate(keys)
        ]
        for adding in addings:
            adding.begin()
        for adding in addings:
            adding.finish()
    assert integrity(path) == "ok"
    with AnswerStore(path, read_only=True) as store:
        assert store.verify() == (2, 6 * count)
    assert read(path, "one") == listed(*some(0, count))
    # Who was when is chance, but each has written in its order.
    two = read(path, "two")
    for seed in (1, 2):
        expected = listed(*some(seed, count))
        assert [answer for answer in two if answer in set(expected)] == expected


@pytest.mark.slow
def test_processes_that_add_the_same_answers_store_them_once(tmp_path: Path) -> None:
    path, count = tmp_path / "answers.db", 100
    with Adding(path, seed=1, count=count) as one, Adding(path, seed=1, count=count) as other:
        for adding in (one, other):
            adding.begin()
        for adding in (one, other):
            adding.finish()
    assert read(path) == listed(*some(1, count))


@pytest.mark.slow
def test_killed_writers_lose_nothing_that_they_have_acknowledged(tmp_path: Path) -> None:
    path, moments = tmp_path / "answers.db", np.random.default_rng(1)
    before: list[tuple[str, str | None]] = []
    for seed in range(4):
        with Adding(path, seed=seed) as adding:
            adding.wait_for(1)
            time.sleep(moments.uniform(0, 0.1))
            count = adding.kill()
        found = read(path)
        added = (len(found) - len(before)) // 2
        assert added in (count, count + 1), "the last one may not have been acknowledged"
        before += listed(*some(seed, added))
        assert found == before
    assert integrity(path) == "ok"


@pytest.mark.slow
def test_a_store_is_whole_at_every_moment_of_another_process_writing(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1))
    with Adding(path, seed=2) as adding, AnswerStore(path, read_only=True) as store:
        adding.wait_for(1)
        counts = [store.verify().answers]
        while counts[-1] < counts[0] + 100:
            counts.append(store.verify().answers)
        assert counts[0] >= 10
        assert counts == sorted(counts)
