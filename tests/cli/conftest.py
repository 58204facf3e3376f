"""Folders that many tests of the command line begin with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pdfalearn import save
from pdfalearn.datasets import random_pdfa
from tests.cli.black_boxes import MODULE


@pytest.fixture(autouse=True)
def _own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the folders in which a test has found Python files."""
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def black_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with models of every kind."""
    monkeypatch.chdir(tmp_path)
    save(random_pdfa(30, seed=1), tmp_path / "target.json")
    (tmp_path / "asked_model.py").write_text(MODULE)
    return tmp_path
