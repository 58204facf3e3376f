"""``pdfalearn info``: describe a PDFA."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._distilling_outputs import object_of, print_frontier
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_facts, print_json
from pdfalearn.text import short_word_text, shortened, symbol_text

if TYPE_CHECKING:
    from pdfalearn import PDFA, Frontier


@click.command(
    epilog=options.examples(
        "pdfalearn info target.json",
        "pdfalearn info target.json --kappa 10",
        "pdfalearn info target.json --json",
        "pdfalearn distill target.json --symbols 2000 -o frontier.zip",
        "pdfalearn info frontier.zip",
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
    after a context sum. Of a frontier (.zip, of 'pdfalearn distill') it describes the best
    automaton, and shows the table of all sizes. PDFA is a file, or FILE.py:NAME or module:NAME of
    an automaton ('pdfalearn models'); a model that can only be asked has no states to count.
    """
    relation = pdfalearn.Quantization(kappa)
    frontier = _frontier(file)
    pdfa, more = _read(file) if frontier is None else (frontier.best, {})
    reached = pdfalearn.analysis.reachable(pdfa)
    classes = len(pdfalearn.quotient(pdfa, equivalence=relation))
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
        all_sizes = {} if frontier is None else {"frontier": object_of(frontier)}
        print_json({"file": file, "alphabet": symbols, "terminal": terminal, **counts, **all_sizes})
        return
    print_facts(
        file if frontier is None else f"{file}: the best automaton of a frontier",
        {
            "alphabet": short_word_text(symbols, joined=False, most=20),
            "terminal": shortened(symbol_text(terminal), 80),
            **{_label(name): _value(value) for name, value in counts.items()},
        },
    )
    if frontier is not None:
        print_frontier("all sizes", frontier)


def _frontier(file: str) -> Frontier | None:
    """Load a frontier; return None if the file holds something else."""
    if not file.lower().endswith(".zip"):
        return None
    loaded = pdfalearn.load(file)
    return loaded if isinstance(loaded, pdfalearn.Frontier) else None


def _read(file: str) -> tuple[PDFA, dict[str, object]]:
    """Load a PDFA, and what only files of its kind say."""
    if not file.lower().endswith((".arpa", ".arpa.gz")):
        return automaton_of(file), {}
    ngram = pdfalearn.io.read_arpa(file)
    return ngram.pdfa, {"order": ngram.order, "largest_correction": ngram.largest_correction}


def _label(name: str) -> str:
    return name.replace("_", " ")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2g}"
    return f"{value:,}"
