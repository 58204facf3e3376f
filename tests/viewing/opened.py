"""Pages in a real browser, watched for errors and requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.support import need_module, need_program

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

    from pdfalearn import Page

WIDE, NARROW = (1280, 800), (390, 844)
Scheme = Literal["light", "dark"]


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Start Chromium, or skip where it is not installed."""
    need_program("chromium")
    playwright = need_module("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser,
    page: Page,
    folder: Path,
    size: tuple[int, int] = WIDE,
    scheme: Scheme = "light",
) -> Iterator[Tab]:
    """Open a page from the disk; errors and requests to anything else fail in the end."""
    path = folder / "view.html"
    page.save(path)
    tab = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    tab.set_default_timeout(5_000)
    troubles: list[str] = []
    tab.on("console", lambda message: troubles.append(f"console: {message.text}"))
    tab.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    tab.on("request", lambda request: troubles.append(request.url))
    tab.goto(path.as_uri())
    tab.wait_for_function("performance.getEntriesByName('interactive').length > 0")
    yield tab
    assert troubles == [path.as_uri()]
    tab.close()


def violations(tab: Tab) -> list[Any]:
    """Return what axe finds wrong, as rules and the elements that break them."""
    axe = need_module("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(tab).response["violations"]
    return [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found]


def scrolls_sideways(tab: Tab) -> bool:
    """Return whether a page is wider than its window."""
    wide, room = tab.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    return bool(wide > room)
