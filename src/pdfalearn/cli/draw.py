"""``pdfalearn draw`` and ``pdfalearn view``: pictures and pages of automata."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen, read_automaton
from pdfalearn.cli._commands import command
from pdfalearn.cli._options import CORPUS, option, output
from pdfalearn.cli._output import Answer, print_aside
from pdfalearn.cli._words import read_watch, read_words, word_of

if TYPE_CHECKING:
    from pdfalearn.viewing import Page

_STYLE = ("most_states", "least", "digits", "direction", "marked", "title")


@command("PDFA", output("Where to draw it: .svg, .png, .pdf or .dot."), *_STYLE, "word")
def draw(chosen: Chosen) -> Answer:
    """Draw a picture of a PDFA of any size that can be read.

    The ending of the file is .svg, .png or .pdf, drawn by Graphviz, or .dot for its input. What is
    left out is said in the picture.

    Examples
    --------
    $ pdfalearn draw small.json -o small.svg
    $ pdfalearn draw large.npz -o core.pdf --most-states 20 --title 'The likely core'
    $ pdfalearn draw small.json -o way.png --word 0110 --direction down
    """
    chosen.refuse_overwriting(chosen.pdfa)
    pdfalearn.viewing.check_picture(chosen.output)
    pdfa = read_automaton(chosen.pdfa)
    word = None if chosen.word is None else word_of(chosen.word, pdfa.alphabet)
    drawn = pdfalearn.draw(pdfa, chosen.output, word=word, **chosen.collect(*_STYLE))
    members = {"file": chosen.pdfa, "output": chosen.output, "states": len(pdfa)}
    return Answer(
        {**members, "drawn": drawn.states, "note": drawn.note},
        [f"{chosen.output}: {drawn.note or f'{len(pdfa):,} states'}"],
    )


@command(
    "FILE [OTHER]",
    option("output", "Write the page here; FILE's name in .html if not given."),
    option("title", "The title of the page; FILE's name if not given.", default=None),
    "opened corpora",
    *CORPUS,
)
def view(chosen: Chosen) -> Answer:
    """Write an interactive page of an automaton for browsers.

    FILE is what other commands read. The page is one file that needs no network: the likely core of
    the automaton as a picture, distributions, and words followed step by step. Of a run (.zip, of
    'pdfalearn learn') it shows the classification tree, how the run went and what it cost too; of a
    frontier (.zip, of 'pdfalearn distill') the curve, and all automata. With OTHER, a second
    automaton over the same symbols, it shows where the two differ.

    With --corpus, arrows are as wide as often the words of a file take them, and odd words are
    listed, each with the step where it is odd; with two of them, you see what has changed. With
    --json, all of that is printed, too.

    Examples
    --------
    $ pdfalearn view target.json
    $ pdfalearn view target.json -o page.html --title 'The target'
    $ pdfalearn distill target.json --symbols 2000 -o frontier.zip
    $ pdfalearn view frontier.zip
    $ pdfalearn view target.json frontier.zip -o both.html
    $ pdfalearn view usual.json --corpus sessions.txt -o sessions.html
    $ pdfalearn view usual.json --corpus monday.txt --corpus friday.txt -o changed.html --json
    """
    import webbrowser

    from pdfalearn.files import check_can_write

    path = chosen.output or Path(Path(chosen.file).name).with_suffix(".html")
    check_can_write(path, {".html": pdfalearn.viewing.Page.write})
    if chosen.corpora:
        page, found = _page_with_words(chosen)
    else:
        chosen.refuse(CORPUS, "is for --corpus.")
        page, found = _page_of(chosen.file, chosen.other, chosen.title), {}
    page.save(path)
    if chosen.opened and not webbrowser.open(path.resolve().as_uri()):
        print_aside("no browser was found; open the page by hand")
    size = path.stat().st_size
    members = {"file": chosen.file, "other": chosen.other, "output": path, "bytes": size}
    return Answer({**members, **found}, [f"{path}: {size:,} bytes; open it in a browser"])


def _page_with_words(chosen: Chosen) -> tuple[Page, dict[str, object]]:
    """Make the page of an automaton with one or two files of words, and say what it shows."""
    if chosen.other is not None or len(chosen.corpora) > 2:
        raise click.UsageError("Give one automaton with one or two --corpus.")
    watch = read_watch(chosen.file)
    pdfa = watch.pdfa
    read = [read_words(watch, chosen, (name,)) for name in chosen.corpora]
    corpora, names = [one.corpus for one in read], read[0].names if len(read) == 1 else None
    files = " and ".join(Path(name).name for name in chosen.corpora)
    title = chosen.title or f"{Path(chosen.file).name} with {files}"
    page = pdfalearn.view(pdfa, *corpora, title=title, names=names)
    return page, {"corpora": chosen.corpora}


def _page_of(file: str, other: str | None, title: str | None) -> Page:
    """Make the page of what one file holds, or of the automata of two."""
    if other is not None:
        both = title or f"A: {Path(file).name}, B: {Path(other).name}"
        return pdfalearn.view(read_automaton(file), read_automaton(other), title=both)
    is_archive = file.lower().endswith(".zip")
    thing = pdfalearn.load(file) if is_archive else read_automaton(file)
    return pdfalearn.view(thing, title=title or Path(file).name)
