from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from pdfalearn import load, save
from pdfalearn.errors import InputError
from tests.io.samples import ENDINGS, SMALL


@pytest.mark.parametrize(
    "ending", [".dot", ".pm", ".drn", ".att", ".svg", ".png", ".pdf", ".txt", ".gz", "", "json"]
)
def test_what_cannot_be_loaded_names_what_can(ending: str) -> None:
    expected = f"x{ending}: cannot load a file of this ending; those that work: "
    with pytest.raises(InputError, match=f"^{re.escape(expected)}") as caught:
        load(f"x{ending}")
    assert ".json, .json.gz, .npz, .arpa, .arpa.gz, .pautomac, " in str(caught.value)
    page = (Path(__file__).parents[2] / "docs/reference/formats.md").read_text(encoding="utf-8")
    known = str(caught.value).removeprefix(expected).split(";")[0].split(", ")
    assert [ending for ending in known if f"`{ending}`" not in page] == []


@pytest.mark.parametrize("ending", [".txt", ".gz", ""])
def test_what_cannot_be_saved_names_what_can(ending: str, tmp_path: Path) -> None:
    endings = ".json, .json.gz, .npz, .mc.dot, .dot, .pm, .drn, .att, .syms, .pautomac, "
    with pytest.raises(InputError, match=re.escape(f": {endings}")):
        save(SMALL, tmp_path / f"x{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_paths_of_all_kinds(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"Grüße 😀.{ending.upper()}"
    save(SMALL, str(path))
    assert load(path) == SMALL
    save(SMALL, path)
    assert load(os.fspath(path)) == SMALL


@pytest.mark.parametrize("path", [b"x.json", 3, None, SMALL, "x\0.json", "\ud800.json"])
def test_what_is_no_path(path: Any) -> None:
    with pytest.raises(InputError, match=r" is not a path; give a string or a pathlib\.Path$"):
        load(path)
    with pytest.raises(InputError, match=r" is not a path; give a string or a pathlib\.Path$"):
        save(SMALL, path)


def test_errors_of_the_system_pass(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.json"):
        load(tmp_path / "missing.json")
    with pytest.raises(FileNotFoundError, match=r"missing/x\.json'$"):
        save(SMALL, tmp_path / "missing" / "x.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(IsADirectoryError):
        load(tmp_path / "folder.json")
    with pytest.raises(IsADirectoryError):
        save(SMALL, tmp_path / "folder.json")


@pytest.mark.parametrize("name", ["two\nlines.json", "\udc80.json"])
def test_an_error_is_one_line_whatever_the_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("{")
    with pytest.raises(InputError) as caught:
        load(tmp_path / name)
    assert str(caught.value).isprintable()
