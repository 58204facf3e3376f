"""Damage anywhere in the file is noticed, or has done no harm; it never crashes or misleads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import AnswerStore, DamagedStoreError, StoreError
from pdfalearn.stores._batches import insert
from pdfalearn.stores._models import now, registered
from tests.stores.parts import ALPHABET, Part, assert_same, joined, new_path, read, some, stored
from tests.support import examples


def content() -> bytes:
    with new_path() as path:
        stored(path, some(1, count=60), some(2, count=60))
        return path.read_bytes()


CONTENT = content()


def is_noticed(path: Path) -> bool:
    """Return whether the damage is reported; if it is not, everything is as it was written."""
    try:
        segments = read(path)
    except StoreError:
        segments = None
    try:
        with AnswerStore(path, read_only=True) as store:
            store.verify()
            store.models()
    except StoreError:
        return True
    assert segments is not None, "reading found damage that verify did not"
    assert len(segments) == 2
    for seed, segment in zip((1, 2), segments, strict=True):
        assert_same(segment, some(seed, count=60))
    return False


@examples(100)
@given(st.integers(0, len(CONTENT) - 1), st.integers(1, 255))
def test_one_wrong_byte(place: int, change: int) -> None:
    damaged = bytearray(CONTENT)
    damaged[place] ^= change
    with new_path() as path:
        path.write_bytes(damaged)
        is_noticed(path)


@examples(50)
@given(st.integers(1, len(CONTENT) - 1))
def test_a_file_that_is_cut_off(length: int) -> None:
    with new_path() as path:
        path.write_bytes(CONTENT[:length])
        assert is_noticed(path) or not any(CONTENT[length:])


@examples(50)
@given(st.integers(0, len(CONTENT) // 512 - 1), st.integers(0, 255))
def test_a_wrong_sector(place: int, value: int) -> None:
    damaged = bytearray(CONTENT)
    damaged[512 * place : 512 * (place + 1)] = bytes([value]) * 512
    with new_path() as path:
        path.write_bytes(damaged)
        assert is_noticed(path) or len(set(CONTENT[512 * place : 512 * (place + 1)])) == 1


def test_a_description_that_is_no_text(tmp_path: Path) -> None:
    """SQLite quotes it, and Python cannot decode what it quotes."""
    path = tmp_path / "answers.db"
    path.write_bytes(CONTENT.replace(b"TABLE models", b"TABLE\xe9models"))
    with pytest.raises(DamagedStoreError, match="malformed database schema"):
        AnswerStore(path)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"parents": [1]}, "parent 1 is not a node before its child"),
        ({"symbols": [2]}, "symbol 2 is not below 2"),
        ({"nodes": [2]}, "node 2 is not one of the 2"),
        ({"numbers": [1]}, "number 1 is not one of 1 rows"),
        ({"rows": [[0.5, 0.5, 0.5]]}, "row 0 is not a distribution"),
        ({"nodes": [0, 1]}, "2 nodes with answers, but 1 numbers"),
    ],
)
def test_a_checksum_that_fits_does_not_hide_nonsense(
    wrong: dict[str, list[int]], message: str, tmp_path: Path
) -> None:
    good = Part([0], [0], [0], [0], [[0.5, 0.25, 0.25]])
    part = joined([good._replace(**wrong)])  # type: ignore[arg-type]
    with AnswerStore(tmp_path / "answers.db") as store:
        with store._file.writing() as connection:
            model = registered(connection, store.path, "model", ALPHABET)
            insert(connection, model, 1, 0, part, now())
        for use in (store.verify, lambda: list(store.segments("model")), store.compact):
            named = f"'model', writer 1, batch 0: .*{message}"
            with pytest.raises(DamagedStoreError, match=named):
                use()
