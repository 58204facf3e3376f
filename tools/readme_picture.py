"""Take the picture of a page that the README shows: ``python -m tools.readme_picture``.

It writes docs/page.png, and needs the extra ``pages`` and the program chromium.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.screenshots import launched
from pdfalearn import view
from pdfalearn.datasets import reber

PICTURE = Path(__file__).parents[1] / "docs" / "page.png"
_WORD = "TSXS"


def main() -> None:
    """Open the page of Reber's grammar, follow a word in it, and take the picture."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder, "reber.html")
        view(reber(), title="Reber's grammar").save(path)
        browser = launched(playwright)
        tab = browser.new_page(viewport={"width": 1100, "height": 750}, reduced_motion="reduce")
        tab.goto(path.as_uri())
        tab.get_by_placeholder("symbols side by side").fill(_WORD)
        tab.get_by_role("button", name="Follow", exact=True).click()
        tab.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
