"""Damage anywhere in the file is noticed, or has done no harm; it never crashes or misleads."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.errors import DamagedStoreError, StoreError
from pdfalearn.stores import AnswerStore
from pdfalearn.stores._sqlite import read_models
from tests.stores.given import listed, new_path, read, some, stored
from tests.support import examples


def content() -> bytes:
    with new_path() as path:
        stored(path, some(1, count=60), some(2, count=60))
        return path.read_bytes()


CONTENT = content()


def is_noticed(path: Path) -> bool:
    """Return whether the damage is reported; if it is not, everything is as it was written."""
    try:
        found = read(path)
    except StoreError:
        found = None
    try:
        with AnswerStore(path, read_only=True) as store:
            store.verify()
            store.models()
    except StoreError:
        return True
    assert found is not None, "reading found damage that verify did not"
    assert found == listed(*some(1, count=60), *some(2, count=60))
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
    ("word", "row", "message"),
    [
        (b"\2", [0.5, 0.25, 0.25], "symbol 2 is not below 2"),
        (b"\1", [0.5, 0.5, 0.5], "sums to 1.5"),
        (b"\1", [np.nan, 0.5, 0.5], "NaN"),
        (b"\1", [0.5, 0.5], "does not have 3 columns"),
        (b"\1", [0.2] * 5, "does not have 3 columns"),
    ],
)
def test_a_checksum_that_fits_does_not_hide_nonsense(
    word: bytes, row: list[float], message: str, tmp_path: Path
) -> None:
    content = b"d" + np.array(row).tobytes()
    with AnswerStore(stored(tmp_path / "answers.db", some(1))) as store:
        with store._file.writing() as connection:
            [model] = read_models(connection)
            checksum = zlib.crc32(content, zlib.crc32(word, zlib.crc32(b"7", model.seal)))
            record = (9, word, content, 7, checksum)
            connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", record)
        for use in (store.verify, lambda: list(store.answers("model"))):
            with pytest.raises(DamagedStoreError, match=f"'model', answer 9: .*{message}"):
                use()


def test_sparse_nonsense_is_found(tmp_path: Path) -> None:
    entries = np.array([(0, 0.25), (9, 0.75)], dtype=[("column", "<u4"), ("value", "<f8")])
    for content in (b"s", b"s" + entries.tobytes(), b"s" + entries[1:].tobytes(), b"s1"):
        with new_path() as path, AnswerStore(stored(path, some(1))) as store:
            with store._file.writing() as connection:
                [model] = read_models(connection)
                checksum = zlib.crc32(content, zlib.crc32(b"", zlib.crc32(b"7", model.seal)))
                record = (9, b"", content, 7, checksum)
                connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", record)
            with pytest.raises(DamagedStoreError, match="'model', answer 9: "):
                store.verify()
