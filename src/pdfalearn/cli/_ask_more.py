"""``pdfalearn ask`` bounds, distances and differences: questions about a model or two automata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._answers import count_option, form_option, language_of, number, plain, words_in
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_facts, print_json, print_line, print_table
from pdfalearn.text import symbol_text

if TYPE_CHECKING:
    from pdfalearn.results import Bounds


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
    equivalence = None if kappa is None else pdfalearn.Quantization(kappa)
    if language is None:
        return pdfalearn.analysis.length_bounds(automaton, equivalence=equivalence)
    asked = language if form == "regex" else language_of(language, form, automaton_of(file))
    return pdfalearn.analysis.probability_bounds(
        automaton, asked, equivalence=equivalence, given=given
    )


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
    result = pdfalearn.analysis.distances(automaton_of(a), automaton_of(b))
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
    result = pdfalearn.analysis.differences(pdfa, automaton_of(b), count)
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
