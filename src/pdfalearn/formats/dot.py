"""Drawings of whole PDFA in Graphviz's language, in the style of the paper's figures."""

from __future__ import annotations

from pdfalearn.formats._edges import edge_lines
from pdfalearn.pdfa import PDFA, checked_pdfa

MOST_EDGES_IN_LEVELS = 200
"""More edges are laid out by springs: levels then take minutes and are no easier to read."""

_BEGIN = """\
digraph PDFA {
  node [fontname="Helvetica", fontsize=12];
  edge [fontname="Helvetica", fontsize=11, arrowsize=0.7];
  start [shape=point, style=invis];
  node [shape=circle, style=filled, fillcolor="#f2f2f2", width=0.7, margin=0.03];
"""

_LEVELS = "  rankdir=LR; nodesep=0.35;\n"

_SPRINGS = "  layout=neato; overlap=false;\n"

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def to_dot(pdfa: PDFA) -> str:
    r"""Describe a drawing of a PDFA in Graphviz's DOT language.

    A state shows its number and its terminal probability; an edge its symbols and their
    probability. Edges of probability 0 are dashed, undefined transitions are not drawn.

    Examples
    --------
    >>> pdfa = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0, 0.5, 0.5]])
    >>> print(to_dot(pdfa))  # doctest: +ELLIPSIS
    digraph PDFA {
      ...
      start -> 0;
      0 [label="q₀\n0"];
      0 -> 0 [label="a,b/0.5"];
    }
    <BLANKLINE>
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    lines = [f"  start -> {pdfa.initial};\n"]
    for state, terminal in enumerate(pdfa.probabilities[:, 0].tolist()):
        name = f"q{state}".translate(_SUBSCRIPTS)
        lines.append(f'  {state} [label="{name}\\n{terminal:.4g}"];\n')
    edges = list(edge_lines(pdfa))
    layout = _LEVELS if len(edges) <= MOST_EDGES_IN_LEVELS else _SPRINGS
    return "".join([_BEGIN, layout, *lines, *edges, "}\n"])
