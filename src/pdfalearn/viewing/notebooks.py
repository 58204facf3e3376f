"""What notebooks show: pictures drawn soon or a reason why not, figures, and what is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from pdfalearn import results
from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.io import MOST_LEAVES as MOST_DRAWN_LEAVES
from pdfalearn.io import render_tree
from pdfalearn.pdfa import PDFA
from pdfalearn.text import LABELS, described, shorten
from pdfalearn.viewing.choosing import MOST_CORE_STATES
from pdfalearn.viewing.drawing import default_picture
from pdfalearn.viewing.page import Markup, element, image

# Seconds that Graphviz may take in a notebook.
TIME_LIMIT = 2.0
# Of automata of more states the core is drawn.
MOST_STATES = 40
# Automata of more transitions are not drawn unasked, nor larger trees.
MOST_CELLS, MOST_LEAVES = 500_000, 40
# Tables of more rows are thinned out.
_MOST_ROWS = 12
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


def value_html(value: object) -> str:
    """Return what a notebook shows of a value of some class."""
    return next(show(value) for name, show in _SHOWN if isinstance(value, getattr(results, name)))


def _show_result(result: results.Result) -> str:
    """Show a result: what is known, what it cost, and the automaton."""
    costs, texts = result.statistics, results.cost_texts(result.statistics)
    names = [LABELS[name] for name in ("words", "symbols", "equivalence_queries")]
    rows = [
        (LABELS["states"], f"{len(result.pdfa):,}"),
        *((name, texts[name]) for name in names),
        ("seconds", f"{costs.learning_seconds + costs.equivalence_seconds:.3g}"),
    ]
    return element(
        "div", *_known(result.certificate, result.notes), _table(rows), _pdfa_image(result.pdfa)
    )


def _show_frontier(frontier: results.Frontier) -> str:
    """Show a frontier: what is known, and its points, or of many some of them."""
    rows = results.frontier_cells(frontier)
    shown = _thin_out(rows)
    table = _table(shown, results.frontier_header(frontier))
    parts = [*_known(frontier.certificate, frontier.notes), table]
    if len(shown) < len(rows):
        left_out = len(rows) - len(shown)
        parts.append(_paragraph(f"{left_out} more: table() has them all, plot() draws them"))
    return element("div", *parts, *map(_paragraph, results.model_texts(frontier)))


def _show_sweep(sweep: results.Sweep) -> str:
    """Show a sweep: its rows, how many words it asked, and what it recommends."""
    return element(
        "div",
        _table(results.sweep_cells(sweep), results.SWEEP_HEADER),
        _paragraph(results.questions_text(sweep), bold="words asked"),
        _paragraph(sweep.recommendation, bold="recommended"),
    )


def _show_evaluation(evaluation: results.Evaluation) -> str:
    """Show an evaluation: its measures after every prefix and after whole words."""
    measures = _table(results.comparison_cells(evaluation), results.EVALUATION_HEADER)
    return element("div", measures, _table(results.fact_cells(evaluation)))


def _show_certificate(certificate: results.Certificate) -> str:
    """Show a certificate: its kind, its statement and its figures."""
    rows = [
        (str(name), value if isinstance(value, str) else described(value))
        for name, value in certificate.details.items()
    ]
    return element("div", *_known(certificate), *([_table(rows)] if rows else []))


def _show_simplified(simplified: results.Simplified) -> str:
    """Show a smaller automaton and what it loses."""
    loss = f"states, {simplified.divergence:.4g} nats per symbol from the original"
    text = _paragraph(loss, bold=f"{simplified.states:,}")
    return element("div", text, _pdfa_image(simplified.pdfa))


def _show_tables(value: results.TableValue) -> str:
    """Show a sentence, if there is one, and tables."""
    texts = [_paragraph(line) for line in value.statement.splitlines()]
    return element("div", *texts, *(_table(rows[1:], rows[0]) for rows in value.tables()))


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
        return image(_draw_pdfa(pdfa).encode(), _shorten(repr(pdfa)), style=style)
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
            f"{MOST_DRAWN_LEAVES}, 'tree.json' holds any tree"
        )
    return render_tree(tree, "svg", time_limit=TIME_LIMIT).decode()


def _known(certificate: results.Certificate, notes: Sequence[str] = ()) -> list[Markup]:
    """Return what is known, and the notes."""
    known = _paragraph(certificate.statement, bold=f"{certificate.kind}:")
    return [known, *(_paragraph(note, bold="note:") for note in notes[:_MOST_NOTES])]


def _paragraph(text: str, *, bold: str = "") -> Markup:
    begin = [element("b", _shorten(bold)), " "] if bold else []
    return element("p", *begin, _shorten(text))


def _table(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> Markup:
    """Make a table: the first column names the row, all others are figures."""
    lines = [[element("th", _shorten(name), scope="col") for name in header]] if header else []
    for name, *figures in rows:
        first = element("th", _shorten(name), scope="row", style="text-align:left")
        lines.append([first, *(element("td", _shorten(figure)) for figure in figures)])
    return element("table", *(element("tr", *line) for line in lines))


def _shorten(text: str) -> str:
    return shorten(text, _MOST_CHARACTERS)


def _thin_out(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave out rows of a long table evenly, but none that has a mark at its end."""
    if len(rows) <= _MOST_ROWS:
        return rows
    last = len(rows) - 1
    evenly = {round(place * last / (_MOST_ROWS - 3)) for place in range(_MOST_ROWS - 2)}
    return [row for place, row in enumerate(rows) if row[-1] or place in evenly]


# What shows the values of each class of `results`, which is imported when there is such a value.
_SHOWN: list[tuple[str, Callable[[Any], str]]] = [
    ("Result", _show_result),
    ("Frontier", _show_frontier),
    ("Sweep", _show_sweep),
    ("Evaluation", _show_evaluation),
    ("Certificate", _show_certificate),
    ("Simplified", _show_simplified),
    ("Divergence", lambda both: element("div", _table(both.rows(), ("", "a ‖ b", "b ‖ a")))),
    ("TableValue", _show_tables),
    ("Bounds", lambda bounds: element("div", _paragraph(str(bounds)))),
]
