"""Pages of explorations and of drift: what they hold, and how a browser shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pdfalearn import FunctionModel, drift, explore, save, view
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.exploring import Exploration
from pdfalearn.languages import BeginsWith, Contains
from pdfalearn.viewing import Page
from tests.support import need_module
from tests.viewing.conftest import Open

PHONE: dict[str, Any] = {"width": 390, "height": 844}
EVIL = "</script><img src=x onerror='window.ran=1'>"


@cache
def explored() -> Exploration:
    model = FunctionModel(lambda words: [[0.3, 0.4, 0.2, 0.1]] * len(words), ["h", "t", EVIL])
    classes = {"two heads": BeginsWith(["h", "h"]), EVIL: Contains([EVIL])}
    return explore(model, classes, gap=0.01)


@cache
def prompted() -> Page:
    pdfa = random_pdfa(20, 2, seed=1)
    prompts = {f"prompt {n}, with a long name to be shown": "01" * n for n in range(5)}
    return view(explore(pdfa, {"a": BeginsWith("0"), "b": BeginsWith("1")}, prompts=prompts))


PAGES: dict[str, Callable[[], Page]] = {
    "one": lambda: view(explored()),
    "prompts": prompted,
    "drift": lambda: view(
        drift(random_pdfa(9, 2, seed=1), random_pdfa(9, 2, seed=2), BeginsWith("0"))
    ),
}


def data_of(kind: str, found: Exploration) -> dict[str, Any]:
    _, parts = found.page_parts()
    (data,) = [data for name, _, data in parts if name == kind]
    json.dumps(data, allow_nan=False)
    return data


def test_bars_are_the_bounds() -> None:
    found = explored()
    rows = {name: (low, high) for name, low, high, _ in data_of("bounds", found)["rows"]}
    for name in found.names:
        assert rows[name] == (found[name].low, found[name].high)
    assert rows["any of these"] == (found.low, found.high)
    low, high = rows["none of these"]
    assert low <= 1 - found.low
    assert high >= 1 - found.high
    steps = data_of("closing", found)["steps"]
    assert steps[-1]["calls"] == found.calls


def test_the_tree_shares_its_mass_out() -> None:
    """No beginning has more than the one before it, and its parts are all of it."""
    nodes = data_of("answers", explored())["nodes"]
    assert nodes[0]["mass"] == 1
    below = [0.0] * len(nodes)
    for place, node in enumerate(nodes):
        assert node["match"] + node["fail"] + node["open"] == pytest.approx(1, abs=1e-9)
        if place:
            assert node["parent"] < place
            below[node["parent"]] += node["mass"]
    assert all(mass <= node["mass"] + 1e-9 for mass, node in zip(below, nodes, strict=True))
    root = nodes[0]
    assert explored().low - 1e-9 <= root["match"] <= explored().high + 1e-9


def test_pages_are_saved_and_nothing_else(tmp_path: Path) -> None:
    save(explored(), tmp_path / "page.html")
    assert "<!doctype html>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="html"):
        save(explored(), tmp_path / "page.json")


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_readable_for_all(name: str, open_page: Open) -> None:
    need_module("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    tab = open_page(PAGES[name](), bypass_csp=True, **PHONE).page
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.wait_for_timeout(200)
    found = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
    broken = [(rule["id"], [node["html"][:150] for node in rule["nodes"]]) for rule in found]
    assert broken == []
    assert tab.evaluate("window.ran") is None
