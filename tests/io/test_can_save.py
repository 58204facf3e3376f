from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.io import check_can_save
from tests.io.samples import ENDINGS
from tests.support import without_privileges


@pytest.mark.parametrize("ending", [*ENDINGS, ".dot"])
def test_what_can_be_saved_leaves_no_trace(ending: str, tmp_path: Path) -> None:
    check_can_save(tmp_path / f"new{ending}")
    assert list(tmp_path.iterdir()) == []
    old = tmp_path / f"old{ending}"
    old.write_text("old")
    before = old.stat()
    check_can_save(old)
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_text() == "old"
    assert old.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("path", ["learnt.txt", "learnt", 3, "x\0.json"])
def test_names_that_cannot_be_saved(path: Any) -> None:
    with pytest.raises(InputError):
        check_can_save(path)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing/x\.json'$"):
        check_can_save(tmp_path / "missing" / "x.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(IsADirectoryError):
        check_can_save(tmp_path / "folder.json")


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    check_can_save(tmp_path / "pipe.json")


def test_folders_and_files_without_permission() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "protected.json")
        path.write_text("old")
        path.chmod(0o444)
        Path(folder).chmod(0o777)
        with without_privileges(), pytest.raises(PermissionError, match=r"protected\.json"):
            check_can_save(path)
        Path(folder).chmod(0o555)
        with without_privileges(), pytest.raises(PermissionError, match=r"new\.json"):
            check_can_save(Path(folder, "new.json"))


def test_pictures_need_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("x.svg", "X.PNG", "x.pdf"):
        with pytest.raises(MissingExtraError, match="Graphviz"):
            check_can_save(tmp_path / name)
    check_can_save(tmp_path / "x.dot")
