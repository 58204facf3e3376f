"""Languages given on the command line, and how answers about them are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.text import are_characters, short_word_text

if TYPE_CHECKING:
    from pdfalearn import PDFA
    from pdfalearn.languages import LanguageLike

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
        return pdfalearn.languages.BeginsWith(word)
    if form == "ends":
        return pdfalearn.languages.EndsWith(word)
    return pdfalearn.languages.Contains(word) if form == "contains" else [word]


def word_of(text: str, pdfa: PDFA) -> tuple[object, ...]:
    """Return the word of an argument, which is as 'pdfalearn sample' prints it."""
    from pdfalearn.io import WordNotation

    try:
        return pdfa.alphabet.decode(WordNotation(pdfa.alphabet).codes(text))
    except KeyError as error:
        raise pdfalearn.errors.InputError(
            f"the word {text!r}: symbol {error.args[0]!r} is not in the alphabet"
        ) from error


count_option = click.option(
    "--count", type=click.IntRange(min=0), default=10, metavar="N", help="How many."
)
_WIDTH = 40
_MOST_STATES = 5


def number(value: float) -> str:
    """Write a number with six digits."""
    return "none" if math.isnan(value) else f"{value:.6g}"


def plain(value: float) -> float | str | None:
    """Make a JSON value of a number: infinity is the text "inf", and NaN is null."""
    if math.isnan(value):
        return None
    return "inf" if math.isinf(value) else value


def bars(values: Sequence[float]) -> list[str]:
    """Draw numbers as bars, the largest one as wide as there is room."""
    largest = max((value for value in values if value < math.inf), default=0.0) or 1.0
    return ["█" * round(_WIDTH * min(1.0, value / largest)) for value in values]


def words_in(pdfa: PDFA) -> Callable[[Sequence[object]], str]:
    """Return a function that writes words of an automaton for a table."""
    joined = are_characters(pdfa.alphabet)
    return lambda word: short_word_text(word, joined=joined)


def named_states(states: Sequence[int]) -> str:
    """Name the states in which words never end."""
    if not states:
        return ""
    more = "" if len(states) <= _MOST_STATES else f" and {len(states) - _MOST_STATES:,} more"
    return f" (words do not end from state {', '.join(map(str, states[:_MOST_STATES]))}{more})"
