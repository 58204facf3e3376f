"""Results that many tests begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.experiments.small import run_small


@pytest.fixture(scope="session")
def finished_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    run_small(folder)
    return folder


@pytest.fixture
def finished(finished_folder: Path, tmp_path: Path) -> Path:
    """A folder of its own with the results of a small experiment."""
    return shutil.copytree(finished_folder, tmp_path / "finished")
