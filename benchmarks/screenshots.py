"""Pictures of pages, to look at: ``python -m benchmarks.screenshots`` (or ``make screenshots``).

Writes PNG files of 1280×800 and 390×844 in light and dark to the folder screenshots/; a folder and
names of pages may be given. Needs the extra ``pages``, pocketsphinx and the program chromium.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from examples.phone_trigram import write_arpa
from pdfalearn import (
    PDFA,
    Budget,
    Corpus,
    Frontier,
    FunctionModel,
    distill,
    drift,
    explore,
    learn,
    sample,
    view,
)
from pdfalearn.datasets import figure_2, random_pdfa, reber, tomita
from pdfalearn.exploring import Exploration
from pdfalearn.io import read_arpa
from pdfalearn.viewing import Page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

SIZES = ((1280, 800), (390, 844))
SCHEMES = ("light", "dark")


def phones() -> PDFA:
    """Make the PDFA of a trigram of 40 phones."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "phones.arpa")
        write_arpa(path)
        return read_arpa(path).pdfa


def characters() -> PDFA:
    """Make a bigram of 27 characters out of this package's own documents: 28 states, dense."""
    symbols = "abcdefghijklmnopqrstuvwxyz "
    text = "\n".join(path.read_text("utf-8") for path in sorted(Path("docs").glob("*.md")))
    counts = [[0.01] * 28 for _ in range(28)]
    for line in text.lower().splitlines():
        state = 0
        for code in filter(lambda code: code >= 0, map(symbols.find, line)):
            counts[state][code + 1] += 1
            state = code + 1
        counts[state][0] += 1
    rows = [[count / sum(row) for count in row] for row in counts]
    targets = [list(range(1, 28))] * 28
    return PDFA(alphabet=symbols, transitions=targets, probabilities=rows)


def frontier() -> Frontier:
    """Distill a random automaton."""
    return distill(random_pdfa(30, 3, seed=2), budget=Budget(max_symbols=20_000))


def pair() -> Page:
    """Compare an automaton with a smaller one."""
    target = random_pdfa(12, 3, seed=2)
    return view(target, distill(target, budget=Budget(max_symbols=5_000)).at_most(6))


EVENTS = (
    *("user_session_opened", "catalogue_search_requested", "product_detail_viewed"),
    *("cart_item_added", "payment_authorisation_requested", "payment_authorised"),
    *("order_confirmation_sent", "session_timeout_reached"),
)
"""Names such as logs have them."""


def named(states: int, seed: int = 1, symbols: tuple[str, ...] = EVENTS) -> PDFA:
    """Make an automaton whose states each have a few likely events, and others of nearly 0."""
    pdfa = random_pdfa(states, len(symbols), seed=seed, exact_size=True)
    rows = np.exp(-(np.random.default_rng(seed).exponential(6, pdfa.probabilities.shape) ** 1.3))
    rows[:, 0] = np.where(np.arange(states) % 4 == 3, 0.3, 1e-22)
    rows /= rows.sum(axis=1, keepdims=True)
    return PDFA(alphabet=symbols, transitions=pdfa.transitions, probabilities=rows)


def sessions(count: int, seed: int, *, changed: bool) -> Corpus:
    """Draw sessions of an automaton of seven states, or of one that has changed a little."""
    pdfa = named(7)
    if changed:
        rows = pdfa.probabilities.copy()
        rows[2] = 0.6 * rows[2] + 0.4 * rows[2, [0, *range(8, 0, -1)]]
        pdfa = PDFA(alphabet=EVENTS, transitions=pdfa.transitions, probabilities=rows)
    words = [list(word) for word in sample(pdfa, count, seed=seed, max_length=60).words]
    if changed:
        words[::50] = [[*word, "disk_quota_exceeded"] for word in words[::50]]
    return Corpus(words)


def explored() -> Exploration:
    """Ask a coin."""
    coin = FunctionModel(lambda words: [[0.3, 0.4, 0.3]] * len(words), "ht")
    classes = {"two heads": "hh", "two tails": "tt"}
    return explore(coin, classes, match="contains", gap=0.01)


THINGS: dict[str, Callable[[], Page]] = {
    "four": lambda: view(figure_2()[0]),
    "reber": lambda: view(reber()),
    "tomita": lambda: view(tomita(5)),
    "characters": lambda: view(characters()),
    "phones": lambda: view(phones()),
    "random": lambda: view(random_pdfa(100_000, seed=1)),
    "run": lambda: view(learn(random_pdfa(40, distributions=3, seed=11), learner="quant-paper")),
    "frontier": lambda: view(frontier()),
    "pair": pair,
    "seven-names": lambda: view(named(7)),
    "forty-letters": lambda: view(named(40, symbols=tuple("abcdefgh"))),
    "forty-names": lambda: view(named(40)),
    "400-letters": lambda: view(named(400, symbols=tuple("abcdefgh"))),
    "400-names": lambda: view(named(400)),
    "pair-names": lambda: view(named(7), named(7, seed=3)),
    "corpus": lambda: view(named(7), sessions(2000, 1, changed=False)),
    "corpora": lambda: view(
        named(7), sessions(2000, 1, changed=False), sessions(2000, 2, changed=True)
    ),
    "answers": lambda: view(explored()),
    "drift": lambda: view(drift(random_pdfa(30, 3, seed=1), random_pdfa(30, 3, seed=2), "0*")),
}


def launched(playwright: Playwright) -> Browser:
    """Start the Chromium of this machine."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return playwright.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox"] if as_root else []
    )


def take(browser: Browser, page: Path, name: str, folder: Path) -> None:
    """Take the four pictures of one page."""
    for width, height in SIZES:
        for scheme in SCHEMES:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            tab = context.new_page()
            tab.goto(page.resolve().as_uri())
            tab.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=width < 500)
            context.close()


def main(folder: Path, *names: str) -> None:
    """Take pictures of every page, or of those with these names."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as pages, sync_playwright() as playwright:
        browser = launched(playwright)
        for name, make in THINGS.items():
            if names and name not in names:
                continue
            path = Path(pages, f"{name}.html")
            make().save(path)
            take(browser, path, name, folder)
            print(f"{folder}/{name}-*.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots"), *sys.argv[2:])
