"""What notebooks show: pictures drawn soon or a reason why not, and what values print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pdfalearn import results
from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.io import MOST_LEAVES as MOST_DRAWN_LEAVES
from pdfalearn.io import render_tree
from pdfalearn.pdfa import PDFA
from pdfalearn.text import shorten
from pdfalearn.viewing.choosing import MOST_CORE_STATES
from pdfalearn.viewing.drawing import default_picture
from pdfalearn.viewing.page import Markup, element, escape_text, image

# Seconds that Graphviz may take in a notebook.
TIME_LIMIT = 2.0
# Of automata of more states the core is drawn.
MOST_STATES = 40
# Automata of more transitions are not drawn unasked, nor larger trees.
MOST_CELLS, MOST_LEAVES = 500_000, 40
_MOST_NOTES = 5
# Longer texts are cut in the middle.
_MOST_CHARACTERS = 2000

_Thing = TypeVar("_Thing")
_REASONS = (InputError, MissingExtraError, OSError)


def pdfa_bundle(pdfa: PDFA) -> dict[str, str]:
    """Return what a notebook shows of an automaton: a picture, or why there is none."""
    return _bundle(pdfa, _draw_pdfa)


def tree_bundle(tree: results.TreeNode) -> dict[str, str]:
    """Return what a notebook shows of a classification tree: a picture, or why there is none."""
    return _bundle(tree, _draw_tree)


def value_html(value: Any) -> str:
    """Return what a notebook shows of a value: what it prints, and the picture of its automaton."""
    certificate, pdfa = getattr(value, "certificate", None), getattr(value, "pdfa", None)
    texts = [] if certificate is None else [str(certificate)]
    texts += [f"note: {note}" for note in getattr(value, "notes", ())[:_MOST_NOTES]]
    if hasattr(value, "table"):
        texts.append(value.table())
    else:
        texts.append(str(getattr(value, "statistics", value)))
    lines = (escape_text(shorten(line, _MOST_CHARACTERS)) for line in "\n".join(texts).split("\n"))
    shown = element("pre", Markup("\n".join(lines)))
    return element("div", shown, *([] if pdfa is None else [_pdfa_image(pdfa)]))


def _bundle(thing: _Thing, draw: Callable[[_Thing], str]) -> dict[str, str]:
    try:
        # As wide as the picture, and at most as its column.
        fitted = '<svg style="max-width:100%;height:auto" '
        return {"image/svg+xml": draw(thing).replace("<svg ", fitted, 1)}
    except _REASONS as error:
        return {"text/html": _paragraph(repr(thing)) + _paragraph(f"no picture: {error}")}


def _pdfa_image(pdfa: PDFA) -> Markup:
    """Return an image of an automaton, or why there is none."""
    try:
        style = "max-width:100%;background:#fff"
        return image(_draw_pdfa(pdfa).encode(), shorten(repr(pdfa), _MOST_CHARACTERS), style=style)
    except _REASONS as error:
        return _paragraph(f"no picture: {error}")


def _draw_pdfa(pdfa: PDFA) -> str:
    """Draw an automaton within the time that a notebook has."""
    if pdfa.transitions.size > MOST_CELLS:
        raise InputError(
            f"{len(pdfa):,} states are too many to be drawn unasked; draw(pdfa) draws the likely "
            "core, view(pdfa) makes a page"
        )
    most = None if len(pdfa) <= MOST_STATES else MOST_CORE_STATES
    return default_picture(pdfa, most_states=most, time_limit=TIME_LIMIT).svg


def _draw_tree(tree: results.TreeNode) -> str:
    leaves = sum(not node.children for node, _, _ in results.numbered_nodes(tree))
    if leaves > MOST_LEAVES:
        raise InputError(
            f"{leaves:,} leaves are too many for a notebook; save(tree, 'tree.svg') draws up to "
            f"{MOST_DRAWN_LEAVES}"
        )
    return render_tree(tree, "svg", time_limit=TIME_LIMIT).decode()


def _paragraph(text: str) -> Markup:
    return element("p", shorten(text, _MOST_CHARACTERS))
