"""What commands print: one JSON object for scripts, tables for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from pdfalearn.text import escaped

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod
    from rich.table import Table


def print_json(result: Mapping[str, object]) -> None:
    """Print one JSON object on one line, in ASCII, which every encoding can write."""
    click.echo(json_text(result))


def json_text(result: Mapping[str, object]) -> str:
    """Write a JSON object on one line, in ASCII without control characters."""
    text = json.dumps(result, default=str, allow_nan=False)
    return text.replace("\x7f", r"\u007f")  # the one that JSON does not escape


def print_line(text: str, style: str = "") -> None:
    """Print one line, coloured where the terminal can; control characters are shown escaped."""
    console().print(escaped(text), style=style, soft_wrap=True)


def print_aside(text: str) -> None:
    """Print one line on the standard error; control characters are shown escaped."""
    click.echo(escaped(text), err=True)


def print_facts(title: str, facts: Mapping[str, str]) -> None:
    """Print a table of names and values."""
    print_table(title, ("", ""), facts.items(), show_header=False)


def print_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    show_header: bool = True,
    figures: bool = False,
) -> None:
    """Print a table; cells too wide for the terminal are folded, and nothing is cut off.

    Control characters are shown escaped. Figures, in all columns but the first, are aligned to the
    right.
    """
    from rich import box
    from rich.table import Table

    table = Table(show_header=show_header, box=box.ROUNDED)
    for place, name in enumerate(header):
        side: JustifyMethod = "right" if figures and place else "left"
        table.add_column(escaped(name), justify=side, overflow="fold")
    _print_rows(title, table, rows)


def print_figures(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of many columns without lines: figures to the right, the last one a remark."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name in header[:-1]:
        table.add_column(escaped(name), justify="right", overflow="fold")
    table.add_column(escaped(header[-1]), overflow="fold")
    _print_rows(title, table, rows)


def _print_rows(title: str, table: Table, rows: Iterable[Sequence[str]]) -> None:
    for row in rows:
        table.add_row(*map(escaped, row))
    print_line(title)
    console().print(table)


def console(*, stderr: bool = False) -> Console:
    """Make the console of the standard output or error, which shows symbols as they are."""
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            # Rich would exit with 1, which means no here; the command line has its own way.
            raise BrokenPipeError

    # Symbols may look like markup or emoji codes.
    return PlainConsole(stderr=stderr, markup=False, emoji=False, highlight=False)
