"""A real browser for the tests of pages, and pages that note what goes wrong."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pdfalearn.viewing import Page
from tests.support import need_module, need_program
from tests.viewing.opened import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need_module("playwright")
    need_program("chromium")
    from playwright.sync_api import sync_playwright

    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"] if as_root else []
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def free_tabs(browser: Browser) -> dict[str, list[Tab]]:
    """Tabs that no test uses now, by their options: a new one takes longer than a page."""
    return {}


@pytest.fixture
def open_page(browser: Browser, free_tabs: dict[str, list[Tab]], tmp_path: Path) -> Iterator[Open]:
    """Open a page of a file in a tab of its own; in the end nothing may have gone wrong."""
    opened: list[tuple[list[Tab], Opened]] = []

    def open_one(
        page: Page, name: str = "page.html", *, width: int = 1280, height: int = 800, **options: Any
    ) -> Opened:
        path = tmp_path / name
        path.write_text(page.html, encoding="utf-8")
        options["viewport"] = {"width": width, "height": height}
        options.setdefault("reduced_motion", "reduce")
        free = free_tabs.setdefault(repr(options), [])
        one = Opened(free.pop() if free else browser.new_context(**options).new_page(), path)
        opened.append((free, one))
        return one

    yield open_one
    for free, one in opened:
        one.leave()
        free.append(one.page)
        assert one.troubles == []
        assert one.requests == [one.path.as_uri()]
