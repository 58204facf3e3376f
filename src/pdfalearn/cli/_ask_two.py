"""``pdfalearn ask distances`` and ``ask differences``: how far apart two automata are."""

from __future__ import annotations

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._answers import count_option, number, plain, words_in
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_facts, print_json, print_table
from pdfalearn.text import symbol_text


@click.command(
    epilog=options.examples(
        "pdfalearn ask distances target.json learnt.json",
        "pdfalearn ask distances target.json learnt.json --json",
    )
)
@click.argument("a")
@click.argument("b")
@options.json_option
def distances(a: str, b: str, as_json: bool) -> None:
    """Compute how far the words of two automata are apart.

    The total variation, which is the greatest difference of the probabilities of one set of words,
    is bounded by the others. 'pdfalearn divergence' has the Kullback-Leibler divergence.
    """
    result = pdfalearn.distances(automaton_of(a), automaton_of(b))
    if as_json:
        print_json({"a": a, "b": b, **{name: plain(v) for name, v in vars(result).items()}})
        return
    low, high = result.total_variation_low, result.total_variation_high
    facts = {
        "Hellinger": number(result.hellinger),
        "Bhattacharyya": number(result.bhattacharyya),
        "L2": number(result.l2),
        "total variation": f"from {number(low)} to {number(high)}",
        "pairs of states": f"{result.pairs:,}",
    }
    print_facts(f"A: {a}, B: {b}", facts)


@click.command(
    epilog=options.examples(
        "pdfalearn ask differences target.json learnt.json",
        "pdfalearn ask differences target.json learnt.json --count 3 --json",
    )
)
@click.argument("a")
@click.argument("b")
@count_option
@options.json_option
def differences(a: str, b: str, count: int, as_json: bool) -> None:
    """Find where two automata part.

    These are the words and prefixes that make most of the difference. Shares are of the squared
    Hellinger distance. The words say what is more or less likely in the end, the prefixes after
    which of them the next symbols are.
    """
    pdfa = automaton_of(a)
    result = pdfalearn.differences(pdfa, automaton_of(b), count)
    if as_json:
        parts = {"words": result.words, "prefixes": result.prefixes}
        found = {name: [vars(one) for one in some] for name, some in parts.items()}
        print_json({"a": a, "b": b, "squared_hellinger": result.squared_hellinger, **found})
        return
    shown = words_in(pdfa)
    ways = ("A", "B")
    words = [
        (shown(one.word), *map(number, (one.share, one.probability_a, one.probability_b)))
        for one in result.words
    ]
    print_table(f"A: {a}, B: {b}", ("word", "share", *ways), words)
    prefixes = [
        (
            shown(one.prefix),
            symbol_text(one.symbol),
            *map(number, (one.share, one.probability_a, one.probability_b)),
        )
        for one in result.prefixes
    ]
    print_table("where it arises", ("after", "next", "share", *ways), prefixes)
