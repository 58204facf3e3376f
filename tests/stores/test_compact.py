"""Compacting keeps every answer, once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import AnswerStore, InputError, StoreError
from pdfalearn.stores import _batches, _connection
from tests.stores.parts import ALPHABET, assert_same, new_path, part_of, read, some, stored
from tests.support import examples

PALETTE = [(0.5, 0.5, 0.0), (0.5, 0.25, 0.25), (1.0, 0.0, 0.0), (1 - 5e-324, 5e-324, 0.0), None]

words = st.text("ab", max_size=6)


def answer_to(word: str) -> tuple[float, ...] | None:
    return PALETTE[(7 * len(word) + 3 * word.count("a") + word.find("b")) % len(PALETTE)]


def exported(path: Path, key: str = "model") -> list[tuple[str, str | None]]:
    with AnswerStore(path, read_only=True) as store:
        return [
            ("".join(map(str, word)), None if row is None else repr(tuple(row.tolist())))
            for word, row in store.answers(key)
        ]


@examples(50)
@given(st.lists(st.lists(words, min_size=1), min_size=1, max_size=4), st.sampled_from([50, 2**26]))
def test_one_writer_has_every_answer_once(writers: list[list[str]], most: int) -> None:
    expected = {
        word: None if answer_to(word) is None else repr(answer_to(word))
        for given_words in writers
        for word in given_words
    }
    with pytest.MonkeyPatch.context() as patch, new_path() as path:
        patch.setattr(_batches, "MOST_BYTES", most)
        stored(path, *([part_of({word: answer_to(word) for word in some})] for some in writers))
        with AnswerStore(path) as store:
            store.compact()
            assert store.verify().writers == 1
        found = exported(path)
        assert dict(found) == expected
        assert len(found) == len(expected)
        [segment] = read(path)
        kept = {row.tobytes() for row in segment.rows.values}
        assert len(kept) == len(segment.rows) == len(set(expected.values()) - {None})
        prefixes = {word[:length] for word in expected for length in range(len(word) + 1)}
        assert len(segment.parents) == len(prefixes) - 1
        lengths = [len(segment.word(node)) for node in range(len(segment.parents) + 1)]
        assert lengths == sorted(lengths)


def test_models_are_compacted_one_by_one(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1), some(1), key="one")
    stored(path, some(2, count=50), some(2, count=100), key="two")
    before, size = {key: sorted(set(map(str, exported(path, key)))) for key in ("one", "two")}, 0
    with AnswerStore(path) as store:
        old = store.models()
        store.compact()
        new = store.models()
        size = path.stat().st_size
        store.compact()
        assert store.models() == new, "there is nothing more to do"
    assert [(model.writers, model.batches) for model in new] == [(1, 1)] * 2
    assert [(model.first, model.last) for model in new] == [(m.first, m.last) for m in old]
    assert all(small.bytes < large.bytes for small, large in zip(new, old, strict=True))
    assert path.stat().st_size <= size
    for key, answers in before.items():
        assert sorted(map(str, exported(path, key))) == answers


def test_space_is_given_back(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", *[some(1, count=100)] * 5)
    before = path.stat().st_size
    with AnswerStore(path) as store:
        store.compact()
    assert path.stat().st_size < before / 2
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_store_stays_empty(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        store.compact()
        assert store.models() == []
        assert store.verify() == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("one", "two"), [((0.5, 0.5, 0.0), (0.5, 0.0, 0.5)), ((0.5, 0.5, 0.0), None)]
)
def test_two_answers_to_one_word_are_refused(
    one: tuple[float, ...], two: tuple[float, ...] | None, tmp_path: Path
) -> None:
    path = tmp_path / "answers.db"
    stored(path, [part_of({"": one, "ab": one})], [part_of({"ab": two, "b": two})])
    before = exported(path)
    with AnswerStore(path) as store:
        with pytest.raises(StoreError, match=r"'model' has given two .* the word \('a', 'b'\)"):
            store.compact()
        assert store.verify().writers == 2, "it is as it was, and open"
    assert exported(path) == before


def test_zeros_of_two_signs_are_one_answer(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    stored(path, [part_of({"a": (0.5, 0.5, -0.0)})], [part_of({"a": (0.5, 0.5, 0.0)})])
    with AnswerStore(path) as store:
        store.compact()
    assert exported(path) == [("a", "(0.5, 0.5, -0.0)")], "the first is kept, to the bit"


def test_a_writer_that_has_begun_elsewhere_goes_on_as_if_nothing_had_been_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_connection, "BUSY_SECONDS", 0.1)
    path = stored(tmp_path / "answers.db", some(1))
    first, *others = some(2)
    with AnswerStore(path) as writing, AnswerStore(path) as compacting:
        writer = writing.writer("model", ALPHABET)
        writer.append(*first)
        with pytest.raises(StoreError, match="another process uses it"):
            compacting.compact()
        for part in others:
            writer.append(*part)
        assert [model.writers for model in compacting.models()] == [2]
    assert_same(read(path)[1], some(2))


def test_a_writer_that_has_not_begun_may_begin_afterwards(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1), some(1))
    with AnswerStore(path) as store:
        writer = store.writer("model", ALPHABET)
        store.compact()
        for part in some(2):
            writer.append(*part)
    assert_same(read(path)[1], some(2))


def test_a_store_that_has_written_is_not_compacted_under_its_own_writers(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        writer = store.writer("model", ALPHABET)
        first, *others = some(1)
        writer.append(*first)
        with pytest.raises(InputError, match="one of its writers has begun here; close"):
            store.compact()
        for part in others:
            writer.append(*part)
    assert_same(read(store.path)[0], some(1))


def test_deep_words_are_merged_too(tmp_path: Path) -> None:
    deep = {"ab" * 1000: (1.0, 0.0, 0.0), "a": None}
    path = stored(tmp_path / "answers.db", [part_of(deep)], [part_of({"aba" * 300: None})])
    with AnswerStore(path) as store:
        store.compact()
    assert dict(exported(path)) == {
        "a": None,
        "ab" * 1000: "(1.0, 0.0, 0.0)",
        "aba" * 300: None,
    }
