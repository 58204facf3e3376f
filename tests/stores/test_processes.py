"""Several processes on one store, and processes that are killed: nothing is lost or mixed up."""

from __future__ import annotations

import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import AnswerStore, StoreError
from pdfalearn.stores import _connection
from tests.stores.parts import ALPHABET, assert_same, read, some, stored
from tests.stores.writing import Writing


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
        writings = [
            stack.enter_context(Writing(path, seed=seed, count=count, key=key))
            for seed, key in enumerate(keys)
        ]
        for writing in writings:
            writing.begin()
        for writing in writings:
            writing.finish()
    assert integrity(path) == "ok"
    with AnswerStore(path, read_only=True) as store:
        verified = store.verify()
    assert (verified.models, verified.writers, verified.batches) == (2, 3, 3 * count)
    [one], two = read(path, "one"), read(path, "two")
    assert_same(one, some(0, count))
    first_of_one = some(1)[0].rows[0][0]
    # Who began first is chance.
    two.sort(key=lambda segment: segment.rows.values[0, 0] != first_of_one)
    for seed, segment in zip((1, 2), two, strict=True):
        assert_same(segment, some(seed, count))


@pytest.mark.slow
def test_killed_writers_lose_nothing_that_they_have_acknowledged(tmp_path: Path) -> None:
    path, moments = tmp_path / "answers.db", np.random.default_rng(1)
    acknowledged = []
    for seed in range(4):
        with Writing(path, seed=seed) as writing:
            writing.wait_for(1)
            time.sleep(moments.uniform(0, 0.1))
            acknowledged.append(writing.kill())
        assert len(read(path)) == seed + 1, "readable after every kill"
    assert integrity(path) == "ok"
    for seed, (segment, count) in enumerate(zip(read(path), acknowledged, strict=True)):
        stored_count = len(segment.nodes) // 2
        assert stored_count in (count, count + 1), "the last one may not have been acknowledged"
        assert_same(segment, some(seed, stored_count))


@pytest.mark.slow
def test_a_store_is_whole_at_every_moment_of_another_process_writing(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1))
    with Writing(path, seed=2) as writing, AnswerStore(path, read_only=True) as store:
        writing.wait_for(1)
        counts = [store.verify().batches]
        while counts[-1] < counts[0] + 50:
            counts.append(store.verify().batches)
        assert counts[0] >= 5
        assert counts == sorted(counts)


@pytest.mark.slow
def test_compacting_is_refused_while_another_process_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_connection, "BUSY_SECONDS", 0.2)
    path = stored(tmp_path / "answers.db", some(1), some(2))
    with Writing(path, seed=3) as writing:
        writing.wait_for(2)
        with AnswerStore(path) as store, pytest.raises(StoreError, match="another process uses it"):
            store.compact()
        writing.kill()
    with AnswerStore(path) as store:
        assert [len(model.alphabet) for model in store.models()] == [2]
        assert store.models()[0].writers == 3


def test_writing_is_refused_while_someone_compacts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stored(tmp_path / "answers.db", some(1))
    alone = _connection.opened_alone(path)
    monkeypatch.setattr(_connection, "BUSY_SECONDS", 0.1)
    for read_only in (True, False):
        with pytest.raises(StoreError, match="another process uses it"):
            AnswerStore(path, read_only=read_only)
    alone.close()
    with AnswerStore(path) as store:
        store.writer("model", ALPHABET).append(*some(2)[0])
