"""The options that bound what learning and distilling may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import pdfalearn
from pdfalearn.cli._options import all_of

if TYPE_CHECKING:
    from pdfalearn import Budget

_BOUNDS: dict[str, tuple[click.IntRange | click.FloatRange, str]] = {
    "max_words": (click.IntRange(min=1), "this many words asked of the model"),
    "max_symbols": (click.IntRange(min=0), "this many symbols that the model is led through"),
    "max_cost": (click.FloatRange(min=0), "this cost of asking, by the model's own cost"),
    "max_seconds": (click.FloatRange(min=0), "this many seconds"),
    "max_states": (click.IntRange(min=1), "this many states"),
    "max_word_length": (click.IntRange(min=0), "this many symbols in a word"),
    "max_equivalence_queries": (click.IntRange(min=0), "this many equivalence queries"),
    "max_bytes": (
        click.IntRange(min=0),
        "this much memory for words and answers (1 GiB, or a million words, if no bound is given "
        "and the model is not known to be an automaton)",
    ),
}

BOUNDS = tuple(_BOUNDS)
"""The names of the bounds, as `Budget` has them."""


budget_options = all_of(
    [
        click.option(
            "--" + name.replace("_", "-"),
            name,
            type=kind,
            metavar="N",
            help=f"Stop at {what}.",
        )
        for name, (kind, what) in _BOUNDS.items()
    ]
)
"""Adds an option for each bound."""

_SPENDING: dict[str, tuple[click.IntRange | click.FloatRange, str]] = {
    "symbols": (click.IntRange(min=1), "Lead the model through at most this many symbols."),
    "words": (click.IntRange(min=1), "Ask at most this many words."),
    "cost": (click.FloatRange(min=0), "Ask for at most this cost, by the model's own cost."),
    "seconds": (
        click.FloatRange(min=0),
        "Ask for half of this many seconds; the search comes after that.",
    ),
}
DEFAULT_SYMBOLS = 20_000
"""How many symbols are asked if no bound is given."""
_DEFAULT = f"{DEFAULT_SYMBOLS} if no other bound is given"

spending_options = all_of(
    [
        click.option(
            f"--{name}",
            type=kind,
            metavar="N",
            show_default=_DEFAULT if name == "symbols" else None,
            help=what,
        )
        for name, (kind, what) in _SPENDING.items()
    ]
)
"""Adds an option for each way to bound what is asked in all."""


def spent_budget(chosen: dict[str, Any]) -> Budget:
    """Take the values of these options out of those of a command."""
    bounds = {f"max_{name}": chosen.pop(name) for name in _SPENDING}
    if all(bound is None for bound in bounds.values()):
        bounds["max_symbols"] = DEFAULT_SYMBOLS
    return pdfalearn.Budget(**bounds)
