"""Pages of runs, frontiers and pairs of automata in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from pdfalearn import (
    PDFA,
    Budget,
    Certificate,
    Frontier,
    Quantization,
    Result,
    distill,
    learn,
    view,
)
from pdfalearn.analysis import differences
from pdfalearn.datasets import random_pdfa
from pdfalearn.viewing import Page, automaton
from tests.io.run_samples import run_of
from tests.support import need_module
from tests.viewing.conftest import Open
from tests.viewing.opened import overlapping

pytestmark = pytest.mark.slow

TARGET = random_pdfa(12, 3, seed=2)
EVIL = "</script><img src=x onerror='window.ran=1'>\u202e<b>&amp;\"'"
"""A text that would run, were it ever taken as markup."""


@cache
def run() -> Result:
    return learn(random_pdfa(40, 2, distributions=3, seed=11), learner="quant-paper")


@cache
def frontier() -> Frontier:
    return distill(TARGET, budget=Budget(max_symbols=3000), sizes=range(1, 9))


@cache
def smaller() -> PDFA:
    return frontier().at_most(6)


PAGES: dict[str, Callable[[], Page]] = {
    "run": lambda: view(run()),
    "frontier": lambda: view(frontier()),
    "pair": lambda: view(TARGET, smaller()),
}


DESK: dict[str, Any] = {"width": 1280, "height": 800}
PHONE: dict[str, Any] = {"width": 390, "height": 844}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("run", PHONE | {"color_scheme": "dark"}),
        ("frontier", DESK | {"color_scheme": "light"}),
        ("pair", PHONE | {"color_scheme": "light"}),
    ],
)
def test_pages_are_readable_for_all(name: str, options: dict[str, Any], open_page: Open) -> None:
    need_module("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    tab = open_page(PAGES[name](), bypass_csp=True, **options).page
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    tab.wait_for_timeout(200)
    found = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
    broken = [(rule["id"], [node["html"][:150] for node in rule["nodes"]]) for rule in found]
    assert broken == []


@pytest.mark.parametrize("name", PAGES)
def test_phones_need_not_scroll_sideways(name: str, open_page: Open) -> None:
    tab = open_page(PAGES[name](), **PHONE).page
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("name", ["stopped at once", "interrupted", "wlstar", "deep"])
def test_odd_runs_are_shown(name: str, open_page: Open) -> None:
    result = run_of(name)
    tab = open_page(view(result), **PHONE).page
    assert tab.locator(".certificate .badge").inner_text() == result.certificate.kind
    assert tab.locator(".run svg.chart").count() == 3
    if result.kept_tree is None:
        assert "no classification tree" in tab.locator(".tree").inner_text()
    else:
        assert tab.locator(".tree-root > li").count() == 1
    for path in tab.locator(".chart-line").all():
        assert "NaN" not in (path.get_attribute("d") or "")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_frontier_of_one_automaton(open_page: Open) -> None:
    one = distill(TARGET, budget=Budget(max_symbols=500), sizes=[1])
    page = view(one)
    assert page.title == "Frontier of one automaton of 1 state"
    tab = open_page(page).page
    assert tab.locator(".frontier-figures h3").inner_text().startswith("1 state (best")
    tab.get_by_role("button", name="Larger automaton").click()
    tab.wait_for_selector(".frontier-automaton .about")


def test_equal_automata_and_too_many_pairs(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = open_page(view(TARGET, TARGET)).page
    assert "the same probability" in tab.locator(".pair .card").first.inner_text()
    assert tab.locator(".pair-side svg.canvas").count() == 2
    monkeypatch.setattr(automaton, "MOST_PAIRS", 3)
    tab = open_page(view(TARGET, smaller())).page
    assert "pairs of states" in tab.locator(".pair .card").first.inner_text()


def test_the_tree_opens_and_closes_by_keys_and_buttons(open_page: Open) -> None:
    tab = open_page(PAGES["run"]()).page
    root = tab.locator(".tree-root > li > details")
    assert root.evaluate("details => details.open")
    root.locator("> summary").focus()
    tab.keyboard.press("Enter")
    assert not root.evaluate("details => details.open")
    tab.get_by_role("button", name="Open all").click()
    assert tab.locator(".tree-list details:not([open])").count() == 0
    leaves = tab.locator("button.tree-leaf")
    assert leaves.count() == len(run().pdfa)
    assert tab.locator(".tree-list details").count() == run().statistics.inner_nodes
    tab.get_by_role("button", name="Close all").click()
    assert tab.locator(".tree-list details[open]").count() == 0


def test_a_leaf_leads_to_its_state(open_page: Open) -> None:
    tab = open_page(PAGES["run"]()).page
    leaf = tab.locator("button.tree-leaf:visible").nth(3)
    name = leaf.locator("b").inner_text()
    leaf.focus()
    tab.keyboard.press("Enter")
    assert f"neighbourhood of {name}:" in tab.locator(".automaton .caption").inner_text()


def test_the_run_is_a_chart_and_a_table(open_page: Open) -> None:
    statistics = run().statistics
    tab = open_page(PAGES["run"]()).page
    charts = tab.locator(".run svg.chart")
    names = [chart.locator("title").text_content() for chart in charts.all()]
    assert names == [
        f"states over equivalence queries: {statistics.states} in the end",
        f"words asked over equivalence queries: {statistics.words} in the end",
        f"counterexamples over equivalence queries: {sum(statistics.counterexamples)} in the end",
    ]
    tab.get_by_label("Over", exact=True).select_option("words")
    assert "states over words asked" in (charts.first.locator("title").text_content() or "")
    tab.get_by_text("The run as a table").click()
    rows = tab.locator(".run tbody tr")
    assert rows.count() == len(run().history) + 1
    last = rows.last.locator("td").all_inner_texts()
    assert last[:3] == [
        str(statistics.equivalence_queries),
        str(statistics.states),
        str(statistics.words),
    ]


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize("name", ["run", "frontier"])
def test_ticks_do_not_overlap(name: str, size: dict[str, Any], open_page: Open) -> None:
    opened = open_page(PAGES[name](), **size)
    for chart in opened.page.locator("svg.chart").all():
        boxes = chart.locator(".chart-text").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect().toJSON())"
        )
        assert len(boxes) >= 4
        assert overlapping(boxes, boxes) == 0


def test_the_slider_goes_through_the_automata(open_page: Open) -> None:
    points = frontier().points
    best = [len(point.pdfa) for point in points].index(len(frontier().best))
    tab = open_page(PAGES["frontier"]()).page
    heading = tab.locator(".frontier-figures h3")
    assert heading.inner_text().startswith(f"{len(frontier().best)} states (best")
    slider = tab.get_by_label("Automaton by size")
    slider.focus()
    for place in range(best - 1, -1, -1):
        tab.keyboard.press("ArrowLeft")
        states = points[place].states
        assert heading.inner_text().startswith("1 state" if states == 1 else f"{states} states")
    about = tab.locator(".frontier-automaton .about")
    about.filter(has_text="1 state,").wait_for()
    assert about.count() == 1
    tab.get_by_role("button", name="Larger automaton").click()
    assert heading.inner_text().startswith(f"{points[1].states} states")
    tab.get_by_text("All automata as a table").click()
    assert tab.locator(".frontier .figures tbody tr").count() == len(points)


def test_a_click_on_the_curve_chooses_the_nearest_point(open_page: Open) -> None:
    tab = open_page(PAGES["frontier"]()).page
    box = tab.locator("svg.chart").bounding_box()
    assert box is not None
    tab.mouse.click(box["x"] + 70, box["y"] + 100)
    heading = tab.locator(".frontier-figures h3").inner_text()
    assert heading.startswith("1 state")
    assert "divergence" in tab.locator(".chart-readout").inner_text()


def test_a_word_is_followed_in_both_automata(open_page: Open) -> None:
    parted = differences(TARGET, smaller(), 1)
    word, after = parted.words[0], parted.prefixes[0]
    tab = open_page(PAGES["pair"]()).page
    fields = tab.get_by_label("Word to follow")
    shown = "".join(map(str, after.prefix))
    assert [field.input_value() for field in fields.all()] == [shown, shown]
    chosen = "".join(map(str, word.word))
    tab.locator(".pair-word", has_text=chosen).first.click()
    assert [field.input_value() for field in fields.all()] == [chosen, chosen]
    tab.locator(".pair-steps button").nth(1).focus()
    tab.keyboard.press("Enter")
    assert [field.input_value() for field in fields.all()] == [chosen[0], chosen[0]]
    bars = tab.locator(".pair-bars tbody tr")
    symbol = bars.first.locator("th").inner_text().strip("\u2068\u2069")
    values = [float(text) for text in bars.first.locator("span").all_inner_texts()]
    column = (TARGET.terminal, *TARGET.alphabet).index(symbol)
    expected = [
        automaton.next_distributions([word.word[:1]])[0][column]
        for automaton in (TARGET, smaller())
    ]
    assert values == pytest.approx(expected, rel=0.01)


def test_texts_are_never_run(open_page: Open) -> None:
    evil = PDFA(
        alphabet=[EVIL, "javascript:window.ran=1"],
        terminal="<script>window.ran=1</script>",
        transitions=[[0, 1], [1, 0]],
        probabilities=[[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]],
    )
    other = replace_rows(evil)
    certificate = Certificate("tested", EVIL)
    result = replace(
        learn(evil, equivalence=Quantization(10)), notes=(EVIL,), certificate=certificate
    )
    points = distill(evil, budget=Budget(max_symbols=300), sizes=[1, 2])
    for page in (
        view(result, title=EVIL),
        view(replace(points, certificate=certificate, notes=(EVIL,)), title=EVIL),
        view(evil, other, title=EVIL),
    ):
        tab = open_page(page).page
        tab.wait_for_timeout(200)
        assert tab.evaluate("window.ran") is None
        assert tab.locator("img").count() == 0
        assert "</script>" in tab.locator("h1").inner_text()
        if "certificate" in tab.locator("main").inner_html():
            assert EVIL[:20] in tab.locator(".certificate").first.inner_text()


def replace_rows(pdfa: PDFA) -> PDFA:
    """The same automaton with other probabilities."""
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=pdfa.transitions,
        probabilities=[[0.4, 0.3, 0.3], [0.3, 0.3, 0.4]],
    )
