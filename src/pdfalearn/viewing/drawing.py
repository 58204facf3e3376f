"""Pictures of automata for print and for talks, in Graphviz's language."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import sqrt
from typing import BinaryIO

import numpy as np

from pdfalearn.alphabet import Word
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.files import check_can_write, write_named
from pdfalearn.io import (
    TIME_LIMIT,
    check_can_draw,
    escape_label,
    list_label,
    picture,
    picture_writers,
    short_symbol_label,
)
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.text import described, is_iterable, leave_out_common_ends, short_word_text
from pdfalearn.viewing.choosing import NEGLIGIBLE, Chosen, choose_part, probability_text
from pdfalearn.viewing.page import element

DIRECTIONS = {"right": "LR", "down": "TB"}

# Labels of edges are cut after this many lines.
_MOST_LINES = 4
# At least this much of a state's probability has to be left out for the state to say so.
_REST = 0.005
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

_MARK = "#b3261e"
_MARKED_FILL = "#fbdedb"
# Of states that words hardly visit, to those that they visit most; in print all are light grey.
_FILLS = ("#ffffff", "#f1f5f9", "#e3ebf3", "#d3e0ec", "#c2d4e5")

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
    marked: frozenset[int] = frozenset()  # states that stand out
    way: frozenset[tuple[int, int]] = frozenset()  # edges that stand out, from state to state
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
    states = [initial, *_state_lines(part, style)]
    if style.title:
        # Only a cluster has a label besides that of the whole picture. Its name is seen when a
        # mouse rests on the picture.
        label = f'label="{_lines(style.title)}"; labelloc=t; fontsize=16; fontcolor="#111111"'
        states = [f'  subgraph "{name}" {{ {label}; peripheries=0; margin=4;\n', *states, "  }\n"]
    return "".join([begin, *states, *_edge_lines(part, style), "}\n"])


def _lines(text: str) -> str:
    return "\\n".join(escape_label(line) for line in text.split("\n"))


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
        yield f"  {state} [label=<{label}>, peripheries={1 + (row[0] >= NEGLIGIBLE)}, {look}];\n"


def _state_label(state: int, terminal: float, rest: float, digits: int) -> str:
    """Write a state's name, its terminal probability and what is left out; no text of others."""
    lines = [f"q{state}".translate(_SUBSCRIPTS)]
    if terminal >= NEGLIGIBLE:
        lines.append(element("FONT", probability_text(terminal, digits), POINT_SIZE="11"))
    if rest >= _REST:
        text = f"…{probability_text(rest, digits)}"
        lines.append(element("FONT", text, POINT_SIZE="9", COLOR="#4a4a4a"))
    return "<BR/>".join(lines)


def _edge_lines(part: Chosen, style: Style) -> Iterator[str]:
    edges = part.edges
    texts = leave_out_common_ends([str(symbol) for symbol in edges.pdfa.alphabet])
    names = [short_symbol_label(text) for text in texts]
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


_REMEDY = "draw fewer states or a higher least probability, or allow a longer time_limit"


@dataclass(frozen=True)
class Picture:
    """A picture of an automaton, which shows itself in a notebook; `draw` makes them.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn import draw
    >>> from pdfalearn.datasets import figure_3
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     picture = draw(figure_3(), f"{folder}/figure.dot")
    >>> picture.states, picture.note, picture.dot[:7]
    (4, '', 'digraph')
    """

    states: int
    """How many states it shows."""
    note: str
    """What is left out, as it stands in the picture; empty if nothing is."""
    dot: str = field(repr=False)
    """The picture in Graphviz's language."""
    time_limit: float = field(default=TIME_LIMIT, repr=False)
    """Seconds that Graphviz may take."""

    @cached_property
    def svg(self) -> str:
        """The picture as SVG, drawn by Graphviz."""
        return self.rendered("svg").decode()

    def _repr_svg_(self) -> str:
        return self.svg

    def rendered(self, kind: str) -> bytes:
        """Let Graphviz draw the picture.

        Parameters
        ----------
        kind : {"svg", "png", "pdf"}
            The kind of picture.
        """
        name = f"a picture of {self.states} state{'s' * (self.states != 1)}"
        return picture(self.dot, kind, name=name, remedy=_REMEDY, time_limit=self.time_limit)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file: ``.svg``, ``.png``, ``.pdf``, or ``.dot`` for its text.

        Parameters
        ----------
        path : str or os.PathLike
            The file. ``.dot`` does not need Graphviz.
        """
        write_named(self, path, _WRITERS)

    def _write_dot(self, stream: BinaryIO) -> None:
        stream.write(self.dot.encode())


_WRITERS: dict[str, Callable[[Picture, BinaryIO], None]] = {
    **picture_writers(Picture.rendered),
    ".dot": Picture._write_dot,
}


def check_picture(path: str | os.PathLike[str]) -> None:
    """Raise what saving a picture would raise, whatever it shows."""
    check_can_write(path, _WRITERS)
    check_can_draw(path)


def draw(
    pdfa: PDFA,
    path: str | os.PathLike[str] | None = None,
    *,
    most_states: int | None = None,
    least: float | None = None,
    digits: int = 2,
    direction: str = "right",
    word: Word | None = None,
    marked: Iterable[int] = (),
    title: str = "",
    time_limit: float = TIME_LIMIT,
) -> Picture:
    """Draw a picture of an automaton that can be read, whatever its size; needs Graphviz.

    A state shows its number and, in a double ring, its terminal probability. The darker a state,
    the more words visit it; the wider an edge, the more words take it. All symbols between two
    states share an edge. What is left out is said below the picture, and in each state behind "…".

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    path : str or os.PathLike, optional
        Where to write the picture: ``.svg``, ``.pdf``, ``.png``, or ``.dot`` for its text, which
        does not need Graphviz. `save` writes complete files in ``.dot``, to be loaded again.
    most_states : int, optional
        How many states to draw at most: those that words visit most. By default all up to 60, and
        of more at most 30 that carry most of the visits.
    least : float, optional
        The least probability of an edge; the likeliest to and from a state are drawn anyway.
        With 0 every transition is drawn, also those of probability 0, which are dashed. By default
        all that are possible, and where these are many, so few that the picture can be read.
    digits : int
        Significant digits of probabilities, 1 to 6.
    direction : {"right", "down"}
        Where the picture grows to.
    word : sequence of symbols, optional
        A word whose way stands out; its states are drawn in any case.
    marked : iterable of int
        States that stand out; they are drawn in any case.
    title : str
        What stands above the picture.
    time_limit : float
        Seconds that Graphviz may take.

    Returns
    -------
    Picture
        It shows itself in a notebook; ``svg`` is its text, and ``note`` what is left out.

    Raises
    ------
    InputError
        If an argument is wrong, the word is undefined, or Graphviz takes too long.
    MissingExtraError
        If Graphviz is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn.datasets import random_pdfa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw(random_pdfa(150, seed=1), f"{folder}/large.dot", most_states=10)
    Picture(states=10, note='10 of 158 states, 0.918 of the visits')
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    if path is not None:  # raise now what saving would raise later
        check_picture(path)
    way = _way(pdfa, word)
    if not is_iterable(marked):
        raise InputError(f"marked {described(marked)} is not a list of states")
    marks = frozenset(pdfa.checked_state(state, "marked state") for state in marked)
    if not isinstance(direction, str) or direction not in DIRECTIONS:
        names = " or ".join(map(repr, DIRECTIONS))
        raise InputError(f"direction {described(direction)} is not {names}")
    if not isinstance(title, str):
        raise InputError(f"title {described(title)} is not a string")
    style = Style(
        digits=check_integer(digits, "digits", 1, 6),
        direction=direction,
        marked=marks.union(way),
        way=frozenset(pairwise(way)),
        title=title,
    )
    part = choose_part(
        pdfa,
        most_states=None if most_states is None else check_integer(most_states, "most_states", 1),
        least=None if least is None else check_number(least, "least", 0, 1),
        always=style.marked,
        way=style.way,
    )
    limit = check_number(time_limit, "time_limit", 0, 1e6)
    picture = Picture(len(part.edges.states), part.note, picture_text(part, style), limit)
    if path is None:
        picture.svg  # noqa: B018  now, so that errors come from here and not from a notebook
    else:
        picture.save(path)
    return picture


def default_picture(
    pdfa: PDFA, *, most_states: int | None = None, time_limit: float = TIME_LIMIT
) -> Picture:
    """Describe the picture that `save` writes and notebooks show; it is drawn later."""
    part = choose_part(pdfa, most_states=most_states)
    return Picture(len(part.edges.states), part.note, picture_text(part, Style()), time_limit)


def _way(pdfa: PDFA, word: Word | None) -> list[int]:
    """Return the states of a word's run, or refuse an undefined word."""
    if word is None:
        return []
    (codes,) = pdfa.alphabet.encode_words([word])
    way = [pdfa.initial]
    for length, code in enumerate(codes, 1):
        way.append(int(pdfa.table[way[-1], code]))
        if way[-1] < 0:
            symbols = [pdfa.alphabet.symbols[code] for code in codes[:length]]
            shown = short_word_text(symbols, joined=False)
            raise InputError(f"the word is undefined after {shown}; draw a word that is defined")
    return way
