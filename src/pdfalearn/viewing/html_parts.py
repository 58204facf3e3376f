"""Small parts of HTML for notebooks; every text is escaped here, and nowhere else."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

from pdfalearn.text import escaped, shortened

_MOST_CHARACTERS = 2000
"""Longer texts are cut in the middle."""


def plain(text: object) -> str:
    r"""Write a text in HTML so that it is seen as it is.

    Examples
    --------
    >>> plain("</script><b onclick='x'>\x1b")
    '&lt;/script&gt;&lt;b onclick=&#x27;x&#x27;&gt;\\x1b'
    """
    return escape(escaped(shortened(str(text), _MOST_CHARACTERS)))


def paragraph(text: str, *, bold: str = "") -> str:
    """Write a paragraph, with something bold before it."""
    begin = f"<b>{plain(bold)}</b> " if bold else ""
    return f"<p>{begin}{plain(text)}</p>"


def table(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Write a table: the first column names the row, all others are figures."""
    lines = []
    if header:
        lines.append("".join(f'<th scope="col">{plain(name)}</th>' for name in header))
    for name, *figures in rows:
        cells = "".join(f"<td>{plain(figure)}</td>" for figure in figures)
        lines.append(f'<th scope="row" style="text-align:left">{plain(name)}</th>{cells}')
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def image(svg: str, text: str) -> str:
    """Put a picture into HTML as an image: nothing in it can run, whatever it holds."""
    data = base64.b64encode(svg.encode()).decode()
    style = "max-width:100%;background:#fff"
    return f'<img alt="{plain(text)}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def section(*parts: str) -> str:
    """Put parts below each other."""
    return f"<div>{''.join(parts)}</div>"
