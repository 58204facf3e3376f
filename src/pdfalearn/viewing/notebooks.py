"""What notebooks show: tables and pictures, with every text escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.formats.tree_files import MOST_LEAVES as MOST_DRAWN_LEAVES
from pdfalearn.formats.tree_files import render_tree
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Bounds, Certificate
from pdfalearn.results.evaluations import EVALUATION_HEADER as EVALUATION_HEADER
from pdfalearn.results.evaluations import Divergence, Evaluation, comparison_cells, fact_cells
from pdfalearn.results.frontiers import FRONTIER_HEADER as HEADER
from pdfalearn.results.frontiers import Frontier, Simplified
from pdfalearn.results.frontiers import frontier_cells as cells_of
from pdfalearn.results.learning_runs import Result, cost_texts
from pdfalearn.results.sweeps import SWEEP_HEADER as SWEEP_HEADER
from pdfalearn.results.sweeps import Sweep, questions_text
from pdfalearn.results.sweeps import sweep_cells as sweep_cells
from pdfalearn.results.trees import TreeNode, numbered_nodes
from pdfalearn.text import LABELS, described, escaped, shortened
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


_MOST_ROWS = 12
"""Tables of more rows are thinned out."""
_MOST_NOTES = 5


def result_html(result: Result) -> str:
    """Show a result: what is known, what it cost, and the automaton."""
    costs, texts = result.statistics, cost_texts(result.statistics)
    names = [LABELS[name] for name in ("words", "symbols", "equivalence_queries")]
    rows = [
        (LABELS["states"], f"{len(result.pdfa):,}"),
        *((name, texts[name]) for name in names),
        ("seconds", f"{costs.learning_seconds + costs.equivalence_seconds:.3g}"),
    ]
    known = _known(result.certificate)
    return section(known, *_notes(result.notes), table(rows), pdfa_image(result.pdfa))


def frontier_html(frontier: Frontier) -> str:
    """Show a frontier: what is known, and its points, or of many some of them."""
    known = _known(frontier.certificate)
    own = paragraph(f"perplexity of the model itself: {frontier.model_perplexity:.3f}")
    rows = cells_of(frontier)
    shown = _thinned(rows)
    left_out = len(rows) - len(shown)
    more = [paragraph(f"{left_out} more: table() has them all, plot() draws them")] * (left_out > 0)
    return section(known, *_notes(frontier.notes), table(shown, HEADER), *more, own)


def sweep_html(sweep: Sweep) -> str:
    """Show a sweep: its rows, how many words it asked, and what it recommends."""
    questions = paragraph(questions_text(sweep), bold="words asked")
    advice = paragraph(sweep.recommendation, bold="recommended")
    return section(table(sweep_cells(sweep), SWEEP_HEADER), questions, advice)


def evaluation_html(evaluation: Evaluation) -> str:
    """Show an evaluation: its measures after every prefix and after whole words."""
    measures = table(comparison_cells(evaluation), EVALUATION_HEADER)
    return section(measures, table(fact_cells(evaluation)))


def certificate_html(certificate: Certificate) -> str:
    """Show a certificate: its kind, its statement and its figures."""
    rows = [
        (str(name), value if isinstance(value, str) else described(value))
        for name, value in certificate.details.items()
    ]
    return section(_known(certificate), *([table(rows)] if rows else []))


def simplified_html(simplified: Simplified) -> str:
    """Show a smaller automaton and what it loses."""
    loss = f"states, {simplified.divergence:.4g} nats per symbol from the original"
    return section(paragraph(loss, bold=f"{simplified.states:,}"), pdfa_image(simplified.pdfa))


def divergence_html(divergence: Divergence) -> str:
    """Show a divergence, both ways."""
    return section(table(divergence.rows(), ("", "a ‖ b", "b ‖ a")))


def bounds_html(bounds: Bounds) -> str:
    """Show bounds in a sentence."""
    return section(paragraph(str(bounds)))


def _known(certificate: Certificate) -> str:
    return paragraph(certificate.statement, bold=f"{certificate.kind}:")


def _notes(notes: Sequence[str]) -> Iterable[str]:
    return [paragraph(note, bold="note:") for note in notes[:_MOST_NOTES]]


def _thinned(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave out rows of a long table evenly, but none that has a mark at its end."""
    if len(rows) <= _MOST_ROWS:
        return rows
    last = len(rows) - 1
    evenly = {round(place * last / (_MOST_ROWS - 3)) for place in range(_MOST_ROWS - 2)}
    return [row for place, row in enumerate(rows) if row[-1] or place in evenly]
