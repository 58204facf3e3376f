"""The options that bound what learning may cost."""

from __future__ import annotations

import click

from pdfalearn.cli._options import all_of

_BOUNDS: dict[str, tuple[click.IntRange | click.FloatRange, str]] = {
    "max_words": (click.IntRange(min=1), "so many words asked of the model"),
    "max_symbols": (click.IntRange(min=0), "so many symbols that the model is led through"),
    "max_cost": (click.FloatRange(min=0), "this cost of asking, by the model's own price"),
    "max_seconds": (click.FloatRange(min=0), "so many seconds"),
    "max_states": (click.IntRange(min=1), "so many states"),
    "max_word_length": (click.IntRange(min=0), "so many symbols in a word"),
    "max_equivalence_queries": (click.IntRange(min=0), "so many equivalence queries"),
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
