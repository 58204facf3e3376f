"""``pdfalearn compare``: say whether two PDFA are the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_json, print_line, print_table
from pdfalearn.text import are_characters, short_word_text, shortened, symbol_text

if TYPE_CHECKING:
    from pdfalearn import PDFA

_MOST_ROWS = 20

Row = list[float] | None


class _Difference(NamedTuple):
    word: Sequence[object]
    symbols: Sequence[object]
    rows: tuple[Row, Row]
    decisive: list[bool]
    """Whether the relation tells the two apart at each symbol."""


@click.command(
    epilog=options.examples(
        "pdfalearn compare target.json learnt.json",
        "pdfalearn compare target.json learnt.json --kappa 1000",
        "pdfalearn compare target.json learnt.json --tolerance 0.01 --json",
    )
)
@click.argument("a")
@click.argument("b")
@options.exact_option
@options.kappa_option
@options.tolerance_option
@options.json_option
@click.pass_context
def compare(
    context: click.Context,
    a: str,
    b: str,
    exact: bool,
    kappa: int | None,
    tolerance: float | None,
    as_json: bool,
) -> None:
    """Print whether two PDFA are the same.

    They are if they have the same distribution after every word, where --exact, --kappa or
    --tolerance says what the same is. If not, you see a word that tells A and B apart and both
    distributions after it. Symbols are matched by name; one that
    only A or B knows is impossible in the other. The exit code is 0 for yes and 1 for no.

    Both are looked into, so each has to be an automaton: a file, or FILE.py:NAME or module:NAME of
    a PDFA ('pdfalearn models'). Models that can only be asked are compared by 'pdfalearn evaluate'.
    """
    equivalence = options.relation(exact, kappa, tolerance)
    difference = _difference(automaton_of(a), automaton_of(b), equivalence)
    if as_json:
        names = {"a": a, "b": b, "kappa": kappa, "tolerance": tolerance}
        print_json({**names, **_result(difference)})
    else:
        _print(a, b, _relation_text(kappa, tolerance), difference)
    context.exit(0 if difference is None else 1)


def _difference(a: PDFA, b: PDFA, equivalence: options.Relation) -> _Difference | None:
    found = pdfalearn.compare(a, b, equivalence=equivalence)
    a, b, word = found.a, found.b, found.word
    if word is None:
        return None
    row, other = a.next_distribution(word), b.next_distribution(word)
    symbols = (a.alphabet.terminal, *a.alphabet.symbols)
    if row is None or other is None:
        rows = (None if row is None else row.tolist(), None if other is None else other.tolist())
        return _Difference(word, symbols, rows, [True] * len(symbols))
    if isinstance(equivalence, pdfalearn.Tolerance):
        decisive = ~equivalence.similar(row[:, None], other[:, None])
    else:
        decisive = equivalence.keys(row[:, None])[:, 0] != equivalence.keys(other[:, None])[:, 0]
    return _Difference(word, symbols, (row.tolist(), other.tolist()), decisive.tolist())


def _result(difference: _Difference | None) -> dict[str, object]:
    if difference is None:
        return {"equivalent": True, "word": None}
    row, other = difference.rows
    return {
        "equivalent": False,
        "word": difference.word,
        "symbols": difference.symbols,
        "distribution_a": row,
        "distribution_b": other,
    }


def _relation_text(kappa: int | None, tolerance: float | None) -> str:
    if kappa is not None:
        return f"equivalent at kappa {kappa}"
    return "equivalent" if tolerance is None else f"similar within tolerance {tolerance}"


def _print(a: str, b: str, relation: str, difference: _Difference | None) -> None:
    if difference is None:
        print_line(f"yes: {a} and {b} are {relation}", style="green")
        return
    print_line(f"no: {a} and {b} are not {relation}", style="red")
    joined = are_characters(difference.symbols[1:])
    word = short_word_text(difference.word, joined=joined)
    print_table(f"after {word}", ("symbol", f"A: {a}", f"B: {b}"), _shown_rows(difference))
    hidden = len(difference.symbols) - _MOST_ROWS
    if hidden > 0:
        print_line(f"{hidden:,} more symbols")


def _shown_rows(difference: _Difference) -> list[tuple[str, str, str]]:
    """Return a row for each symbol, or for those that tell most if there are too many."""
    row, other = difference.rows
    places = list(range(len(difference.symbols)))
    if len(places) > _MOST_ROWS:
        gaps = [abs((row[i] if row else 0.0) - (other[i] if other else 0.0)) for i in places]
        places.sort(key=lambda i: (not difference.decisive[i], -gaps[i]))
        places = sorted(places[:_MOST_ROWS])
    return [
        (
            shortened(symbol_text(difference.symbols[i]), 40),
            "undefined" if row is None else str(row[i]),
            "undefined" if other is None else str(other[i]),
        )
        for i in places
    ]
