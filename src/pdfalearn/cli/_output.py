"""What commands answer, and the one way to show it: as JSON to programs, in tables to people."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import click

from pdfalearn.text import escaped

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

_FIGURE = re.compile(r"[-+]?[\d.,]*\d(e[-+]?\d+)?%?|inf|none|undefined|")
# Columns of text are folded to no less than this, if something can be done about it.
_TEXT_WIDTH = 12
_BAR_WIDTH = 40
_TEXTS_AT_ONCE = 1000
# What is written instead of what Python calls these.
_CONSTANTS = {"Infinity": "inf", "-Infinity": "-inf", "NaN": None}


class Line(NamedTuple):
    """A line of text, coloured where the terminal can."""

    text: str
    style: str = ""


class Verbatim(NamedTuple):
    """Texts that are printed as they are, one after the other."""

    texts: Iterable[str]
    is_live: bool = False
    """Whether each is printed as soon as it is there."""


class Bar(NamedTuple):
    """A cell that shows a share of the largest value as a bar."""

    share: float


@dataclass(frozen=True)
class Table:
    """A table: values are formatted when it is shown."""

    title: str
    header: Sequence[str] | None
    """The names of the columns; None for a table of names and values."""
    rows: Iterable[Sequence[object]]
    is_boxed: bool = True
    """Whether it has lines; a table of many figures has none."""


Part = str | Line | Verbatim | Table


@dataclass(frozen=True)
class Answer:
    """What a command has found."""

    members: Mapping[str, object]
    """The JSON object."""
    parts: Sequence[Part]
    """What people see."""
    notes: Iterable[str] = field(default=())
    """Lines for the standard error."""
    exit_code: int = 0


def members_of(thing: object, *names: str) -> dict[str, object]:
    """Return some members of a value by their names."""
    return {name: getattr(thing, name) for name in names}


def facts(title: str, values: Mapping[str, object]) -> Table:
    """Make a table of names and values."""
    return Table(title, None, values.items())


def bars(values: Sequence[float]) -> list[Bar]:
    """Make bars of numbers, the largest one of full length."""
    largest = max((value for value in values if value < math.inf), default=0.0) or 1.0
    return [Bar(min(1.0, value / largest)) for value in values]


def show(answer: Answer, *, as_json: bool) -> None:
    """Print an answer, to programs or to people."""
    if as_json:
        click.echo(json_text(answer.members))
    else:
        for part in answer.parts:
            _print_part(part)
    for note in answer.notes:
        print_aside(f"note: {note}")


def print_aside(text: str) -> None:
    """Print one line on the standard error; control characters are shown escaped."""
    click.echo(escaped(text), err=True)


def json_text(result: Mapping[str, object]) -> str:
    """Write a JSON object on one line, in ASCII without control characters.

    Infinity is the text "inf", and NaN is null.
    """
    # Infinities are rare: long lists of words are not walked through twice for them.
    try:
        text = json.dumps(result, default=_json_value, allow_nan=False)
    except ValueError:  # JSON has no infinity
        text = json.dumps(result, default=_json_value)
        text = json.dumps(json.loads(text, parse_constant=_CONSTANTS.__getitem__))
    return text.replace("\x7f", r"\u007f")  # the one that JSON does not escape


def format_value(value: object) -> str:
    """Write a value for people: numbers with six digits, or with commas between thousands."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "none" if math.isnan(value) else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _json_value(value: object) -> object:
    """Turn arrays into lists, and what JSON has no type for into text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _print_part(part: Part) -> None:
    if isinstance(part, Verbatim):
        texts, count = iter(part.texts), 1 if part.is_live else _TEXTS_AT_ONCE
        while text := "".join(islice(texts, count)):
            click.echo(text, nl=False)
    elif isinstance(part, Table):
        _print_table(part)
    else:
        line = Line(part) if isinstance(part, str) else part
        _console().print(escaped(line.text), style=line.style, soft_wrap=True)


def _print_table(table: Table) -> None:
    """Print a table; words too wide for the terminal are folded, and figures are not.

    A table whose figures have too little space side by side is printed in several parts, each of
    which begins with the first column.
    """
    header = table.header or ("", "")
    rows = [
        [value if isinstance(value, Bar) else escaped(format_value(value)) for value in row]
        for row in table.rows
    ]
    columns = [
        _Column(escaped(name), [row[place] for row in rows], table.is_boxed)
        for place, name in enumerate(header)
    ]
    console = _console()
    _print_part(table.title)
    # Columns are parted so that the least that each needs fits side by side.
    parts = [columns[:1]]
    for column in columns[1:]:
        if len(parts[-1]) > 1 and _width(table, [*parts[-1], column], "least") > console.width:
            parts.append(columns[:1])
        parts[-1].append(column)
    for part in parts:
        console.print(_rich_table(table, part, console.width))


class _Column:
    """A column of a table, and the space that it needs."""

    def __init__(self, header: str, cells: list[str | Bar], is_boxed: bool) -> None:
        from rich.cells import cell_len

        self.header, self.cells = header, cells
        texts = [cell for cell in cells if isinstance(cell, str)]
        self.is_bars = len(texts) < len(cells)
        self.is_figures = not self.is_bars and all(map(_FIGURE.fullmatch, texts))
        self.natural = max(map(cell_len, (header, *texts)))
        # Headers and texts are folded between words, a column of figures only in its header.
        if self.is_figures:
            self.least = max(map(cell_len, (*header.split(), *texts)), default=1)
        else:
            words = [word.strip("(),;:") for text in texts for word in text.split()]
            figures = [len(word) for word in words if _FIGURE.fullmatch(word)]
            # Beside many figures a text has less space: that of its longest word.
            longest = self.natural if is_boxed else max(map(cell_len, words), default=1) + 1
            self.least = max([*figures, min(self.natural, longest, _TEXT_WIDTH)])


def _width(table: Table, columns: Sequence[_Column], kind: str) -> int:
    """Return the width of some columns with the blanks and lines between them."""
    gap = 3 if table.is_boxed else 1
    widths: list[int] = [getattr(column, kind) for column in columns]
    return sum(widths) + gap * len(columns) + table.is_boxed


def _rich_table(table: Table, columns: Sequence[_Column], width: int) -> RichTable:
    from rich import box
    from rich.bar import Bar as RichBar
    from rich.table import Table as RichTable

    if table.is_boxed:
        shown = RichTable(show_header=table.header is not None, box=box.ROUNDED)
    else:
        shown = RichTable(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    is_narrow = _width(table, columns, "natural") > width
    for column in columns:
        is_aligned = table.header and (column is not columns[0] or not table.is_boxed)
        shown.add_column(
            column.header,
            justify="right" if column.is_figures and is_aligned else "left",
            overflow="fold",
            # Rich takes from all columns that may shrink: those of figures may not.
            width=column.least if column.is_figures and is_narrow else None,
            min_width=column.least,
            max_width=_BAR_WIDTH if column.is_bars else None,
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        shown.add_row(*(RichBar(1, 0, one.share) if isinstance(one, Bar) else one for one in row))
    return shown


def _console() -> Console:
    """Make the console of the standard output, which shows symbols as they are."""
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            # Rich would exit with 1, which means no here; the command line has its own way.
            raise BrokenPipeError

    # Symbols may look like markup or emoji codes.
    return PlainConsole(markup=False, emoji=False, highlight=False)
