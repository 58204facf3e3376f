"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import pdfalearn

if TYPE_CHECKING:
    from pdfalearn import Exact, Quantization, Tolerance

    Relation = Exact | Quantization | Tolerance
    from pdfalearn import Budget
    from pdfalearn.displays import ProgressLine

Command = TypeVar("Command", bound=Callable[..., Any])
Number = TypeVar("Number", int, float)

FILE = click.Path(path_type=Path)
SEED = click.IntRange(min=0)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
exact_option = click.option(
    "--exact", is_flag=True, help="Equal to the last bit. This is the default."
)
kappa_option = click.option(
    "--kappa", type=int, metavar="K", help="Equal when cut into K intervals (quantization)."
)
tolerance_option = click.option(
    "--tolerance", type=float, metavar="T", help="Similar: no probability differs by more than T."
)
store_option = click.option(
    "--store",
    type=FILE,
    metavar="FILE",
    help="Keep all answers in FILE: a run that was stopped goes on from there.",
)
model_id_option = click.option(
    "--model-id", metavar="NAME", help="The model's name in the store; functions need one."
)
audit_option = click.option(
    "--audit",
    type=click.IntRange(min=0),
    default=16,
    metavar="N",
    help="Ask N words again in the end, and more on the way, to catch answers that change.",
)
seed_option = click.option(
    "--seed", type=SEED, default=0, metavar="S", help="Seed of all that is random."
)


def corpus_option(help_text: str) -> Callable[[Command], Command]:
    """Make the option --corpus, which names a file of words."""
    help_text = f"{help_text} With - they are read from the standard input."
    return click.option("--corpus", type=FILE, metavar="FILE", help=help_text)


def output_option(help_text: str, *, required: bool = True) -> Callable[[Command], Command]:
    """Make the option -o, which names the file to write."""
    return click.option(
        "-o", "--output", type=FILE, required=required, metavar="FILE", help=help_text
    )


def states_option(help_text: str) -> Callable[[Command], Command]:
    """Make the option --states, which takes one or several numbers."""
    return click.option("--states", callback=_sizes, metavar="N[,N...]", help=help_text)


def _sizes(_context: click.Context, _option: click.Parameter, text: str | None) -> list[int]:
    """Turn numbers of states, separated by commas, into integers."""
    try:
        return [int(part) for part in text.split(",")] if text is not None else []
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is not a number of states, nor several as in 10,30,100"
        ) from error


def names(text: str) -> list[str]:
    """Part a text at its commas."""
    return [part.strip() for part in text.split(",")]


def integers(text: str) -> list[int]:
    """Turn integers, separated by commas, into a list."""
    return _numbers(text, int, "integers")


def decimals(text: str) -> list[float]:
    """Turn numbers, separated by commas, into a list."""
    return _numbers(text, float, "numbers")


def _numbers(text: str, kind: Callable[[str], Number], kinds: str) -> list[Number]:
    try:
        return [kind(part) for part in names(text)]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of {kinds}, such as 1,2,3.") from None


def all_of(options: Sequence[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """Make one decorator of several options; the help lists them in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def examples(*lines: str) -> str:
    """Lay out the examples that end a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  $ {line}" for line in lines)


def equivalence(exact: bool, kappa: int | None) -> Exact | Quantization:
    """Return the equivalence that the options name."""
    _refuse_several(exact, kappa)
    return pdfalearn.Exact() if kappa is None else pdfalearn.Quantization(kappa)


def relation(exact: bool, kappa: int | None, tolerance: float | None) -> Relation:
    """Return the equivalence or the similarity that the options name."""
    _refuse_several(exact, kappa, tolerance)
    if tolerance is not None:
        return pdfalearn.Tolerance(tolerance)
    return equivalence(exact, kappa)


def _refuse_several(exact: bool, *values: float | None) -> None:
    if exact + sum(value is not None for value in values) > 1:
        raise click.UsageError("Give only one of --exact, --kappa and --tolerance.")


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


_MOST_SECONDS = 1e6


def _checked(
    _context: click.Context, _option: click.Parameter, seconds: float | None
) -> float | None:
    """Refuse what a clock cannot wait for, such as nan and inf."""
    from pdfalearn.checks import checked_number

    return None if seconds is None else checked_number(seconds, "--log-every", 0, _MOST_SECONDS)


log_every_option = click.option(
    "--log-every",
    type=float,
    callback=_checked,
    metavar="SECONDS",
    show_default="one line that is renewed in a terminal, else 10; none with --json",
    help="Write progress to the standard error, a line every SECONDS; 0 for none.",
)


def shown_progress(
    line: ProgressLine, log_every: float | None, *, as_json: bool
) -> AbstractContextManager[Callable[..., None] | None]:
    """Return a context in which a line is shown; it gives what to call with progress, or None."""
    from pdfalearn.displays import logged, renewed

    if log_every == 0 or (as_json and log_every is None):
        return nullcontext()
    return renewed(line, stays=False) if log_every is None else logged(line, log_every)
