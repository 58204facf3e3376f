"""HTML: the one place that makes markup of texts, and interactive pages of data and scripts."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, BinaryIO, NamedTuple, Protocol, runtime_checkable

from pdfalearn.files import write_named
from pdfalearn.text import escaped

# The page's scripts in the order in which they run; the last one shows the parts.
_SCRIPT_NAMES = """
    dom texts model notation chance choosing layers placing layout labels drawing camera motion
    diagram bars likely following searching captions saving automaton focus scale chart facts tree
    run frontier pair recorded explored start
"""
SCRIPTS = tuple(_SCRIPT_NAMES.split())
STYLES = ("page", "automaton", "chart", "panels")

_FRAME_HEIGHT = "760"
_JSON_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


class Markup(str):
    """Text that is HTML already; every other text is escaped."""

    __slots__ = ()


def escape_text(text: str) -> Markup:
    r"""Write a text in HTML so that it is seen as it is.

    Examples
    --------
    >>> escape_text("</script><b onclick='x'>\x1b")
    '&lt;/script&gt;&lt;b onclick=&#x27;x&#x27;&gt;\\x1b'
    """
    return text if isinstance(text, Markup) else Markup(escape(escaped(text)))


def element(tag: str, *children: str, **attributes: str) -> Markup:
    """Write an element of HTML.

    Parameters
    ----------
    tag : str
        Its name.
    *children : str
        What is inside: markup as it is, other texts escaped.
    **attributes : str
        Its attributes, escaped as well; ``class_`` is written as class, and ``_`` as a hyphen.

    Examples
    --------
    >>> element("p", element("b", "a < b"), " & c", class_="note")
    '<p class="note"><b>a &lt; b</b> &amp; c</p>'
    """
    given = (
        f' {name.rstrip("_").replace("_", "-")}="{escape_text(value)}"'
        for name, value in attributes.items()
    )
    end = "" if tag in ("img", "meta") else f"</{tag}>"
    return Markup(f"<{tag}{''.join(given)}>{''.join(map(escape_text, children))}{end}")


def image(svg: bytes, text: str, **attributes: str) -> Markup:
    """Put a picture into HTML as an image: nothing in it can run, whatever it holds."""
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    return element("img", alt=text, **attributes, src=source)


def document(title: str, style: str, *body: str, policy: str | None = None) -> str:
    """Write a whole page; a content security policy, if given, stands before all that it binds."""
    width = "width=device-width, initial-scale=1"
    head = [element("meta", charset="utf-8"), element("meta", name="viewport", content=width)]
    if policy is not None:
        head.append(element("meta", http_equiv="Content-Security-Policy", content=policy))
    head += [element("title", title), element("style", Markup(style))]
    page = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!doctype html>\n{page}\n"


class Part(NamedTuple):
    """What one panel of a page shows."""

    kind: str  # the panel's name in the scripts: ``panels[kind]`` shows the data
    heading: str  # shown above the panel; empty for none
    data: dict[str, Any]  # what can be written as JSON


@runtime_checkable
class HasParts(Protocol):
    """What knows the title and the parts of its own page: what is known of live models."""

    def page_parts(self) -> tuple[str, list[tuple[str, str, dict[str, Any]]]]:
        """Return them; a part is its kind, heading and data."""
        ...


@dataclass(frozen=True)
class Page:
    """A page of HTML that needs no network and runs nothing but its own script.

    In a notebook it is shown in a frame that is kept apart from the notebook.

    Examples
    --------
    >>> from pdfalearn import view
    >>> from pdfalearn.datasets import figure_1
    >>> page = view(figure_1(), title="Figure 1")
    >>> page.title, page.html[:15]
    ('Figure 1', '<!doctype html>')
    """

    title: str
    html: str = field(repr=False)

    def __repr__(self) -> str:
        return f"Page({self.title!r}, {len(self.html):,} characters; .save('view.html') writes it)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file in .html.

        Raises
        ------
        InputError
            If the name of the file has another ending.
        """
        write_named(self, path, {".html": Page.write})

    def write(self, stream: BinaryIO) -> None:
        """Write the page to a stream."""
        stream.write(self.html.encode())

    def _repr_html_(self) -> str:
        # The script listens to forms, so that they are allowed; the policy lets them send nothing.
        return element(
            "iframe",
            title=self.title,
            sandbox="allow-scripts allow-forms allow-downloads",
            width="100%",
            height=_FRAME_HEIGHT,
            frameborder="0",
            srcdoc=Markup(escape(self.html)),
        )


def make_page(title: str, parts: Iterable[Part]) -> Page:
    """Build a page of its parts, from top to bottom; all texts in them are untrusted."""
    script, style, shown = page_script(), _join_assets("css", STYLES), escaped(title)
    data = embed_json([part._asdict() for part in parts])
    html = document(
        shown,
        style,
        element("header", element("h1", shown), class_="page-head"),
        element("main"),
        element("noscript", element("p", "This page needs JavaScript to show what it holds.")),
        element("script", data, type="application/json", id="parts"),
        element("script", Markup(script)),
        # It allows one script and one style, by their hashes, and no network.
        policy=f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'",
    )
    return Page(shown, html)


def embed_json(data: object) -> Markup:
    r"""Write JSON that may stand in a script element: no character in it ends one.

    Examples
    --------
    >>> print(embed_json(["</script>", 0.5]))
    ["\u003c/script\u003e",0.5]
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_JSON_ESCAPES))


def page_script() -> str:
    """Return all scripts as one function, so that no name is global."""
    return f'(() => {{\n"use strict";\n{_join_assets("js", SCRIPTS)}}})();\n'


@cache
def _join_assets(ending: str, names: tuple[str, ...]) -> str:
    folder = files(__package__).joinpath("assets")
    texts = [folder.joinpath(f"{name}.{ending}").read_text(encoding="utf-8") for name in names]
    return "\n".join(texts)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
