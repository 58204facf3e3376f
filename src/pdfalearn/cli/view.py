"""``pdfalearn view``: an interactive page of an automaton, a run, a frontier, or two automata."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_aside, print_json, print_line
from pdfalearn.files import check_can_write

if TYPE_CHECKING:
    from pdfalearn.viewing import Page


@click.command(
    epilog=options.examples(
        "pdfalearn view target.json",
        "pdfalearn view target.json -o page.html --title 'The target'",
        "pdfalearn distill target.json --symbols 2000 -o frontier.zip",
        "pdfalearn view frontier.zip",
        "pdfalearn view target.json frontier.zip -o both.html",
    )
)
@click.argument("file")
@click.argument("other", required=False)
@options.output_option("Write the page here; FILE's name in .html if not given.", required=False)
@click.option("--title", metavar="TEXT", help="The title of the page; FILE's name if not given.")
@click.option("--open", "opened", is_flag=True, help="Open the page in the default browser.")
@options.json_option
def view(
    file: str,
    other: str | None,
    output: Path | None,
    title: str | None,
    opened: bool,
    as_json: bool,
) -> None:
    """Write an interactive page of an automaton for browsers.

    FILE is what other commands read. The page is one file that needs no network: the likely core of
    the automaton as a picture, distributions, and words followed step by step. Of a run (.zip, of
    'pdfalearn learn') it shows the classification tree, how the run went and what it cost too; of a
    frontier (.zip, of 'pdfalearn distill') the curve, and all automata. With OTHER, a second
    automaton over the same symbols, it shows where the two differ.
    """
    path = output or Path(Path(file).name).with_suffix(".html")
    check_can_write(path, {".html": pdfalearn.viewing.Page.write})
    page = _page_of(file, other, title)
    page.save(path)
    if opened:
        _open(path)
    if as_json:
        print_json({"file": file, "other": other, "page": str(path), "bytes": path.stat().st_size})
    else:
        print_line(f"{path}: {path.stat().st_size:,} bytes; open it in a browser")


def _page_of(file: str, other: str | None, title: str | None) -> Page:
    """Make the page of what one file holds, or of the automata of two."""
    if other is None:
        return pdfalearn.view(_thing_in(file), title=title or Path(file).name)
    both = title or f"A: {Path(file).name}, B: {Path(other).name}"
    return pdfalearn.view(automaton_of(file), automaton_of(other), title=both)


def _open(path: Path) -> None:
    """Show a page in the default browser."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        print_aside("no browser was found; open the page by hand")


def _thing_in(file: str) -> object:
    """Read what an archive holds, or find an automaton by its name."""
    return pdfalearn.load(file) if file.lower().endswith(".zip") else automaton_of(file)
