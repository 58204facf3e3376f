"""The options that bound what learning may cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_BOUNDS = {
    "max_words": (click.IntRange(min=1), "words asked of the model"),
    "max_symbols": (click.IntRange(min=0), "symbols that the model is led through"),
    "max_seconds": (click.FloatRange(min=0), "seconds"),
    "max_states": (click.IntRange(min=1), "states"),
    "max_word_length": (click.IntRange(min=0), "symbols in a word"),
    "max_equivalence_queries": (click.IntRange(min=0), "equivalence queries"),
}

BOUNDS = tuple(_BOUNDS)
"""The names of the bounds, as `Budget` has them."""


def budget_options(command: Command) -> Command:
    """Add an option for each bound."""
    for name, (kind, what) in reversed(_BOUNDS.items()):
        flag = "--" + name.replace("_", "-")
        command = click.option(flag, name, type=kind, metavar="N", help=f"Stop at so many {what}.")(
            command
        )
    return command
