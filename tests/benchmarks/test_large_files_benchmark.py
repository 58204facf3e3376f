from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.corpora import large_files
from pdfalearn import Corpus


@pytest.mark.parametrize("name", large_files.FORMATS)
def test_every_format_is_measured(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_files, "_DRAWN", 20)
    form = large_files.FORMATS[name]
    path = tmp_path / f"words{form.ending}"
    large_files._write_file(path, form, 2000, seed=1)
    alphabet = large_files._make_pdfa(form).alphabet
    written = sum(len(batch.symbols) for batch in Corpus(path).batches(alphabet))
    assert written == pytest.approx(2000, rel=0.3)
    for verb in ("score", "refit"):
        seconds, _, peak = large_files.measure(name, verb, [path], 1)
        assert seconds > 0
        assert peak > 0
