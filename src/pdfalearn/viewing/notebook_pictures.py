"""Pictures of automata and trees in notebooks, drawn soon or with a reason; texts are escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.io import MOST_LEAVES as MOST_DRAWN_LEAVES
from pdfalearn.io import render_tree
from pdfalearn.pdfa import PDFA
from pdfalearn.results import TreeNode, numbered_nodes
from pdfalearn.text import escaped, shortened
from pdfalearn.viewing.choosing import MOST_CORE_STATES, chosen
from pdfalearn.viewing.drawing import Picture, Style, picture_text

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


TIME_LIMIT = 2.0
"""Seconds that Graphviz may take in a notebook."""
MOST_STATES = 40
"""Of automata of more states the core is drawn."""
MOST_CELLS = 500_000
"""Automata of more transitions are not drawn unasked."""
MOST_LEAVES = 40
"""Larger trees are not drawn unasked."""

_REASONS = (InputError, MissingExtraError, OSError)


def pdfa_bundle(pdfa: PDFA) -> dict[str, str]:
    """Return what a notebook shows of an automaton: a picture, or why there is none."""
    try:
        return {"image/svg+xml": pdfa_svg(pdfa)}
    except _REASONS as error:
        return {"text/html": _without_picture(repr(pdfa), str(error))}


def tree_bundle(tree: TreeNode) -> dict[str, str]:
    """Return what a notebook shows of a classification tree: a picture, or why there is none."""
    try:
        return {"image/svg+xml": _tree_svg(tree)}
    except _REASONS as error:
        return {"text/html": _without_picture(repr(tree), str(error))}


def pdfa_image(pdfa: PDFA) -> str:
    """Return HTML that shows an automaton, or why there is no picture."""
    try:
        return image(pdfa_svg(pdfa), repr(pdfa))
    except _REASONS as error:
        return paragraph(f"no picture: {error}")


def pdfa_svg(pdfa: PDFA) -> str:
    """Draw an automaton within the time that a notebook has.

    Raises
    ------
    InputError
        If the automaton is too large, or Graphviz takes too long.
    MissingExtraError
        If Graphviz is not installed.
    """
    if pdfa.transitions.size > MOST_CELLS:
        raise InputError(
            f"{len(pdfa):,} states are too many to be drawn unasked; draw(pdfa) draws the likely "
            "core, view(pdfa) makes a page"
        )
    part = chosen(pdfa, most_states=None if len(pdfa) <= MOST_STATES else MOST_CORE_STATES)
    text = picture_text(part, Style())
    return Picture(len(part.edges.states), part.note, text, TIME_LIMIT).svg


def _tree_svg(tree: TreeNode) -> str:
    leaves = sum(not node.children for node, _, _ in numbered_nodes(tree))
    if leaves > MOST_LEAVES:
        raise InputError(
            f"{leaves:,} leaves are too many for a notebook; save(tree, 'tree.svg') draws up to "
            f"{MOST_DRAWN_LEAVES}, 'tree.json' holds any tree"
        )
    return render_tree(tree, "svg", time_limit=TIME_LIMIT).decode()


def _without_picture(name: str, reason: str) -> str:
    return paragraph(name) + paragraph(f"no picture: {reason}")
