"""``pdfalearn ask bounds``: what an answer is at least and at most for the model behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._answers import plain
from pdfalearn.cli._languages import form_option, language_of
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_json, print_line

if TYPE_CHECKING:
    from pdfalearn import Bounds


@click.command(
    epilog=options.examples(
        "pdfalearn ask bounds target.json '0.*1' --kappa 1000",
        "pdfalearn ask bounds target.json --kappa 1000 --json",
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("language", required=False)
@form_option
@click.option("--given", metavar="REGEX", help="Only words that match it count.")
@click.option(
    "--kappa", type=int, metavar="K", help="The classes: each probability in one of K intervals."
)
@options.json_option
def bounds(
    file: str,
    language: str | None,
    form: str,
    given: str | None,
    kappa: int | None,
    as_json: bool,
) -> None:
    """Bound a probability, or the expected length.

    Without a language, it is the length that is bounded. The bounds hold for every model whose
    answers are in the classes of the automaton's states. The file of a whole run (.zip) knows its
    classes, and what its certificate says of the model.
    """
    if given is not None and language is None:
        raise click.UsageError("--given needs a language.")
    found = _bounds(file, language, form, given, kappa)
    if as_json:
        values = {name: plain(getattr(found, name)) for name in ("low", "high", "confidence")}
        shown = {"holds_for": found.holds_for, "blamed": list(found.blamed)}
        asked = {"file": file, "language": language, "as": form, "given": given}
        print_json({**asked, **values, **shown})
    else:
        print_line(str(found))


def _bounds(
    file: str, language: str | None, form: str, given: str | None, kappa: int | None
) -> Bounds:
    is_run = file.lower().endswith(".zip") and kappa is None
    if not is_run and kappa is None:
        raise click.UsageError("Give --kappa, the classes, or the file of a whole run (.zip).")
    automaton = pdfalearn.load(file) if is_run else automaton_of(file)
    by = None if kappa is None else pdfalearn.Quantization(kappa)
    if language is None:
        return pdfalearn.length_bounds(automaton, by=by)
    asked = language if form == "regex" else language_of(language, form, automaton_of(file))
    return pdfalearn.probability_bounds(automaton, asked, by=by, given=given)
