from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from pdfalearn import InputError, save
from pdfalearn.formats import json_file
from tests.formats.samples import SMALL, bytes_of, complaint_about, load_bytes


def test_a_bomb_is_not_inflated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_file, "TEXT_LIMIT", 2**21)
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
    monkeypatch.setattr(json_file, "TEXT_LIMIT", size)
    assert load_bytes(bytes_of(SMALL, ending, tmp_path), ending, tmp_path) == SMALL
    monkeypatch.setattr(json_file, "TEXT_LIMIT", size - 1)
    assert "MiB of JSON text" in complaint_about(data, ending, tmp_path)
    with pytest.raises(InputError, match=r"^2 states .* MiB of JSON text; save as \.npz$"):
        save(SMALL, tmp_path / f"large{ending}")


def test_lists_are_counted_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b'{"transitions":[' + b"[]," * 200_000 + b"[]]}"
    monkeypatch.setattr(json_file, "LISTS_LIMIT", 100_000)
    tracemalloc.start()
    complaint = complaint_about(data, ".json", tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()
    assert "more than 100,000 lists" in complaint
    monkeypatch.setattr(json_file, "LISTS_LIMIT", 2 * len(SMALL) + 3)
    assert load_bytes(bytes_of(SMALL, ".json", tmp_path), ".json", tmp_path) == SMALL
    monkeypatch.setattr(json_file, "LISTS_LIMIT", 2 * len(SMALL) + 2)
    with pytest.raises(InputError, match="save as"):
        save(SMALL, tmp_path / "many.json")
