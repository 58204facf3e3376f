"""Pictures of automata in Graphviz's DOT language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from pdfalearn.formats.dot import escaped_label, list_label, short_symbol_label
from pdfalearn.viewing.choosing import Chosen
from pdfalearn.viewing.numbers import probability_text

DIRECTIONS = {"right": "LR", "down": "TB"}

_MOST_LINES = 4
"""Labels of edges are cut after this many lines."""
_REST = 0.005
"""So much of a state's probability has to be left out for the state to say so."""
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

_MARK = "#b3261e"
_MARKED_FILL = "#fbdedb"
_FILLS = ("#ffffff", "#f1f5f9", "#e3ebf3", "#d3e0ec", "#c2d4e5")
"""Of states that words hardly visit, to those that they visit most; in print all are light grey."""

_FONT = "Helvetica,Arial,sans-serif"
_BEGIN = """\
digraph "{name}" {{
  rankdir={direction}; nodesep=0.3; ranksep=0.45; bgcolor=white; pad=0.15;
  label="{note}"; labelloc=b; fontname="{font}"; fontsize=11; fontcolor="#4a4a4a";
  node [fontname="{font}", fontsize=13, fontcolor="#111111", color="#2b3a4a"];
  edge [fontname="{font}", fontsize=11, fontcolor="#111111", color="#51657a", arrowsize=0.7];
  start [shape=point, style=invis, width=0.05];
  node [shape=circle, style=filled, width=0.7, margin=0.02];
"""


@dataclass(frozen=True)
class Style:
    """How a picture is drawn."""

    digits: int = 2
    direction: str = "right"
    marked: frozenset[int] = frozenset()
    """States that stand out."""
    way: frozenset[tuple[int, int]] = frozenset()
    """Edges that stand out, from state to state."""
    title: str = ""


def picture_text(part: Chosen, style: Style) -> str:
    """Describe a picture in Graphviz's DOT language."""
    begin = _BEGIN.format(
        name=f"PDFA, states in the picture: {len(part.edges.states)}",
        direction=DIRECTIONS[style.direction],
        note=_lines(f"\n{part.note}" if part.note else ""),
        font=_FONT,
    )
    initial = f"  start -> {part.edges.pdfa.initial} [penwidth=1.2];\n"
    name = f"cluster of {len(part.edges.states)} states"
    states = _titled(style.title, name, [initial, *_state_lines(part, style)])
    return "".join([begin, *states, *_edge_lines(part, style), "}\n"])


def _titled(title: str, name: str, lines: list[str]) -> list[str]:
    """Put states below a title: only a cluster has a label besides that of the whole picture.

    What it is called is seen when a mouse rests on the picture.
    """
    if not title:
        return lines
    label = f'label="{_lines(title)}"; labelloc=t; fontsize=16; fontcolor="#111111"'
    return [f'  subgraph "{name}" {{ {label}; peripheries=0; margin=4;\n', *lines, "  }\n"]


def _lines(text: str) -> str:
    return "\\n".join(escaped_label(line) for line in text.split("\n"))


def _state_lines(part: Chosen, style: Style) -> Iterator[str]:
    edges, shares = part.edges, part.shares
    highest = float(shares.max())
    shown = np.bincount(
        edges.sources[part.kept], weights=edges.weights[part.kept], minlength=len(shares)
    )
    for state in edges.states.tolist():
        row = edges.pdfa.probabilities[state]
        rest = float(row[1:].sum() - shown[state])
        look = f'fillcolor="{_FILLS[round((len(_FILLS) - 1) * sqrt(shares[state] / highest))]}"'
        if state in style.marked:
            look = f'fillcolor="{_MARKED_FILL}", color="{_MARK}", penwidth=2.2'
        label = _state_label(state, float(row[0]), rest, style.digits)
        yield f"  {state} [label=<{label}>, peripheries={1 + (row[0] > 0)}, {look}];\n"


def _state_label(state: int, terminal: float, rest: float, digits: int) -> str:
    """Write a state's name, its terminal probability and what is left out; no text of others."""
    lines = [f"q{state}".translate(_SUBSCRIPTS)]
    if terminal > 0:
        lines.append(f'<FONT POINT-SIZE="11">{probability_text(terminal, digits)}</FONT>')
    if rest >= _REST:
        text = f"…{probability_text(rest, digits)}"
        lines.append(f'<FONT POINT-SIZE="9" COLOR="#4a4a4a">{text}</FONT>')
    return "<BR/>".join(lines)


def _edge_lines(part: Chosen, style: Style) -> Iterator[str]:
    edges = part.edges
    names = [short_symbol_label(symbol) for symbol in edges.pdfa.alphabet]
    flows = edges.weights * part.shares[edges.sources]
    highest = float(flows[part.kept].max(initial=0.0)) or 1.0
    for edge in np.flatnonzero(part.kept).tolist():
        ends = (int(edges.sources[edge]), int(edges.targets[edge]))
        look = f"penwidth={0.6 + 2.6 * sqrt(flows[edge] / highest):.2f}"
        if not edges.weights[edge]:
            look = "style=dashed, penwidth=0.6"
        if ends in style.way:
            look = f'color="{_MARK}", fontcolor="{_MARK}", penwidth=3, arrowsize=0.9'
        label = _edge_label(part, edge, names, style.digits)
        yield f'  {ends[0]} -> {ends[1]} [label="{label}", {look}];\n'


def _edge_label(part: Chosen, edge: int, names: list[str], digits: int) -> str:
    """Write an edge's symbols, those of the same probability on one line, the likeliest first."""
    row = part.edges.pdfa.probabilities[int(part.edges.sources[edge]), 1:]
    groups: dict[str, list[int]] = {}
    for column in part.edges.symbols(edge):
        groups.setdefault(probability_text(float(row[column]), digits), []).append(column)
    lines = [
        f"{list_label([names[column] for column in columns], ',')}/{text}"
        for text, columns in groups.items()
    ]
    if len(lines) <= _MOST_LINES:
        return "\\n".join(lines)
    others = [column for columns in list(groups.values())[_MOST_LINES - 1 :] for column in columns]
    rest = probability_text(float(row[others].sum()), digits)
    return "\\n".join([*lines[: _MOST_LINES - 1], f"…{len(others)} more/{rest}"])
