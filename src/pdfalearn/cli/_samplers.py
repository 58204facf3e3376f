"""What draws the words that a model is asked about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli._words import corpus_of

if TYPE_CHECKING:
    from pdfalearn import Sampler


def sampler_of(max_length: int | None, corpus: Path | None) -> Sampler | None:
    """Return what --max-length or --corpus stands for; None for the default."""
    if corpus is None:
        return None if max_length is None else pdfalearn.ModelWords(max_length)
    if max_length is not None:
        raise click.UsageError("--max-length is for words of the model, not for --corpus.")
    return corpus_of(corpus)
