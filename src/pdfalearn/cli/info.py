"""``pdfalearn info``: describe a PDFA."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_facts, print_json
from pdfalearn.text import short_word_text, shortened, symbol_text

if TYPE_CHECKING:
    from pdfalearn import PDFA


@click.command(
    epilog=options.examples(
        "pdfalearn info target.json",
        "pdfalearn info target.json --kappa 10",
        "pdfalearn info target.json --json",
    )
)
@click.argument("file", metavar="PDFA")
@click.option(
    "--kappa", type=int, default=1000, metavar="K", help="Count classes with K intervals."
)
@options.json_option
def info(file: str, kappa: int, as_json: bool) -> None:
    """Describe a PDFA and say whether it can be reduced.

    It is weakly minimal if no two of its reachable states are equivalent at the given kappa. Its
    depth is the length of the longest word that is needed to reach a state. Of an n-gram model
    (.arpa) it says the order too, and the largest correction: how far from 1 the probabilities
    after a context sum. PDFA is a file, or FILE.py:NAME or module:NAME of an automaton ('pdfalearn
    models'); a model that can only be asked has no states to count.
    """
    relation = pdfalearn.Quantization(kappa)
    pdfa, more = _read(file)
    reached = pdfalearn.reachable(pdfa)
    classes = len(pdfalearn.quotient(pdfa, by=relation))
    counts: dict[str, object] = {
        "states": len(pdfa),
        "reachable_states": len(reached.states),
        "distinct_distributions": int(pdfalearn.Exact().classes(pdfa.probabilities).max()) + 1,
        "undefined_transitions": int((pdfa.transitions < 0).sum()),
        "depth": reached.depth,
        "kappa": kappa,
        "classes": classes,
        "weakly_minimal": classes == len(reached.states),
        **more,
    }
    symbols, terminal = pdfa.alphabet.symbols, pdfa.alphabet.terminal
    if as_json:
        print_json({"file": file, "alphabet": symbols, "terminal": terminal, **counts})
        return
    print_facts(
        file,
        {
            "alphabet": short_word_text(symbols, joined=False, most=20),
            "terminal": shortened(symbol_text(terminal), 80),
            **{_label(name): _value(value) for name, value in counts.items()},
        },
    )


def _read(file: str) -> tuple[PDFA, dict[str, object]]:
    """Load a PDFA, and what only files of its kind say."""
    if not file.lower().endswith((".arpa", ".arpa.gz")):
        return automaton_of(file), {}
    ngram = pdfalearn.read_arpa(file)
    return ngram.pdfa, {"order": ngram.order, "largest_correction": ngram.largest_correction}


def _label(name: str) -> str:
    return name.replace("_", " ")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2g}"
    return f"{value:,}"
