"""Compacting keeps every answer, and equal rows once."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Alphabet
from pdfalearn.errors import StoreError
from pdfalearn.stores import AnswerStore, _sqlite
from tests.stores.given import ALPHABET, arrays_of, listed, new_path, read, some, spelled, stored
from tests.support import examples

PALETTE = [(0.5, 0.5, 0.0), (0.5, 0.25, 0.25), (1.0, 0.0, 0.0), (0.5, 0.5, -0.0), None]

words = st.text("ab", max_size=6)


def answer_to(word: str) -> tuple[float, ...] | None:
    return PALETTE[(7 * len(word) + 3 * word.count("a") + word.find("b")) % len(PALETTE)]


def stored_rows(path: Path) -> list[bytes]:
    connection = sqlite3.connect(path)
    query = "SELECT row FROM answers WHERE typeof(row) = 'blob'"
    found = [row for (row,) in connection.execute(query)]
    connection.close()
    return found


@examples(50)
@given(st.lists(st.lists(words, min_size=1), min_size=1, max_size=4))
def test_every_answer_is_there_and_every_row_once(runs: list[list[str]]) -> None:
    expected = {word: answer_to(word) for given_words in runs for word in given_words}
    with new_path() as path:
        for given_words in runs:
            batch = spelled({word: answer_to(word) for word in given_words})
            stored(path, [batch])
            if len(given_words) % 2:
                with AnswerStore(path) as store:
                    store.compact()
        before = read(path)
        with AnswerStore(path) as store:
            answers = store.answers("model")
            assert len(answers) == len(expected)
            store.compact()
            assert store.verify().answers == len(expected)
            # Answers that were opened before go on as if nothing had happened.
            longer = spelled({"a" * 7: (0.5, 0.5, 0.0), "b" * 7: (1.0, 0.0, 0.0)})
            answers.add(*arrays_of(longer))
            assert store.verify().answers == len(expected) + 2
        assert read(path) == [*before, *listed(longer)]
        assert sorted(before) == sorted(listed(spelled(expected)))
        with AnswerStore(path) as store:
            store.compact()
        rows = stored_rows(path)
        assert len(rows) == len(set(rows))
        assert read(path) == [*before, *listed(longer)]


def test_models_are_compacted_one_by_one(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1), key="one")
    stored(path, some(1), some(2, count=100), key="two")
    before = {key: read(path, key) for key in ("one", "two")}
    with AnswerStore(path) as store:
        old = store.models()
        store.compact()
        assert store.models() == old, "every row was new"
        store.compact()
    for key, answers in before.items():
        assert read(path, key) == answers


def test_space_is_given_back(tmp_path: Path) -> None:
    path, alphabet = tmp_path / "answers.db", Alphabet(range(100))
    row = [0.01] * 100 + [0.0]
    for word in range(100):
        with AnswerStore(path) as store:  # which does not know the rows of others
            store.answers("model", alphabet).add(*arrays_of({(word,): row}, symbols=100))
    before = path.stat().st_size
    with AnswerStore(path) as store:
        assert store.models()[0].bytes > 80_000
        store.compact()
        assert store.models()[0].bytes < 1000
        assert path.stat().st_size < before / 2, "at once, although the store is open"
        assert [found.tolist() for _, found in store.answers("model") if found is not None] == (
            [row] * 100
        )
    assert list(tmp_path.iterdir()) == [path]
    assert len(stored_rows(path)) == 1


def test_an_empty_store_stays_empty(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        store.compact()
        assert store.models() == []
        assert store.verify() == (0, 0)


def test_a_lock_of_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlite, "BUSY_SECONDS", 0.1)
    path = stored(tmp_path / "answers.db", some(1))
    with AnswerStore(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process uses it"):
            store.compact()
        other.execute("ROLLBACK")
        other.close()
        store.answers("model", ALPHABET).add(*arrays_of(some(2)[0]))
    assert read(path) == listed(*some(1), some(2)[0])


def test_deep_words_are_kept(tmp_path: Path) -> None:
    deep = spelled({"ab" * 10000: (1.0, 0.0, 0.0), "a": None, "aba" * 300: None})
    path = stored(tmp_path / "answers.db", [deep])
    with AnswerStore(path) as store:
        store.compact()
    assert read(path) == listed(deep)
