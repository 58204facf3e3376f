"""``pdfalearn score``: how likely an automaton finds the words of a file."""

from __future__ import annotations

from collections.abc import Iterator

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._answers import bars, number, plain
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_facts, print_json, print_table
from pdfalearn.cli._words import STANDARD_INPUT, word_lines
from pdfalearn.text import symbol_text


@click.command(
    epilog=options.examples(
        "pdfalearn sample target.json --count 1000 > words.txt",
        "pdfalearn score learnt.json words.txt",
        "pdfalearn score learnt.json words.txt --line 3",
        "pdfalearn score learnt.json words.txt --json",
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("words", metavar="WORDS")
@click.option(
    "--line",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the surprise of line N, symbol by symbol, instead.",
)
@options.json_option
def score(file: str, words: str, line: int | None, as_json: bool) -> None:
    """Score the words of a file, which may have any size.

    It has one word a line, as 'pdfalearn sample' prints them; with - the words are read from the
    standard input. Words of probability 0 are counted
    apart, with the step that is impossible; the perplexity is over all others. The surprise of a
    symbol is -ln of its probability.
    """
    pdfa = automaton_of(file)
    if line is not None:
        _print_line(pdfa, words, line, as_json=as_json)
        return
    result = pdfalearn.score(pdfa, _given(pdfa, words))
    impossible = [vars(one) for one in result.first_impossible]
    facts = {
        "words": result.words,
        "symbols": result.symbols,
        "impossible": result.impossible,
        "log_probability": result.log_probability,
        "perplexity": plain(result.perplexity),
    }
    if as_json:
        print_json({"file": file, "corpus": words, **facts, "first_impossible": impossible})
        return
    table = {
        "words": f"{result.words:,}",
        "symbols": f"{result.symbols:,}",
        "impossible words": f"{result.impossible:,}",
        "log-probability of the others": number(result.log_probability),
        "their perplexity": number(result.perplexity),
    }
    print_facts(f"{words} by {file}", table)
    if impossible:
        rows = [
            (f"{one.number:,}", f"{one.position:,}", symbol_text(one.symbol))
            for one in result.first_impossible[:10]
        ]
        print_table("impossible", ("line", "after", "symbol"), rows)


def _given(pdfa: pdfalearn.PDFA, words: str) -> str | list[tuple[object, ...]]:
    """Return the name of a file of words, or the words of the standard input."""
    if words != STANDARD_INPUT:
        return words
    return pdfa.alphabet.decode_words(word_lines(words).encoded(pdfa.alphabet))


def _print_line(pdfa: pdfalearn.PDFA, path: str, line: int, *, as_json: bool) -> None:
    word = _word(pdfa, path, line)
    values = pdfalearn.analysis.surprisals(pdfa, word).tolist()
    symbols = (*word, pdfa.terminal)
    if as_json:
        print_json({"line": line, "symbols": symbols, "surprises": list(map(plain, values))})
        return
    rows = [
        (symbol_text(symbol), number(value), bar)
        for symbol, value, bar in zip(symbols, values, bars(values), strict=True)
    ]
    print_table(f"{path}, line {line}", ("symbol", "surprise", ""), rows)


def _word(pdfa: pdfalearn.PDFA, path: str, line: int) -> tuple[object, ...]:
    """Return the word of a line of a file, or of the standard input."""
    from itertools import islice

    from pdfalearn.io import encode_lines

    given = _given(pdfa, path)
    lines: Iterator[tuple[object, ...]]
    if isinstance(given, str):
        lines = (
            pdfa.alphabet.decode_words(one)[0] for one in encode_lines(given, pdfa.alphabet, 1)
        )
    else:
        lines = iter(given)
    word = next(islice(lines, line - 1, None), None)
    if word is None:
        raise pdfalearn.errors.InputError(f"{path} has no line {line}")
    return word
