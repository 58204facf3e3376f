"""``pdfalearn ask``: questions to an automaton, answered exactly over all of its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._answers import (
    bars,
    count_option,
    form_option,
    language_of,
    named_states,
    number,
    plain,
    words_in,
)
from pdfalearn.cli._ask_more import bounds, differences, distances
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_facts, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pdfalearn.analysis import Length

_GIVEN = click.option(
    "--given", metavar="REGEX", help="Only words that match this regular expression count."
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
    whole words match, symbols being written one after the other; with --as they are given by a
    word. For other conditions than --given, keep those words first: see 'pdfalearn condition'.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (bounds, distances, differences):
    ask.add_command(command)


@ask.command(
    epilog=options.examples(
        "pdfalearn ask probability target.json '0.*1'",
        "pdfalearn ask probability target.json '.{0,3}' --given '0.*' --json",
        "pdfalearn ask probability target.json 011 --as contains",
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("language")
@form_option
@_GIVEN
@options.json_option
def probability(file: str, language: str, form: str, given: str | None, as_json: bool) -> None:
    """Compute the probability that a drawn word is in a language.

    Words that never end are in no language; if there are such words, a line says how likely they
    are.
    """
    pdfa = automaton_of(file)
    value = pdfalearn.probability(pdfa, language_of(language, form, pdfa), given)
    lengths = pdfalearn.analysis.length(pdfa)
    if as_json:
        asked = {"file": file, "language": language, "as": form, "given": given}
        print_json({**asked, "probability": value, "never_end": lengths.endless_mass})
        return
    print_line(number(value))
    if lengths.endless_mass:
        states = named_states(lengths.endless_states)
        print_line(f"{number(lengths.endless_mass)} of all words never end{states}")


@ask.command(
    epilog=options.examples(
        "pdfalearn ask likeliest target.json --count 3",
        "pdfalearn ask likeliest target.json --language '0.*' --json",
        "pdfalearn ask likeliest target.json --prefixes 2",
    )
)
@click.argument("file", metavar="PDFA")
@count_option
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
        found = list(pdfalearn.analysis.most_likely_prefixes(pdfa, prefixes, count))
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
    """Compute how long words are.

    There are mean, deviation and quantiles, and a picture.
    """
    result = pdfalearn.analysis.length(automaton_of(file))
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
        "mean": number(result.mean) + _error_of(result),
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
    """Compute the entropy per word and per symbol.

    It is in nats.
    """
    result = pdfalearn.analysis.entropy(automaton_of(file))
    if as_json:
        values = {"per_word": plain(result.per_word), "per_symbol": plain(result.per_symbol)}
        print_json({"file": file, **values, "endless_states": result.endless_states})
        return
    per_word = number(result.per_word) + named_states(result.endless_states)
    print_facts(file, {"per word": per_word, "per symbol": number(result.per_symbol)})


@ask.command(
    epilog=options.examples(
        "pdfalearn ask count target.json '.*01'",
        "pdfalearn ask count target.json 01 --as ends --json",
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("language")
@form_option
@options.json_option
def count(file: str, language: str, form: str, as_json: bool) -> None:
    """Compute how often a language is met in a word.

    It is the expected number of the word's prefixes that are in the language.

    '.*01', or 01 --as ends, counts how often 01 occurs in a word.
    """
    pdfa = automaton_of(file)
    value = pdfalearn.analysis.expected_count(pdfa, language_of(language, form, pdfa))
    if as_json:
        print_json({"file": file, "language": language, "as": form, "expected": plain(value)})
    else:
        print_line(number(value))


@ask.command(
    epilog=options.examples(
        "pdfalearn ask visits target.json --count 3", "pdfalearn ask visits target.json --json"
    )
)
@click.argument("file", metavar="PDFA")
@count_option
@options.json_option
def visits(file: str, count: int, as_json: bool) -> None:
    """Compute how often a word visits the states.

    These are expected numbers, of transitions too. The table has the states that are visited most;
    as JSON there are all, with their transitions.
    """
    pdfa = automaton_of(file)
    result = pdfalearn.analysis.expected_visits(pdfa)
    if as_json:
        states = list(map(plain, result.states.tolist()))
        transitions = [list(map(plain, row)) for row in result.transitions.tolist()]
        endless = {"endless_states": result.endless_states}
        print_json({"file": file, "states": states, "transitions": transitions, **endless})
        return
    most = (-result.states).argsort(kind="stable")[:count].tolist()
    values = [float(result.states[state]) for state in most]
    rows = list(zip(map(str, most), map(number, values), bars(values), strict=True))
    print_table(file, ("state", "visits", ""), rows)


def _error_of(result: Length) -> str:
    return "" if result.endless_states else f" (error at most {result.error:.1g})"


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
