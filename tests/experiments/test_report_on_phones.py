"""The report on a narrow screen, in a real browser."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pdfalearn.experiments import write_report
from tests.support import need_module, need_program

WIDTH = 390


@pytest.mark.slow
def test_the_report_does_not_scroll_sideways(finished: Path) -> None:
    need_module("matplotlib")
    playwright = need_module("playwright.sync_api")
    need_program("chromium")
    page_file = write_report(finished).page
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=as_root)
        page = browser.new_page(viewport={"width": WIDTH, "height": 844})
        page.goto(page_file.resolve().as_uri())
        widths = page.evaluate(
            "[document.documentElement.scrollWidth, document.body.scrollWidth, window.innerWidth]"
        )
        images = page.evaluate("[...document.images].map(image => image.clientWidth)")
        browser.close()
    assert max(widths) <= WIDTH
    assert images
    assert 0 < min(images) <= max(images) <= WIDTH
