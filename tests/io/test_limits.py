from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from pdfalearn import PDFA, save
from pdfalearn.errors import InputError
from pdfalearn.io import pdfa_files
from tests.io.samples import SMALL, bytes_of, complaint_about, load_bytes


def test_a_bomb_is_not_inflated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdfa_files, "TEXT_LIMIT", 2**21)
    data = gzip.compress(bytes(2**26))
    tracemalloc.start()
    complaint = complaint_about(data, ".json.gz", tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()
    assert "more than 2 MiB of JSON text" in complaint


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_the_limit_is_the_same_both_ways(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(bytes_of(SMALL, ".json", tmp_path))
    data = bytes_of(SMALL, ending, tmp_path)
    monkeypatch.setattr(pdfa_files, "TEXT_LIMIT", size)
    assert load_bytes(bytes_of(SMALL, ending, tmp_path), ending, tmp_path) == SMALL
    monkeypatch.setattr(pdfa_files, "TEXT_LIMIT", size - 1)
    assert "MiB of JSON text" in complaint_about(data, ending, tmp_path)
    with pytest.raises(InputError, match=r"^2 states .* too much for JSON text; save as \.npz$"):
        save(SMALL, tmp_path / f"large{ending}")


def test_lists_are_counted_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b'{"transitions":[' + b"[]," * 200_000 + b"[]]}"
    monkeypatch.setattr(pdfa_files, "PARTS_LIMIT", 100_000)
    tracemalloc.start()
    complaint = complaint_about(data, ".json", tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()
    assert "more than 100,000 lists, objects and strings" in complaint
    text = bytes_of(SMALL, ".json", tmp_path)
    parts = text.count(b"[") + text.count(b"{") + text.count(b'"') // 2
    monkeypatch.setattr(pdfa_files, "PARTS_LIMIT", parts)
    assert load_bytes(bytes_of(SMALL, ".json", tmp_path), ".json", tmp_path) == SMALL
    monkeypatch.setattr(pdfa_files, "PARTS_LIMIT", parts - 1)
    with pytest.raises(InputError, match="save as"):
        save(SMALL, tmp_path / "many.json")


@pytest.mark.parametrize("nested", [b"{},", b'{"a":{}},', b'[{"":0}],'])
def test_few_objects_are_made(nested: bytes, tmp_path: Path) -> None:
    data = b'{"transitions":[' + nested * 5_000_000 + b"{}]}"
    tracemalloc.start()
    complaint = complaint_about(gzip.compress(data), ".json.gz", tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 4 * len(data) + 2**23
    tracemalloc.stop()
    assert "lists, objects and strings; another kind of file under this ending" in complaint


def test_keys_are_counted_before_they_are_made(tmp_path: Path) -> None:
    data = b"{" + b'"a":0,' * 5_000_000 + b'"b":0}'
    tracemalloc.start()
    complaint = complaint_about(gzip.compress(data), ".json.gz", tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 4 * len(data) + 2**23
    tracemalloc.stop()
    assert "more than 5,000,000 lists" in complaint


def test_strings_are_counted_before_they_are_made(tmp_path: Path) -> None:
    data = b"[" + b'"ab",' * 5_000_000 + b'"ab"]'
    tracemalloc.start()
    complaint = complaint_about(gzip.compress(data, 1), ".json.gz", tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 4 * len(data) + 2**23
    tracemalloc.stop()
    assert "more than 5,000,000 lists" in complaint


def test_what_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdfa = PDFA(alphabet=[':["' * 9], transitions=[[0]], probabilities=[[0.5, 0.5]])
    assert load_bytes(bytes_of(pdfa, ".json", tmp_path), ".json", tmp_path) == pdfa
    monkeypatch.setattr(pdfa_files, "PARTS_LIMIT", 12)
    with pytest.raises(InputError, match=r"too much for JSON text; save as \.npz"):
        save(pdfa, tmp_path / "many.json")
    assert load_bytes(bytes_of(pdfa, ".npz", tmp_path), ".npz", tmp_path) == pdfa
