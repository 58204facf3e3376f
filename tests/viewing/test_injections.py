"""Symbols, titles, notes and names are untrusted texts: pictures and notebooks never run them."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from pdfalearn import PDFA, Budget, Certificate, FunctionModel, distill, draw, learn
from pdfalearn.metrics import evaluate_exactly
from pdfalearn.results import Bounds, Simplified, TreeNode
from tests.support import need_program
from tests.viewing.picture_samples import EVIL, texts_of

SVG_TAGS = {"svg", "g", "title", "polygon", "ellipse", "path", "text", "polyline"}
HTML_TAGS = {"div", "p", "pre", "img"}
ATTRIBUTES = {"alt", "scope", "style", "src"}


class Parts(HTMLParser):
    """Collects what a browser would make of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.images: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.images += [value or "" for name, value in attrs if name == "src"]

    def handle_data(self, data: str) -> None:
        self.text += data


def check_svg(svg: str) -> None:
    """Parse a picture as XML does: nothing in it runs or leads elsewhere."""
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", svg).encode())  # noqa: S314
    for element in root.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in SVG_TAGS
        for name in element.attrib:
            assert not name.lower().startswith("on")
            assert "href" not in name


def check_html(html: str) -> Parts:
    parts = Parts(html)
    assert parts.tags <= HTML_TAGS
    assert parts.attributes <= ATTRIBUTES
    for image in parts.images:
        check_svg(base64.b64decode(image.removeprefix("data:image/svg+xml;base64,")).decode())
    return parts


def automaton(*symbols: object, terminal: object = "$") -> PDFA:
    width = len(symbols)
    return PDFA(
        alphabet=symbols,
        transitions=[[1] * width, [0] * width],
        probabilities=[[0.5, *[0.5 / width] * width]] * 2,
        terminal=terminal,
    )


@pytest.mark.parametrize("evil", EVIL)
def test_pictures(evil: str) -> None:
    need_program("dot")
    svg = draw(automaton(evil, terminal=f"{evil}$"), title=f"Title {evil}\n{evil}", word=[evil]).svg
    check_svg(svg)
    shown = evil if evil.isprintable() else evil.encode("unicode_escape").decode()
    assert shown in texts_of(svg)
    bundle = automaton(evil)._repr_mimebundle_()
    check_svg(bundle["image/svg+xml"])


@pytest.mark.parametrize("evil", EVIL)
def test_trees(evil: str) -> None:
    need_program("dot")
    leaf = TreeNode(access_word=(evil,), distribution=(0.5, 0.5))
    tree = TreeNode(suffix=(evil,), children={(5, 5): leaf})
    check_svg(tree._repr_mimebundle_()["image/svg+xml"])


@pytest.mark.parametrize("evil", EVIL)
def test_reasons(evil: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    leaf = TreeNode(access_word=(evil,), distribution=(0.5, 0.5))
    for thing in (automaton(evil), leaf):
        text = check_html(thing._repr_mimebundle_()["text/html"]).text
        assert "apt-get install graphviz" in text


@pytest.fixture(scope="module")
def things() -> list[Any]:
    """Something of each kind that a notebook shows, of an evil alphabet."""
    pdfa = automaton(*EVIL[:3])
    result = learn(pdfa)
    model = FunctionModel(pdfa.next_distributions, pdfa.alphabet, fingerprint=EVIL[0])
    frontier = distill(model, budget=Budget(max_symbols=300), seed=1)
    return [
        result,
        result.certificate,
        frontier,
        evaluate_exactly(pdfa, pdfa),
        Simplified(2, pdfa, 0.5),
        Bounds(0.0, 1.0, EVIL[0], 1.0, (0, 1)),
    ]


@pytest.mark.slow
def test_every_kind(things: list[Any]) -> None:
    for thing in things:
        assert len(check_html(thing._repr_html_()).text) > 10


@pytest.mark.slow
@pytest.mark.parametrize("evil", EVIL)
def test_every_text_of_a_result_and_a_frontier(evil: str, things: list[Any]) -> None:
    certificate = Certificate(evil, evil, {evil: evil, "list": [evil], "object": {evil: evil}})  # type: ignore[arg-type]
    shown = evil if evil.isprintable() else evil.encode("unicode_escape").decode()
    result, _, frontier, *_ = things
    for thing in (
        certificate,
        replace(result, certificate=certificate, notes=(evil,)),
        replace(frontier, certificate=certificate, notes=(evil,)),
        Bounds(0.0, 1.0, evil, 1.0, ()),
    ):
        assert shown.replace("\\", "") in check_html(thing._repr_html_()).text.replace("\\", "")
