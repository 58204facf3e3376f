"""Files of words on the command line, - for the standard input, and what draws words."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

import pdfalearn
from pdfalearn.errors import FileFormatError

if TYPE_CHECKING:
    from pdfalearn import Corpus
    from pdfalearn.io import WordLines
    from pdfalearn.samplers import Sampler

STANDARD_INPUT = "-"
_TAKEN = "pdfalearn.standard_input"


def word_lines(path: str | Path) -> WordLines:
    """Read all lines of a file of words, or of the standard input."""
    from pdfalearn.io import WordLines

    if str(path) != STANDARD_INPUT:
        return WordLines.read(path)
    stream = TextIOWrapper(_standard_input(), encoding="utf-8-sig")
    try:
        return WordLines("the standard input", [line.removesuffix("\n") for line in stream])
    except UnicodeDecodeError as error:
        raise FileFormatError(f"the standard input: not a text in UTF-8 ({error})") from error
    finally:
        stream.detach()


def corpus_of(path: str | Path) -> Corpus:
    """Make a corpus of a file of words, or of the standard input."""
    import pdfalearn

    return pdfalearn.Corpus(word_lines(path) if str(path) == STANDARD_INPUT else path)


def _standard_input() -> BinaryIO:
    """Return the standard input, which a command can read only once."""
    context = click.get_current_context().find_root()
    if context.meta.get(_TAKEN):
        raise click.UsageError("The standard input can be read only once: give - only once.")
    context.meta[_TAKEN] = True
    if sys.stdin is None:
        raise click.UsageError("There is no standard input to read: name a file instead of -.")
    return cast("BinaryIO", sys.stdin.buffer)


def sampler_of(max_length: int | None, corpus: Path | None) -> Sampler | None:
    """Return what --max-length or --corpus stands for; None for the default."""
    if corpus is None:
        return None if max_length is None else pdfalearn.samplers.ModelWords(max_length)
    if max_length is not None:
        raise click.UsageError("--max-length is for words of the model, not for --corpus.")
    return corpus_of(corpus)
