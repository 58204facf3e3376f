"""The documentation site as a reader has it: from disk, in a browser, without a network."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import need_module, need_program
from tools import gallery, site_hooks

pytestmark = pytest.mark.slow

PAGES = (
    "index",
    "tutorial/llm",
    "how-to/choose-kappa",
    "how-to/pictures",
    "reference/learning",
    "gallery/index",
    "gallery/reber",
    "gallery/llms",
)
EXHIBITS = list((gallery.ROOT / "docs" / gallery.FOLDER).glob("*.md"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    need_program("chromium")
    need_module("playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        yield browser
        browser.close()


class Visit:
    """A page in a browser, with all that it asks for and all that goes wrong in it."""

    def __init__(self, browser: Any, width: int = 1280, scheme: str = "light") -> None:
        size = {"width": width, "height": 800}
        self.page = browser.new_page(viewport=size, color_scheme=scheme)
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("requestfailed", lambda request: self.errors.append(request.url))

    def open(self, path: Path) -> None:
        self.page.goto(path.as_uri())
        self.page.wait_for_load_state("networkidle")

    def check(self) -> None:
        strangers = [url for url in self.requests if not url.startswith(("file://", "data:"))]
        assert strangers == []
        assert self.errors == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_no_host_and_fits_its_window(
    site: Path, browser: Any, name: str, width: int
) -> None:
    visit = Visit(browser, width)
    visit.open(site / f"{name}.html")
    assert visit.requests
    visit.check()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_search_from_disk_finds_the_how_to_first(site: Path, browser: Any) -> None:
    visit = Visit(browser)
    visit.open(site / "index.html")
    visit.page.click("input.md-search__input")
    visit.page.keyboard.type("kappa")
    first = visit.page.locator(".md-search-result__item").first
    first.wait_for(timeout=30_000)
    visit.page.wait_for_timeout(500)  # for the results of the whole word
    assert "Choose κ (kappa) or distill" in first.inner_text()
    first.locator("a").first.click()
    visit.page.wait_for_url(re.compile(r"how-to/choose-kappa\.html"))
    visit.check()


def test_a_page_of_the_gallery_works_in_its_frame(site: Path, browser: Any) -> None:
    visit = Visit(browser)
    visit.open(site / "gallery" / "reber.html")
    visit.page.locator("iframe.page").scroll_into_view_if_needed()
    frame = visit.page.frame_locator("iframe.page")
    frame.get_by_placeholder("symbols side by side").fill("TSXS")
    frame.get_by_role("button", name="Follow", exact=True).click()
    frame.get_by_text("After 4 symbols: state 5").wait_for(timeout=30_000)
    visit.check()


@pytest.mark.parametrize("name", sorted(path.stem for path in EXHIBITS))
def test_what_the_gallery_made_is_in_the_site(site: Path, browser: Any, name: str) -> None:
    visit = Visit(browser, scheme="dark")
    visit.open(site / "gallery" / f"{name}.html")
    frames = visit.page.locator("iframe.page")
    for place in range(frames.count()):
        frames.nth(place).scroll_into_view_if_needed()
    visit.page.wait_for_load_state("networkidle")
    broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    assert visit.page.evaluate(broken) == []
    shown = [frame.url for frame in visit.page.frames if frame.url.endswith("-page.html")]
    assert len(shown) == frames.count()
    visit.check()


def test_copying_a_console_block_leaves_prompts_and_output_out(site: Path, browser: Any) -> None:
    visit = Visit(browser)
    visit.page.add_init_script(
        "document.execCommand = () => { window.copied = document.activeElement.value; return true }"
    )
    visit.open(site / "tutorial" / "look-and-ask.html")
    block = visit.page.locator(".highlight:has(.gp)").first
    block.hover()
    block.locator("button.md-code__button").click()
    lines = visit.page.evaluate("window.copied").split("\n")
    assert len(lines) >= 3
    assert all(line.startswith("pdfalearn ask ") for line in lines if line)


def test_colours_can_be_switched(site: Path, browser: Any) -> None:
    visit = Visit(browser, scheme="dark")
    visit.open(site / "index.html")
    scheme = "document.body.getAttribute('data-md-color-scheme')"
    assert visit.page.evaluate(scheme) == "slate"
    visit.page.locator("label[title='Switch to light colours']:visible").click()
    assert visit.page.evaluate(scheme) == "default"
    visit.check()


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    pages = "".join(path.read_text("utf-8") for path in (site / "reference").glob("*.html"))
    missing = [name for _, name in site_hooks.public_names() if f'id="{name}"' not in pages]
    assert missing == []


def test_every_command_and_option_is_in_the_reference(site: Path) -> None:
    page = (site / "reference" / "command-line.html").read_text("utf-8")
    for command in ("pdfalearn", "pdfalearn learn", "pdfalearn store verify", "--tolerance"):
        assert command in page


def test_no_page_names_a_host_that_it_would_fetch_from(site: Path) -> None:
    fetched = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["']?https?://""")
    for path in site.rglob("*.html"):
        assert not fetched.search(path.read_text("utf-8")), path.name
