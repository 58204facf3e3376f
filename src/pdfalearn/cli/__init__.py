"""The command line ``pdfalearn``: commands, each a thin skin over the public names."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, NoReturn

import click

import pdfalearn
from pdfalearn.cli import _failures as failures
from pdfalearn.cli._commands import group

_MODULES = {
    "learn": ("learn", "sweep"),
    "allowed": ("support",),
    "distill": ("distill", "simplify", "refit"),
    "models": ("models",),
    "automata": ("random", "info", "quotient", "condition", "convert"),
    "compare": ("compare", "divergence", "evaluate", "coherence"),
    "ask_models": ("ask",),
    "answers": ("drift",),
    "sample": ("sample", "score"),
    "watch": ("calibrate", "monitor"),
    "draw": ("draw", "view"),
    "store": ("store",),
    "experiments": ("experiments",),
}
COMMANDS = {name: module for module, names in _MODULES.items() for name in names}
"""The module of each command, in the order of the help."""


class CommandLine(click.Group):
    """Import a command's module only when it is asked for, and report failures in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order in which help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name, if there is one."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(
            import_module(f"{__name__}.{COMMANDS[cmd_name]}"), cmd_name
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is asked for; if there is none, name the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            if not (near := get_close_matches(args[0], COMMANDS, 1)):
                raise
            text = f"{error.message.rstrip('.')}; did you mean {near[0]!r}?"
            raise click.UsageError(text, ctx) from error

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; a reader that stops early (``| head -1``) is not reported as a failure."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise click.exceptions.Exit(failures.CLOSED_PIPE) from error

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Parse the arguments, run the command and exit."""
        # Click would print failures in several lines and exit with codes of its own.
        failures.prepare_streams()
        extra["standalone_mode"] = False
        sys.exit(failures.exit_code_of(lambda: super(CommandLine, self).main(*args, **extra)))


@click.version_option(pdfalearn.__version__, prog_name="pdfalearn")
@group(
    CommandLine,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
def cli() -> None:
    """Make, learn, inspect, compare and reduce probabilistic deterministic finite automata (PDFA).

    Files are .json, .json.gz or .npz, .zip for runs and frontiers, and .dot, .svg, .png, .pdf or
    .html to look at; .arpa, .pautomac and .pickle files of other programs can be read too (see
    convert --help). Models that can only be asked are named as 'pdfalearn models' says. Every
    command has --help with examples and --json for scripts. The exit code is 0 for done or yes, 1
    for no, 2 for bad input, 130 after Ctrl-C, which shows and saves what has been found until then,
    and 143 after SIGTERM, which does the same in long commands.

    Examples
    --------
    $ pdfalearn random 1000 -o target.json.gz
    $ pdfalearn learn target.json.gz --kappa 1000 -o learnt.json.gz
    $ pdfalearn info learnt.json.gz
    $ pdfalearn quotient target.json.gz -o small.json.gz --kappa 10
    $ pdfalearn compare target.json.gz small.json.gz --kappa 10
    """


def main() -> NoReturn:
    """Run the command line of this process."""
    failures.escape_tracebacks()
    cli.main(prog_name="pdfalearn")
