"""``pdfalearn refit``: the same automaton with rows of a model or of words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import (
    Constraints,
    Described,
    automaton_of,
    model_of,
    model_options,
    prints_aside,
)
from pdfalearn.cli._options import DEFAULT_SYMBOLS
from pdfalearn.cli._output import print_json, print_line
from pdfalearn.cli._words import sampler_of, word_lines

if TYPE_CHECKING:
    from pdfalearn import PDFA


@click.command(
    epilog=options.examples(
        "pdfalearn refit learnt.json target.json -o fitted.json",
        "pdfalearn refit learnt.json target.json --transitions --symbols 5000 --seed 7 "
        "-o fitted.json",
        "pdfalearn sample target.json --count 1000 > words.txt",
        "pdfalearn refit learnt.json --corpus words.txt -o fitted.json",
        "pdfalearn divergence target.json fitted.json",
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("source", required=False)
@options.corpus_option(
    "A text file of words, one a line, as 'pdfalearn sample' prints them: fit to what follows in "
    "them; with SOURCE, to its answers along them."
)
@click.option(
    "--transitions", is_flag=True, help="Move transitions, too, where that predicts better."
)
@click.option(
    "--symbols",
    type=click.IntRange(min=1),
    metavar="N",
    show_default=str(DEFAULT_SYMBOLS),
    help="Ask at most this many symbols of SOURCE.",
)
@click.option(
    "--max-length",
    type=click.IntRange(min=1),
    metavar="L",
    show_default="a fiftieth of --symbols, from 20 to 1000",
    help="Cut longer words of SOURCE here.",
)
@options.output_option("Where to write the result.")
@click.option("--seed", type=options.SEED, metavar="S", show_default="0", help="Seed of the words.")
@model_options
@options.json_option
def refit(
    file: str,
    source: str | None,
    corpus: Path | None,
    transitions: bool,
    symbols: int | None,
    max_length: int | None,
    output: Path,
    seed: int | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Re-estimate the rows of a PDFA and keep its states.

    SOURCE is a model, named as 'pdfalearn models' says: every row becomes the mean of its answers
    over words that reach the state. Without SOURCE, every row becomes the mean of what follows in
    the words of --corpus. Either is drawn a little to the row that was there before, as if one word
    had shown it. An automaton that was learnt has rows of single words, and gets better by this.

    SOURCE needs the same symbols as PDFA, in the same order.
    """
    pdfalearn.io.check_can_save(output)
    pdfa = automaton_of(file)
    if source is None:
        _check_no_model(chosen | {"symbols": symbols, "max_length": max_length, "seed": seed})
        result = _fitted_to_words(pdfa, corpus, transitions)
    else:
        constraints = Constraints.taken_from(chosen)
        model = constraints.around(model_of(source, Described.taken_from(chosen)))
        with prints_aside():
            result = pdfalearn.refit(
                pdfa,
                model,
                transitions=transitions,
                budget=pdfalearn.Budget(max_symbols=symbols or DEFAULT_SYMBOLS),
                sampler=sampler_of(max_length, corpus),
                seed=seed or 0,
            )
    pdfalearn.save(result, output)
    if as_json:
        given = {"file": file, "source": source, "corpus": corpus, "transitions": transitions}
        print_json({**given, "output": str(output), "states": len(result)})
    else:
        print_line(f"{output}: {len(result):,} states, fitted to {source or corpus}")


def _check_no_model(chosen: dict[str, Any]) -> None:
    """Refuse options that need a model to ask."""
    for name, value in chosen.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} needs a SOURCE to ask.")


def _fitted_to_words(pdfa: PDFA, corpus: Path | None, transitions: bool) -> PDFA:
    if corpus is None:
        raise click.UsageError("Give a SOURCE to ask, or --corpus FILE with words.")
    words = pdfa.alphabet.decode_words(word_lines(corpus).encoded(pdfa.alphabet))
    return pdfalearn.refit(pdfa, words, transitions=transitions)
