"""Options that belong together, and the options and arguments of commands."""

from __future__ import annotations

from typing import Any

import click

from pdfalearn.cli._option_kinds import Settings
from pdfalearn.cli._option_table import DEFAULT_KAPPA as DEFAULT_KAPPA
from pdfalearn.cli._option_table import DEFAULT_SYMBOLS as DEFAULT_SYMBOLS
from pdfalearn.cli._option_table import LEARNERS as LEARNERS
from pdfalearn.cli._option_table import OPTIONS as OPTIONS
from pdfalearn.cli._option_table import SCORES as SCORES
from pdfalearn.cli._option_table import WALKS_PER_STATE as WALKS_PER_STATE

OF_LLMS = ("vocabulary", "prompt", "chat", "ends")
RELATION = ("exact", "kappa", "tolerance", "equivalence")
"""When distributions are the same."""
CORPUS = ("format", "case", "event", "time", "skip_bad")
"""How files of words are read, as `Corpus` has it."""
LOG = ("session", "gap", "masks", "time_format", "similarity")
"""How raw lines are read, as `learn_log` has it."""
OF_COPIES = ("replicas", "scheduler", "replica_timeout")
WRAPPERS = {"guide": "Guided", "temperature": "Temperature", "top_k": "TopK", "top_p": "TopP"}
"""The options that constrain a model, with the classes that do so, from the innermost on."""
MODEL = ("alphabet", "by_word", *OF_LLMS, *WRAPPERS, *OF_COPIES)
ORACLE = ("oracle", "epsilon", "delta", "samplers", "max_length", "walks_per_state", "extra_states")
BUDGET = tuple(name for name in OPTIONS if name.startswith("max_") and name != "max_length")
SPENDING = ("symbols", "words", "cost", "seconds")
RUN = ("store", "model_id", "audit", "seed")


def flag_of(name: str) -> str:
    """Return how the option of a name is spelled."""
    flag: str = OPTIONS[name].get("flag", f"--{name.replace('_', '-')}")
    return flag


def option(name: str, text: str | None = None, **changes: Any) -> click.Option:
    """Make the option of this name; a command may give it another help text or default."""
    settings = OPTIONS[name] | changes | ({} if text is None else {"help": text})
    settings.pop("flag", None)
    flags = ["-o", "--output"] if name == "output" else [flag_of(name), name]
    return click.Option(flags, **settings)


def output(text: str, **changes: Any) -> click.Option:
    """Make the option -o of a command that always writes."""
    return option("output", text, required=True, **changes)


def corpus(text: str) -> click.Option:
    """Make the option --corpus; help says what the words are for, and how they are written."""
    return option("corpus", f"{text} {OPTIONS['corpus']['help']}")


def argument(name: str) -> click.Argument:
    """Make the argument of an upper-case name; with brackets it may be left out."""
    many = name.endswith("...")
    settings: Settings = {"nargs": -1} if many else {}
    plain = name.removesuffix("...").strip("[]").lower()
    return click.Argument([plain], required=not name.startswith("["), **settings)
