"""``pdfalearn ask``: questions to an automaton, answered exactly over all of its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._answers import bars, named_states, number, plain, words_in
from pdfalearn.cli._ask_bounds import bounds
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_facts, print_json, print_line, print_table
from pdfalearn.text import symbol_text

if TYPE_CHECKING:
    from collections.abc import Iterable

_GIVEN = click.option(
    "--given", metavar="REGEX", help="Only words that match this regular expression count."
)
_COUNT = click.option(
    "--count", type=click.IntRange(min=0), default=10, metavar="N", help="How many."
)
_QUANTILES = "0.5,0.9,0.99"


@click.group(
    invoke_without_command=True,
    epilog=options.examples(
        "pdfalearn ask probability target.json '0.*1'",
        "pdfalearn ask likeliest target.json --count 3",
        "pdfalearn ask length target.json",
        "pdfalearn ask differences target.json learnt.json",
    ),
)
@click.pass_context
def ask(context: click.Context) -> None:
    """Ask an automaton about all of its words at once.

    Nothing is sampled: answers are exact up to rounding. Languages are regular expressions that
    whole words match, symbols being written one after the other.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


ask.add_command(bounds)


@ask.command(
    epilog=options.examples(
        "pdfalearn ask probability target.json '0.*1'",
        "pdfalearn ask probability target.json '.{0,3}' --given '0.*' --json",
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("language", metavar="REGEX")
@_GIVEN
@options.json_option
def probability(file: str, language: str, given: str | None, as_json: bool) -> None:
    """Compute the probability that a drawn word matches a regular expression."""
    value = pdfalearn.probability(automaton_of(file), language, given)
    if as_json:
        asked = {"file": file, "language": language, "given": given}
        print_json({**asked, "probability": value})
    else:
        print_line(number(value))


@ask.command(
    epilog=options.examples(
        "pdfalearn ask likeliest target.json --count 3",
        "pdfalearn ask likeliest target.json --language '0.*' --json",
        "pdfalearn ask likeliest target.json --prefixes 2",
    )
)
@click.argument("file", metavar="PDFA")
@_COUNT
@click.option("--language", metavar="REGEX", help="Only words that match it.")
@click.option(
    "--prefixes",
    type=click.IntRange(min=0),
    metavar="L",
    help="Beginnings of L symbols instead of words.",
)
@options.json_option
def likeliest(
    file: str, count: int, language: str | None, prefixes: int | None, as_json: bool
) -> None:
    """Find the likeliest words, in exact order.

    Words that are equally likely come by length, then in the order of the alphabet.
    """
    if language is not None and prefixes is not None:
        raise click.UsageError("Give only one of --language and --prefixes.")
    pdfa = automaton_of(file)
    if prefixes is None:
        found = list(pdfalearn.most_likely(pdfa, count, language))
    else:
        found = list(pdfalearn.most_likely_prefixes(pdfa, prefixes, count))
    if as_json:
        print_json({"file": file, "words": [vars(one) for one in found]})
        return
    shown = words_in(pdfa)
    rows = [(shown(one.word), number(one.probability)) for one in found]
    print_table(file, ("word" if prefixes is None else "beginning", "probability"), rows)


@ask.command(
    epilog=options.examples(
        "pdfalearn ask length target.json",
        "pdfalearn ask length target.json --quantiles 0.25,0.75 --json",
    )
)
@click.argument("file", metavar="PDFA")
@click.option("--quantiles", default=_QUANTILES, metavar="Q[,Q...]", help="Shares from 0 to 1.")
@options.json_option
def length(file: str, quantiles: str, as_json: bool) -> None:
    """Compute how long words are: mean, deviation, quantiles, and a picture."""
    result = pdfalearn.length(automaton_of(file))
    shares = _numbers(quantiles)
    reached = {share: result.quantile(share) for share in shares}
    facts = {
        "mean": result.mean,
        "error": result.error,
        "deviation": result.deviation,
        "never_end": result.endless_mass,
    }
    if as_json:
        shown = {name: plain(value) for name, value in facts.items()}
        at = {f"{share:g}": plain(value) for share, value in reached.items()}
        states = {"endless_states": result.endless_states}
        print_json({"file": file, **shown, "quantiles": at, **states})
        return
    table = {
        "mean": f"{number(result.mean)} (error at most {result.error:.1g})",
        "standard deviation": number(result.deviation),
        **{f"quantile {share:g}": number(value) for share, value in reached.items()},
        "never end": number(result.endless_mass) + named_states(result.endless_states),
    }
    print_facts(file, table)
    _print_lengths(result.distribution(_last_bar(reached.values())).tolist())


@ask.command(
    epilog=options.examples(
        "pdfalearn ask entropy target.json", "pdfalearn ask entropy target.json --json"
    )
)
@click.argument("file", metavar="PDFA")
@options.json_option
def entropy(file: str, as_json: bool) -> None:
    """Compute the entropy of the words, in nats, and what it is per symbol."""
    result = pdfalearn.entropy(automaton_of(file))
    if as_json:
        values = {"per_word": plain(result.per_word), "per_symbol": plain(result.per_symbol)}
        print_json({"file": file, **values, "endless_states": result.endless_states})
        return
    per_word = number(result.per_word) + named_states(result.endless_states)
    print_facts(file, {"per word": per_word, "per symbol": number(result.per_symbol)})


@ask.command(
    epilog=options.examples(
        "pdfalearn ask count target.json '.*01'", "pdfalearn ask count target.json '.*0' --json"
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("language", metavar="REGEX")
@options.json_option
def count(file: str, language: str, as_json: bool) -> None:
    """Compute how many prefixes of a word are expected to match a regular expression.

    '.*01' counts how often 01 occurs in a word, '.*0' how often 0 does.
    """
    value = pdfalearn.expected_count(automaton_of(file), language)
    if as_json:
        print_json({"file": file, "language": language, "expected": plain(value)})
    else:
        print_line(number(value))


@ask.command(
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


@ask.command(
    epilog=options.examples(
        "pdfalearn ask differences target.json learnt.json",
        "pdfalearn ask differences target.json learnt.json --count 3 --json",
    )
)
@click.argument("a")
@click.argument("b")
@_COUNT
@options.json_option
def differences(a: str, b: str, count: int, as_json: bool) -> None:
    """Find where two automata part: the words and prefixes that make most of the difference.

    Shares are of the squared Hellinger distance. The words say what is more or less likely in the
    end, the prefixes after which of them the next symbols are.
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


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is not a number, nor several as in {_QUANTILES}", param_hint="--quantiles"
        ) from error


def _last_bar(lengths: Iterable[float]) -> int:
    """Return the greatest length to draw: not much more than what fits on a screen."""
    return int(max(1, min(24, max((x for x in lengths if x < 2**31), default=0))))


def _print_lengths(values: list[float]) -> None:
    rows = [
        (str(at), number(value), bar)
        for at, (value, bar) in enumerate(zip(values, bars(values), strict=True))
    ]
    print_table("lengths", ("symbols", "probability", ""), rows)
