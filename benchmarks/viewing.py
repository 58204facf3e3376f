"""How long pages take to be made and to be usable, and how large they are.

Run with ``python -m benchmarks.viewing``. Needs the extra ``pages``, pocketsphinx and chromium.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.screenshots import launched, phones
from pdfalearn import PDFA, view
from pdfalearn.datasets import random_pdfa, reber

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TITLES = ("automaton", "states", "symbols", "page made, s", "megabytes", "usable after, ms")
RUNS = 5


def automata() -> dict[str, PDFA]:
    """Make automata of several sizes."""
    return {
        "Reber's grammar": reber(),
        "random": random_pdfa(1000, symbols=40, seed=1),
        "phone trigram": phones(),
        "random, large": random_pdfa(100_000, seed=1),
        "random, very large": random_pdfa(1_000_000, seed=1),
    }


def usable_after(browser: Browser, path: Path) -> float:
    """Return the milliseconds from opening a page to where it can be used."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(path.resolve().as_uri())
    tab.wait_for_selector("html[data-interactive]", state="attached")
    milliseconds = float(tab.evaluate("document.documentElement.dataset.interactive"))
    tab.close()
    return milliseconds


def measured(browser: Browser, pdfa: PDFA, path: Path) -> list[str]:
    """Make a page and open it several times; return the figures of a row."""
    start = perf_counter()
    view(pdfa).save(path)
    seconds = perf_counter() - start
    times = [usable_after(browser, path) for _ in range(RUNS)]
    size = path.stat().st_size / 1e6
    return [f"{seconds:.2f}", f"{size:.2f}", f"{median(times):.0f}"]


def main() -> None:
    """Print the table."""
    from playwright.sync_api import sync_playwright

    print(f"| {' | '.join(TITLES)} |", f"|{' --- |' * len(TITLES)}", sep="\n")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launched(playwright)
        for name, pdfa in automata().items():
            figures = measured(browser, pdfa, Path(folder, "page.html"))
            cells = [name, f"{len(pdfa):,}", str(len(pdfa.alphabet)), *figures]
            print(f"| {' | '.join(cells)} |")
        browser.close()


if __name__ == "__main__":
    main()
