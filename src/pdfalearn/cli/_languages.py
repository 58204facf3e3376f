"""How a language is given on the command line: as a regular expression, or by a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import pdfalearn

if TYPE_CHECKING:
    from pdfalearn import PDFA
    from pdfalearn.languages.kinds import LanguageLike

_FORMS = ("regex", "word", "begins", "ends", "contains")

form_option = click.option(
    "--as",
    "form",
    type=click.Choice(_FORMS),
    default="regex",
    help="What LANGUAGE is: a regular expression, or a word as 'pdfalearn sample' prints it, and "
    "with 'begins', 'ends' and 'contains' all words that do so.",
)


def language_of(text: str, form: str, pdfa: PDFA) -> LanguageLike:
    """Return the language that an argument and the option --as describe."""
    if form == "regex":
        return text
    word = word_of(text, pdfa)
    if form == "begins":
        return pdfalearn.BeginsWith(word)
    if form == "ends":
        return pdfalearn.EndsWith(word)
    return pdfalearn.Contains(word) if form == "contains" else [word]


def word_of(text: str, pdfa: PDFA) -> tuple[object, ...]:
    """Return the word of an argument, which is as 'pdfalearn sample' prints it."""
    from pdfalearn.formats.word_files import WordNotation

    try:
        return pdfa.alphabet.decode(WordNotation(pdfa.alphabet).codes(text))
    except KeyError as error:
        raise pdfalearn.InputError(
            f"the word {text!r}: symbol {error.args[0]!r} is not in the alphabet"
        ) from error
