"""Pictures of automata and trees in notebooks: drawn soon, or a reason why there is none."""

from __future__ import annotations

from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.formats.tree_files import MOST_LEAVES as MOST_DRAWN_LEAVES
from pdfalearn.formats.tree_files import render_tree
from pdfalearn.pdfa import PDFA
from pdfalearn.results.trees import TreeNode, numbered_nodes
from pdfalearn.viewing.choosing import MOST_CORE_STATES, chosen
from pdfalearn.viewing.html_parts import image, paragraph
from pdfalearn.viewing.picture_texts import Style, picture_text
from pdfalearn.viewing.pictures import Picture

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
