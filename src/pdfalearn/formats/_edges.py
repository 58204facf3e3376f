"""The edges of a drawing and their labels."""

from __future__ import annotations

from collections.abc import Iterator

from pdfalearn.alphabet import Symbol
from pdfalearn.pdfa import PDFA

MOST_LINES = 16
"""Labels of edges are cut after so many lines."""

MOST_SYMBOLS = 8
"""Lists of symbols of the same probability are cut after so many."""

_IMPOSSIBLE = ', style=dashed, color="#999999", fontcolor="#999999"'

_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "&": "&amp;"})


def edge_lines(pdfa: PDFA) -> Iterator[str]:
    """Describe the edges in the DOT language, one for all symbols between the same two states."""
    names = [_shown(symbol) for symbol in pdfa.alphabet]
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
    lines = [f"{','.join(_cut(names, MOST_SYMBOLS))}/{number}" for number, names in groups.items()]
    return "\\n".join(_cut(lines, MOST_LINES))


def _cut(items: list[str], most: int) -> list[str]:
    if len(items) <= most:
        return items
    return [*items[: most - 1], f"…{len(items) - most + 1} more"]


def _shown(symbol: Symbol) -> str:
    text = str(symbol)
    plain = text.isprintable() and text.strip() == text and text and not set(text) & set(",/")
    return (text if plain else repr(text)).translate(_ESCAPES)
