"""Graphviz's drawings and pictures; a drawing holds the whole PDFA in comments."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TypeVar

from pdfalearn.alphabet import Symbol
from pdfalearn.errors import FileFormatError, InputError, MissingExtraError
from pdfalearn.files import check_name
from pdfalearn.io._lines import read_bytes
from pdfalearn.io.pdfa_files import can_be_in_file, read_json, write_json
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.text import escaped, shortened

MOST_ITEMS = 8
"""Lists of symbols or numbers are cut after this many."""

MOST_CHARACTERS = 32
"""Pictures leave out the middle of longer symbols."""

_Item = TypeVar("_Item")

_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "&": "&amp;"})


def escaped_label(text: str) -> str:
    """Write a line of any text in the DOT language, so that it is seen as it is."""
    return escaped(text).translate(_ESCAPES)


def symbol_label(symbol: Symbol) -> str:
    """Show a symbol, quoted where it could be mistaken, in the DOT language."""
    text = str(symbol)
    plain = text.isprintable() and text.strip() == text and text and not set(text) & set(",/")
    return (text if plain else repr(text)).translate(_ESCAPES)


def short_symbol_label(symbol: Symbol) -> str:
    """Show a symbol in a picture; of a long one the middle is left out.

    Examples
    --------
    >>> short_symbol_label("a" * 1000)
    'aaaaaaaaaaaaaaa...aaaaaaaaaaaaaaa'
    """
    return symbol_label(shortened(str(symbol), MOST_CHARACTERS))


def list_label(
    items: Sequence[_Item],
    separator: str,
    *,
    show: Callable[[_Item], str] = str,
    most: int = MOST_ITEMS,
) -> str:
    """Show a list; of a long one the end is left out, and the label says how much that is."""
    if len(items) <= most:
        return separator.join(map(show, items))
    left_out = len(items) - most + 1
    return separator.join([*map(show, items[: most - 1]), f"…{left_out} more"])


TIME_LIMIT = 30.0
"""Seconds that Graphviz may take for a picture."""

_OPTIONS = {"svg": ["-Tsvg"], "png": ["-Tpng", "-Gdpi=144"], "pdf": ["-Tpdf"]}

PICTURES = tuple(f".{kind}" for kind in _OPTIONS)
"""The endings of pictures."""

_Drawn = TypeVar("_Drawn")


def graphviz() -> str:
    """Find Graphviz's program, or say how to install it."""
    program = shutil.which("dot")
    if program is None:
        raise MissingExtraError(
            "drawings need Graphviz's program dot, which is not installed: "
            "apt-get install graphviz (Debian), brew install graphviz (macOS)"
        )
    return program


def picture(text: str, kind: str, *, name: str, remedy: str, time_limit: float) -> bytes:
    """Draw what a text in the DOT language describes.

    Parameters
    ----------
    text : str
        The description.
    kind : {"svg", "png", "pdf"}
        The kind of picture.
    name, remedy : str
        What errors call the thing that is drawn, and what they advise when it takes too long.
    time_limit : float
        Seconds that Graphviz may take.
    """
    if kind not in _OPTIONS:
        raise InputError(f"{kind!r} is not a kind of picture; use 'svg', 'png' or 'pdf'")
    try:
        done = subprocess.run(  # noqa: S603 (no part of the command comes from the caller)
            [graphviz(), *_OPTIONS[kind]],
            input=text.encode(),
            capture_output=True,
            timeout=time_limit,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"Graphviz did not finish {name} in {time_limit:g} seconds; {remedy}"
        ) from error
    except subprocess.CalledProcessError as error:
        complaint = error.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise InputError(f"Graphviz could not draw {name}: {complaint}") from error
    return done.stdout


def picture_writers(
    render: Callable[[_Drawn, str], bytes],
) -> dict[str, Callable[[_Drawn, BinaryIO], None]]:
    """Make a writer for the ending of every kind of picture."""

    def writer(kind: str) -> Callable[[_Drawn, BinaryIO], None]:
        def write(drawn: _Drawn, stream: BinaryIO) -> None:
            stream.write(render(drawn, kind))

        return write

    return {f".{kind}": writer(kind) for kind in _OPTIONS}


def check_can_draw(path: str | os.PathLike[str]) -> None:
    """Refuse the name of a picture where there is no Graphviz."""
    if check_name(path).lower().endswith(PICTURES):
        graphviz()


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
            yield f'  {state} -> {successor} [label="{_edge_label(groups)}"{style}];\n'


def _edge_label(groups: dict[str, list[str]]) -> str:
    lines = [f"{list_label(names, ',')}/{number}" for number, names in groups.items()]
    return list_label(lines, "\\n", most=MOST_LINES)


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


_COMMENT = b"//| "


def write_dot(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a drawing in the DOT language, and the PDFA below it if files can hold its symbols."""
    stream.write(to_dot(pdfa).encode())
    if all(map(can_be_in_file, (*pdfa.alphabet, pdfa.terminal))):
        stream.write(_comments(pdfa))


def read_dot(stream: BinaryIO) -> PDFA:
    """Read the PDFA below a drawing, equal to the last bit to the one that was saved."""
    data = read_bytes(stream).replace(b"\r\n", b"\n")
    lines = [line for line in data.split(b"\n") if line.startswith(_COMMENT)]
    if not lines:
        raise FileFormatError(
            "a drawing without the automaton below it: of another program or an older pdfalearn, "
            "for another program, or of odd symbols; keep a .json beside it"
        )
    text = b"\n".join(line.removeprefix(_COMMENT) for line in lines)
    pdfa = read_json(io.BytesIO(text))
    if to_dot(pdfa).encode() + _comments(pdfa) != data:
        raise FileFormatError(
            "the drawing and the automaton below it are not the same: the file was edited; "
            "save the automaton again, or edit a .json"
        )
    return pdfa


def _comments(pdfa: PDFA) -> bytes:
    text = io.BytesIO()
    write_json(pdfa, text)
    lines = text.getvalue().splitlines()
    return b"".join(_COMMENT + line + b"\n" for line in lines)
