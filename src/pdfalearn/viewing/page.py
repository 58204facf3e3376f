"""One self-contained page of HTML: data, the page's own script and style, and nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, BinaryIO, NamedTuple

from pdfalearn.files import write_named
from pdfalearn.text import escaped

SCRIPTS = (
    "dom",
    "texts",
    "model",
    "notation",
    "chance",
    "choosing",
    "layers",
    "placing",
    "layout",
    "labels",
    "drawing",
    "camera",
    "diagram",
    "bars",
    "likely",
    "following",
    "searching",
    "captions",
    "automaton",
    "focus",
    "scale",
    "chart",
    "facts",
    "tree",
    "run",
    "frontier",
    "pair",
    "start",
)
"""The page's scripts in the order in which they run; the last one shows the parts."""

STYLES = ("page", "automaton", "chart", "panels")

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header class="page-head"><h1>{title}</h1></header>
<main></main>
<noscript><p>This page needs JavaScript to show what it holds.</p></noscript>
<script type="application/json" id="parts">{parts}</script>
<script>{script}</script>
</body>
</html>
"""

_FRAME = (
    '<iframe title="{title}" sandbox="allow-scripts allow-forms" width="100%" height="{height}" '
    'frameborder="0" srcdoc="{html}"></iframe>'
)
"""The script listens to forms, so that they are allowed; the policy lets them send nothing."""
_FRAME_HEIGHT = 760
_JSON_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


class Part(NamedTuple):
    """What one panel of a page shows."""

    kind: str
    """The panel's name in the scripts: ``panels[kind]`` shows the data."""
    heading: str
    """Shown above the panel; empty for none."""
    data: dict[str, Any]
    """What can be written as JSON."""


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
        return _FRAME.format(title=escape(self.title), height=_FRAME_HEIGHT, html=escape(self.html))


def page_of(title: str, parts: Iterable[Part]) -> Page:
    """Build a page out of its parts.

    Parameters
    ----------
    title : str
        The title; untrusted text, as all texts in the parts are.
    parts : iterable of Part
        What to show, from top to bottom.
    """
    script, style = _assets("js", SCRIPTS), _assets("css", STYLES)
    shown = escaped(title)
    html = _PAGE.format(
        policy=_policy(script, style),
        title=escape(shown),
        style=style,
        parts=embedded_json([part._asdict() for part in parts]),
        script=script,
    )
    return Page(shown, html)


def embedded_json(data: object) -> str:
    r"""Write JSON that may stand in a script element: no character in it ends one.

    Examples
    --------
    >>> print(embedded_json(["</script>", 0.5]))
    ["\u003c/script\u003e",0.5]
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.translate(_JSON_ESCAPES)


@cache
def _assets(ending: str, names: Sequence[str]) -> str:
    """Join the page's own files; scripts share one function, so that no name is global."""
    folder = files(__package__).joinpath("assets")
    texts = [folder.joinpath(f"{name}.{ending}").read_text(encoding="utf-8") for name in names]
    joined = "\n".join(texts)
    return f"(() => {{\n{joined}}})();\n" if ending == "js" else joined


def _policy(script: str, style: str) -> str:
    """Return the content security policy that allows one script and one style, by their hashes."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
