"""The benchmark of pages and the screenshots run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pdfalearn import view
from pdfalearn.datasets import reber

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.slow
def test_pages_are_measured(browser: Browser, tmp_path: Path) -> None:
    from benchmarks.viewing import measured

    made, megabytes, usable = map(float, measured(browser, reber(), tmp_path / "page.html"))
    assert made >= 0
    assert 0 < megabytes < 1
    assert usable > 0


@pytest.mark.slow
def test_four_pictures_are_taken(browser: Browser, tmp_path: Path) -> None:
    from benchmarks.screenshots import take

    view(reber()).save(tmp_path / "page.html")
    take(browser, tmp_path / "page.html", "reber", tmp_path)
    pictures = sorted(path.name for path in tmp_path.glob("*.png"))
    assert pictures == [
        "reber-1280-dark.png",
        "reber-1280-light.png",
        "reber-390-dark.png",
        "reber-390-light.png",
    ]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in tmp_path.glob("*.png"))
