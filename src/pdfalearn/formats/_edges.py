"""The edges of a drawing and their labels."""

from __future__ import annotations

from collections.abc import Iterator

from pdfalearn.formats.labels import list_label, symbol_label
from pdfalearn.pdfa import PDFA

MOST_LINES = 16
"""Labels of edges are cut after this many lines."""

_IMPOSSIBLE = ', style=dashed, color="#999999", fontcolor="#999999"'


def edge_lines(pdfa: PDFA) -> Iterator[str]:
    """Describe the edges in the DOT language, one for all symbols between the same two states."""
    names = [symbol_label(symbol) for symbol in pdfa.alphabet]
    rows = zip(pdfa.transitions.tolist(), pdfa.probabilities[:, 1:].tolist(), strict=True)
    for state, (successors, probabilities) in enumerate(rows):
        edges: dict[int, dict[str, list[str]]] = {}
        for name, successor, probability in zip(names, successors, probabilities, strict=True):
            if successor >= 0:
                groups = edges.setdefault(successor, {})
                groups.setdefault(f"{probability:.4g}", []).append(name)
        for successor, groups in edges.items():
            style = _IMPOSSIBLE if groups.keys() == {"0"} else ""
            yield f'  {state} -> {successor} [label="{_label(groups)}"{style}];\n'


def _label(groups: dict[str, list[str]]) -> str:
    lines = [f"{list_label(names, ',')}/{number}" for number, names in groups.items()]
    return list_label(lines, "\\n", most=MOST_LINES)
