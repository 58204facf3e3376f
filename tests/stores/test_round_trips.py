"""What was written is read back, to the last bit."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Alphabet, AnswerStore, InputError, StoreError
from pdfalearn.stores import _batches
from pdfalearn.stores._connection import APPLICATION
from tests.stores.parts import (
    ALPHABET,
    Part,
    assert_same,
    new_path,
    parts,
    read,
    some,
    stored,
)
from tests.support import examples

ONE_ROW = Part([], [], [0], [0], [[0.5, 0.25, 0.25]])


@examples(50)
@given(st.lists(parts(), min_size=1, max_size=3))
def test_segments_are_what_was_appended(writers: list[list[Part]]) -> None:
    with new_path() as path:
        stored(path, *writers)
        begun = [given for given in writers if any(map(any, given))]
        segments = read(path)
        assert len(segments) == len(begun)
        for segment, expected in zip(segments, begun, strict=True):
            assert_same(segment, expected)


@examples(50)
@given(parts())
def test_answers_are_words_and_distributions(given_parts: list[Part]) -> None:
    words: list[tuple[str, ...]] = [()]
    rows: list[list[float]] = []
    expected = []
    for part in given_parts:
        for parent, symbol in zip(part.parents, part.symbols, strict=True):
            words.append((*words[parent], "ab"[symbol]))
        rows += part.rows
        for node, number in zip(part.nodes, part.numbers, strict=True):
            expected.append((words[node], None if number < 0 else repr(rows[number])))
    with new_path() as path:
        stored(path, given_parts)
        with AnswerStore(path, read_only=True) as store:
            found = [
                (word, None if row is None else repr(row.tolist()))
                for word, row in store.answers("model")
            ]
    assert found == expected


@examples(50)
@given(parts(), st.integers(1, 200))
def test_what_is_too_large_for_one_batch_is_cut(given_parts: list[Part], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch, new_path() as path:
        patch.setattr(_batches, "MOST_BYTES", most)
        stored(path, [*given_parts, ONE_ROW])
        [segment] = read(path)
        assert_same(segment, [*given_parts, ONE_ROW])
        with AnswerStore(path) as store:
            assert store.verify().answers == len(segment.nodes)
        with sqlite3.connect(path) as connection:
            longest = (
                "SELECT max(length(rows)), max(length(parents) + length(symbols)) FROM batches"
            )
            row_bytes, node_bytes = connection.execute(longest).fetchone()
        connection.close()
        assert row_bytes <= max(most, 24)
        assert node_bytes <= max(most, 8)


def test_arrays_have_their_types(tmp_path: Path) -> None:
    [segment] = read(stored(tmp_path / "answers.db", some(1)))
    assert [array.dtype for array in segment.arrays()] == [np.int32] * 4 + [
        np.float64,
        np.int32,
    ]
    assert segment.rows.values.shape == (8, 3)


def test_models_are_never_mixed(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1), key="one")
    stored(path, some(2), some(3), key="two")
    assert_same(read(path, "one")[0], some(1))
    assert [len(read(path, key)) for key in ("one", "two", "three")] == [1, 2, 0]


def test_models_are_described(tmp_path: Path) -> None:
    before = datetime.now(UTC).isoformat(timespec="seconds")
    path = stored(tmp_path / "answers.db", some(1), some(2, count=3))
    with AnswerStore(path) as store:
        writer = store.writer("other", Alphabet(["up", 7], terminal="end"))
        writer.append([0], [0], [0, 1], [0, -1], [[1, 0, 0]])
        first, second = store.models()
    assert (first.key, first.alphabet) == ("model", ALPHABET)
    assert (first.writers, first.batches, first.answers) == (2, 7, 14)
    assert first.bytes == 7 * (2 * 4 * 4 + 2 * 3 * 8)
    assert before <= first.first <= first.last <= datetime.now(UTC).isoformat(timespec="seconds")
    assert (second.key, second.alphabet) == ("other", Alphabet(["up", 7], terminal="end"))
    assert (second.writers, second.batches, second.answers) == (1, 1, 2)


def test_nothing_is_written_before_the_first_answers(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        writer = store.writer("model", ALPHABET)
        assert store.models() == []
        writer.append([], [], [], [], [])
        assert store.models() == []
        assert list(store.segments("model")) == []
        writer.append(*ONE_ROW)
        assert [model.batches for model in store.models()] == [1]


def test_several_writers_take_turns(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store, AnswerStore(store.path) as other:
        writers = [store.writer("model", ALPHABET), other.writer("model", ALPHABET)]
        for pair in zip(some(1), some(2), strict=True):
            for writer, part in zip(writers, pair, strict=True):
                writer.append(*part)
        one, two = store.segments("model")
    assert_same(one, some(1))
    assert_same(two, some(2))


def test_a_store_is_one_sqlite_file(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1))
    assert list(tmp_path.iterdir()) == [path]
    with AnswerStore(path, read_only=True) as store:
        assert store.verify().batches == 4
    assert list(tmp_path.iterdir()) == [path]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_names_of_files_may_be_strange(tmp_path: Path) -> None:
    for name in ("a b?mode=memory#%41.db", "ä.db", "'\".db", os.fsdecode(b"\xff.db")):
        path = stored(tmp_path / name, some(1))
        assert path.exists()
        assert_same(read(path)[0], some(1))


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.db"
    link.symlink_to("folder/answers.db")
    assert_same(read(stored(link, some(1)))[0], some(1))
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["answers.db"]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "answers.db").touch()
    assert_same(read(stored(tmp_path / "answers.db", some(1)))[0], some(1))


def test_another_alphabet_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1))
    with AnswerStore(path) as store:
        for alphabet in (Alphabet("ba"), Alphabet("ab", terminal="."), Alphabet("abc")):
            with pytest.raises(StoreError, match=r"'model' is there with .* a key of its own"):
                store.writer("model", alphabet)
        both = [store.writer("new", Alphabet("a")), store.writer("new", Alphabet("b"))]
        both[0].append([], [], [0], [0], [[0.5, 0.5]])
        with pytest.raises(StoreError, match="'new' is there with"):
            both[1].append([], [], [0], [0], [[0.5, 0.5]])
        assert [model.key for model in store.models()] == ["model", "new"]


@pytest.mark.parametrize("key", ["", "two\nlines", "\ud800", "nul\0", 7, None])
def test_bad_keys(key: str, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        with pytest.raises(InputError, match="not a line of text"):
            store.writer(key, ALPHABET)
        with pytest.raises(InputError, match="not a line of text"):
            next(store.segments(key))


def test_symbols_that_files_cannot_hold(tmp_path: Path) -> None:
    message = r"\('a', 'tuple'\) cannot be in a file"
    with AnswerStore(tmp_path / "a.db") as store, pytest.raises(InputError, match=message):
        store.writer("model", Alphabet([("a", "tuple")]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"parents": [9]}, "parent 9 is not a node before its child"),
        ({"parents": [3]}, "parent 3 is not a node before its child"),
        ({"parents": [-1]}, "parent -1"),
        ({"parents": [0, 0]}, "2 parents, but 1 symbols"),
        ({"parents": [0.5]}, "parents are not a list of integers"),
        ({"parents": [[0]]}, "parents are not a list of integers"),
        ({"parents": [2**40]}, "not from -1 to 2147483647"),
        ({"symbols": [2]}, "symbol 2 is not below 2"),
        ({"symbols": [-1]}, "symbol -1"),
        ({"nodes": [4]}, "node 4 is not one of the 4"),
        ({"nodes": [-1]}, "node -1"),
        ({"nodes": [0, 1]}, "2 nodes with answers, but 1 numbers"),
        ({"numbers": [3]}, "number 3 is not one of 3 rows, nor -1"),
        ({"numbers": [-2]}, "not from -1"),
        ({"rows": [[0.5, 0.5]]}, r"shape \(1, 2\), not \(rows, 3\)"),
        ({"rows": [0.5, 0.25, 0.25]}, r"shape \(3,\)"),
        ({"rows": [[0.5, 0.25, 0.5]]}, "row 2 is not a distribution"),
        ({"rows": [[1.5, -0.25, -0.25]]}, "row 2 is not a distribution"),
        ({"rows": [[np.nan, 0.5, 0.5]]}, "row 2 is not a distribution"),
        ({"rows": [[np.inf, -np.inf, 1]]}, "row 2 is not a distribution"),
    ],
)
def test_bad_parts_are_refused_and_leave_nothing(
    wrong: dict[str, list[int]], message: str, tmp_path: Path
) -> None:
    good = Part([0], [1], [3], [0], [[0.5, 0.25, 0.25]])
    before = Part([0, 0], [0, 1], [0], [0], [[0.5, 0.25, 0.25], [0, 0, 1.0]])
    with AnswerStore(tmp_path / "answers.db") as store:
        writer = store.writer("model", ALPHABET)
        writer.append(*before)
        with pytest.raises(InputError, match=message):
            writer.append(*good._replace(**wrong))  # type: ignore[arg-type]
        writer.append(*good)
        [segment] = store.segments("model")
    assert_same(segment, [before, good])


def test_an_interrupt_right_after_a_commit_is_not_written_over(tmp_path: Path) -> None:
    """The writer does not know then that its batch is stored."""
    first, second = some(1, count=2)
    with AnswerStore(tmp_path / "answers.db") as store:
        writer = store.writer("model", ALPHABET)
        writer.append(*first)
        writer._sequence = 0
        with pytest.raises(StoreError, match="was interrupted; make a new writer"):
            writer.append(*second)
        [segment] = store.segments("model")
    assert_same(segment, [first])


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.db")
    writer = store.writer("model", ALPHABET)
    store.close()
    store.close()
    for use in (store.models, store.verify, lambda: writer.append(*ONE_ROW)):
        with pytest.raises(InputError, match=r"answers\.db: the store is closed"):
            use()


def test_a_store_to_be_read_only_refuses_to_write(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1))
    with AnswerStore(path, read_only=True) as store:
        for write in (lambda: store.writer("model", ALPHABET), store.compact):
            with pytest.raises(InputError, match="opened to be read only"):
                write()


@pytest.mark.parametrize("path", [7, b"answers.db", "nul\0"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(InputError, match="is not a path"):
        AnswerStore(path)
