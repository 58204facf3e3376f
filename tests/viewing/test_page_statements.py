"""What a page says of an automaton is true, at the edges too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pdfalearn import PDFA, view
from pdfalearn.datasets import reber
from tests.viewing.conftest import Open

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.slow
def test_what_is_rare_is_not_called_impossible(open_page: Open) -> None:
    states = np.arange(60)
    pdfa = PDFA(
        alphabet="az",
        transitions=np.stack([np.minimum(states + 1, 58), np.full(60, -1)], axis=1),
        probabilities=np.tile([0.5, 0.5, 0.0], (60, 1)),
    )
    opened = open_page(view(pdfa))
    assert opened.text(".about") == (
        "60 states, 2 symbols. A word visits 2 states on average. 1 state is never visited. "
        "28 states are visited by less than one word in a billion."
    )
    opened.follow("az")
    message = opened.text(".side-column .message")
    assert message == "z is not a symbol of the alphabet that some state of this page can read."
    assert opened.search("z").endswith("nor a word over the symbols of this page.")


@pytest.mark.slow
def test_what_is_nearly_one_is_not_shown_as_one(open_page: Open) -> None:
    rows = [[0.0002, 0.9997, 0.0001], [1.0, 0.0, 0.0]]
    opened = open_page(
        view(PDFA(alphabet="ab", transitions=[[0, 1], [1, 1]], probabilities=rows)), height=500
    )
    assert opened.page.locator(".state-card .value").all_inner_texts() == [
        "2.00e-4",
        "0.9997",
        "1.00e-4",
    ]
    assert "a 0.9997" in opened.page.locator(".edge title").all_text_contents()[-1]
    visits = opened.text(".state-card p")
    assert visits == (
        "Expected visits by the first 1,000 symbols: 865, 99.99% of all. "
        "Access word: (the empty word)"
    )


@pytest.mark.slow
def test_symbols_that_the_page_leaves_out_are_told(open_page: Open) -> None:
    size = 300
    names = [f"w{i}" for i in range(size)]
    row = np.array([0.1, *np.linspace(0.9, 0.1, size)])
    pdfa = PDFA(alphabet=names, transitions=[[0] * size], probabilities=[row / row.sum()])
    opened = open_page(view(pdfa))
    assert opened.text(".sliders div:nth-child(2) label").replace("\n", " ") == (
        "1 of 1 arrow from 1e-6 on: 100% of the flow on this page"
    )
    assert opened.text(".caption") == (
        "44 transitions of the least likely symbols are not on this page."
    )
    assert opened.follow("w0").startswith("After 1 symbol")
    opened.follow("w299")
    message = opened.text(".side-column .message")
    assert message == "w299 is not a symbol of the alphabet that some state of this page can read."


@pytest.mark.slow
def test_odd_symbols_are_found_as_they_are_and_as_they_are_written(open_page: Open) -> None:
    symbols = ["two words", "\N{FAMILY}\u200d\N{BOY}", "'", "up", ""]
    pdfa = PDFA(alphabet=symbols, transitions=[[0] * 5], probabilities=[[0.5] + [0.1] * 5])
    opened = open_page(view(pdfa))
    for text in ("two words", "'two words'", symbols[1], "'", "up", "''"):
        assert " is on 1 drawn arrow of 1; 1 state of this page" in opened.search(text), text
    assert opened.follow("up 'two words' '' up").startswith("After 4 symbols")


@pytest.mark.slow
def test_quotes_that_are_symbols_are_no_quotes(open_page: Open) -> None:
    pdfa = PDFA(alphabet="' a", transitions=[[0] * 3], probabilities=[[0.1, 0.3, 0.3, 0.3]])
    assert open_page(view(pdfa)).follow("' '").startswith("After 3 symbols")


@pytest.mark.slow
def test_a_word_that_leaves_the_picture_is_told_and_shown(open_page: Open) -> None:
    states = np.arange(100)
    pdfa = PDFA(
        alphabet="a",
        transitions=np.minimum(states + 1, 99)[:, None],
        probabilities=np.tile([0.1, 0.9], (100, 1)),
    )
    opened = open_page(view(pdfa))
    opened.follow("a")
    assert opened.page.locator(".elsewhere").is_hidden()
    core = opened.page.locator(".node").count()
    opened.follow("a" * 60)  # is drawn in any case
    assert opened.page.locator(".elsewhere").is_hidden()
    assert opened.page.locator(".node.here text").text_content() == "60"
    assert opened.page.locator(".edge.followed").count() == 60
    assert "of the word are added" in opened.text(".caption")
    opened.search("state 0")  # a neighbourhood is what it is
    told = opened.text(".elsewhere")
    assert told.startswith("The word is in state 60, which is not drawn here.")
    opened.page.get_by_role("button", name="Show state 60").click()
    assert opened.page.locator(".node.here text").text_content() == "60"
    assert opened.page.locator(".elsewhere").is_hidden()
    opened.page.get_by_role("button", name="Back to the core").click()
    opened.follow("a")
    assert opened.page.locator(".node").count() >= core


@pytest.mark.slow
def test_a_notebook_frame_says_what_is_drawn_and_can_be_used(
    browser: Browser, tmp_path: Path
) -> None:
    frame = view(reber())._repr_html_()
    (tmp_path / "cell.html").write_text(f"<!doctype html><body>{frame}", encoding="utf-8")
    context = browser.new_context(viewport={"width": 1000, "height": 800})
    page = context.new_page()
    page.goto((tmp_path / "cell.html").as_uri())
    inside = page.frame_locator("iframe")
    expected = inside.locator(".caption", has_text="Everything is drawn.")
    expected.wait_for()
    inside.get_by_label("Search for").fill("TXX")
    inside.get_by_role("button", name="Search").click()
    assert inside.locator(".node.here text").text_content() == str(reber().state_after("TXX"))
    context.close()


@pytest.mark.slow
def test_bars_can_be_seen_in_forced_colours(open_page: Open) -> None:
    opened = open_page(view(reber()), forced_colors="active")
    adjust = "bar => getComputedStyle(bar).forcedColorAdjust"
    assert opened.page.locator(".bar").first.evaluate(adjust) == "none"


@pytest.mark.slow
def test_a_neighbourhood_tells_what_is_left_out(open_page: Open) -> None:
    leaves = 40
    table = np.zeros((leaves + 1, leaves), dtype=int)
    table[0] = np.arange(1, leaves + 1)
    rows = np.zeros((leaves + 1, leaves + 1))
    rows[0, 1:] = 1 / leaves
    rows[1:, 0] = 1
    star = PDFA(alphabet=[f"s{i}" for i in range(leaves)], transitions=table, probabilities=rows)
    opened = open_page(view(star))
    opened.search("state 0")
    assert opened.text(".caption").startswith(
        "The neighbourhood of state 0: 15 of 40 states next to it"
    )
