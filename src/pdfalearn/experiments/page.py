"""The report as one page of HTML that needs nothing else."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from pdfalearn.experiments.definitions import EXPERIMENTS

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(title: str, parts: Iterable[str]) -> str:
    """Put the parts of a page together."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return _PAGE.format(title=escape(title), style=style, body="\n".join(parts))


def listed(items: Iterable[str], kind: str) -> str:
    """Make a list of a class; the items are text."""
    lines = "".join(f"<li>{marked(item)}</li>\n" for item in items)
    return f'<ul class="{kind}">\n{lines}</ul>'


def paragraph(text: str, kind: str = "") -> str:
    """Make a paragraph of text."""
    return f'<p class="{kind}">{marked(text)}</p>' if kind else f"<p>{marked(text)}</p>"


def definitions(terms: dict[str, str]) -> str:
    """Make a list of terms and what they mean."""
    lines = "".join(f"<dt>{marked(t)}</dt><dd>{marked(d)}</dd>\n" for t, d in terms.items())
    return f"<dl>\n{lines}</dl>"


def picture(svg: bytes, caption: str) -> str:
    """Make a figure whose picture is part of the page; its description is the caption."""
    data = base64.b64encode(svg).decode()
    return (
        f'<figure><img src="data:image/svg+xml;base64,{data}" alt="{escape(caption)}">\n'
        f"<figcaption>{marked(caption)}</figcaption></figure>"
    )


def marked(text: str) -> str:
    """Escape a text, and write names and powers as the paper does."""
    safe = escape(text).replace(" = ", "\u00a0=\u00a0")
    named = safe.replace("L_p*", "<i>L</i><sub>p</sub>*").replace("WL*", "<i>WL</i>*")
    return re.sub(r"\^(-?[\d.]*\d)", r"<sup>\1</sup>", named)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int) -> str:
    """Make a table whose first columns are text; a new value in the first one begins a group."""
    lines, last = [], None
    for row in rows:
        first = ' class="first"' if row[0] != last else ""
        cells = [("" if row[0] == last else row[0]), *row[1:]]
        last = row[0]
        lines.append(f"<tr{first}>{_cells(cells, 'td', text_columns)}</tr>")
    head, body = _cells(header, "th", text_columns), "\n".join(lines)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _cells(values: Sequence[str], tag: str, text_columns: int) -> str:
    kinds = [' class="text"'] * text_columns + [""] * (len(values) - text_columns)
    return "".join(
        f"<{tag}{kind}>{marked(value)}</{tag}>" for value, kind in zip(values, kinds, strict=True)
    )


def heading(number: int) -> str:
    """Make the heading of an experiment."""
    return f'<h2 id="exp{number}">Experiment {number}: {marked(EXPERIMENTS[number].title)}</h2>'
