"""Drawings of PDFA, made with Graphviz, in the style of the paper's figures."""

from __future__ import annotations

import shutil
import subprocess
from typing import BinaryIO

from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.formats._edges import edge_lines
from pdfalearn.pdfa import PDFA

MOST_STATES = 300
"""Pictures of larger automata are refused."""

MOST_NOTEBOOK_STATES = 40
"""Larger automata are not drawn in notebooks unasked."""

MOST_EDGES_IN_LEVELS = 200
"""More edges are laid out by springs: levels then take minutes and are no easier to read."""

TIME_LIMIT = 60.0
"""Seconds that Graphviz may take for a picture."""

_NOTEBOOK_TIME_LIMIT = 5.0

_OPTIONS = {"svg": ["-Tsvg"], "png": ["-Tpng", "-Gdpi=144"], "pdf": ["-Tpdf"]}

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
    lines = [f"  start -> {pdfa.initial};\n"]
    for state, terminal in enumerate(pdfa.probabilities[:, 0].tolist()):
        name = f"q{state}".translate(_SUBSCRIPTS)
        lines.append(f'  {state} [label="{name}\\n{terminal:.4g}"];\n')
    edges = list(edge_lines(pdfa))
    layout = _LEVELS if len(edges) <= MOST_EDGES_IN_LEVELS else _SPRINGS
    return "".join([_BEGIN, layout, *lines, *edges, "}\n"])


def render(pdfa: PDFA, kind: str, *, time_limit: float = TIME_LIMIT) -> bytes:
    """Draw a PDFA with Graphviz.

    Parameters
    ----------
    pdfa : PDFA
        The automaton, of at most ``MOST_STATES`` states.
    kind : {"svg", "png", "pdf"}
        The kind of picture.
    time_limit : float
        Seconds that Graphviz may take.

    Raises
    ------
    MissingExtraError
        If Graphviz is not installed.
    InputError
        If the automaton is too large for a picture.

    Examples
    --------
    >>> render(PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]]), "gif")
    Traceback (most recent call last):
    pdfalearn.errors.InputError: 'gif' is not a kind of picture; use 'svg', 'png' or 'pdf'
    """
    if kind not in _OPTIONS:
        raise InputError(f"{kind!r} is not a kind of picture; use 'svg', 'png' or 'pdf'")
    if len(pdfa) > MOST_STATES:
        raise InputError(
            f"a picture of {len(pdfa)} states won't help; draw the quotient at a smaller kappa, "
            "or save as .dot for other tools"
        )
    program = shutil.which("dot")
    if program is None:
        raise MissingExtraError(
            "drawings need Graphviz's program dot, which is not installed: "
            "apt-get install graphviz (Debian), brew install graphviz (macOS)"
        )
    try:
        done = subprocess.run(  # noqa: S603 (no part of the command comes from the caller)
            [program, *_OPTIONS[kind]],
            input=to_dot(pdfa).encode(),
            capture_output=True,
            timeout=time_limit,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"Graphviz did not finish {pdfa!r} in {time_limit:g} seconds; "
            "draw the quotient at a smaller kappa, or save as .dot for other tools"
        ) from error
    except subprocess.CalledProcessError as error:
        complaint = error.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise InputError(f"Graphviz could not draw {pdfa!r}: {complaint}") from error
    return done.stdout


def notebook_svg(pdfa: PDFA) -> str | None:
    """Draw a PDFA for a notebook as SVG; None where it is large or Graphviz does not do it."""
    if len(pdfa) > MOST_NOTEBOOK_STATES:
        return None
    try:
        return render(pdfa, "svg", time_limit=_NOTEBOOK_TIME_LIMIT).decode()
    except (InputError, MissingExtraError, OSError):
        return None


def write(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA in the DOT language."""
    stream.write(to_dot(pdfa).encode())


def write_svg(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a picture of a PDFA as SVG."""
    stream.write(render(pdfa, "svg"))


def write_png(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a picture of a PDFA as PNG."""
    stream.write(render(pdfa, "png"))


def write_pdf(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a picture of a PDFA as PDF."""
    stream.write(render(pdfa, "pdf"))
