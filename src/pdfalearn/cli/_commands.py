"""Commands: how one is made of a function, how it runs, and what Ctrl-C does to a long one."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import click

from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._failures import INTERRUPTED
from pdfalearn.cli._options import argument, option
from pdfalearn.cli._output import Answer, print_aside, show
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from pdfalearn.displays import ProgressLine

Thing = TypeVar("Thing")
_EXAMPLES = "Examples\n--------\n"


class Output(NamedTuple, Generic[Thing]):
    """A file that a long run writes in the end."""

    option: str
    """How the user has named it: -o or another option."""
    path: Path
    content: str
    """What it holds, for people."""
    write: Callable[[Thing], object]
    """Writes it; returns False if there was nothing to write."""


@dataclass(frozen=True)
class LongRun(Generic[Thing]):
    """A run that shows progress, can be interrupted, and writes files."""

    run: Callable[..., Thing]
    """What to run, with the argument ``progress``."""
    line: ProgressLine
    describe: Callable[[Thing], Answer]
    interruption: Callable[[Thing | None], str]
    """Returns what to print after Ctrl-C, given what was found until then."""
    outputs: Sequence[Output[Thing]] = ()
    attached: str = ""
    """The attribute of an interrupt of the library that holds what was found until then."""


def command(
    *parameters: str | click.Parameter, into: click.Group | None = None
) -> Callable[[Callable[[Chosen], Answer | LongRun[Any]]], click.Command]:
    """Make a command of a function of the chosen options.

    Parameters stand in the order of the help: names of options, or upper-case names of arguments.
    Every command has the option ``--json``, too.
    """

    def make(function: Callable[[Chosen], Answer | LongRun[Any]]) -> click.Command:
        @click.pass_context
        def call(context: click.Context, /, **values: object) -> None:
            chosen = Chosen(**values)
            # What a user's code prints is not part of the output: an answer is shown below.
            with redirect_stdout(sys.stderr):
                answer = function(chosen)
            if isinstance(answer, LongRun):
                context.exit(_carry_out(answer, chosen))
            show(answer, as_json=chosen.json)
            context.exit(answer.exit_code)

        made = [_parameter(one) for one in (*parameters, "json")]
        result = click.Command(callback=call, params=made, **_help_of(function))
        if into is not None:
            into.add_command(result)
        return result

    return make


def group(
    kind: type[click.Group] = click.Group, **settings: Any
) -> Callable[[Callable[[], None]], click.Group]:
    """Make a group of commands of a docstring; without a command it prints its help."""

    @click.pass_context
    def call(context: click.Context) -> None:
        if context.invoked_subcommand is None:
            click.echo(context.get_help())

    def make(function: Callable[[], None]) -> click.Group:
        return kind(callback=call, invoke_without_command=True, **_help_of(function), **settings)

    return make


def _help_of(function: Callable[..., object]) -> dict[str, Any]:
    """Part a docstring into help and examples; indented lines go on with the example above."""
    text, _, examples = inspect.cleandoc(function.__doc__ or "").partition(_EXAMPLES)
    # The character \b keeps Click from filling the lines of a paragraph.
    lines = examples.replace("\n    ", " ").splitlines()
    epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
    return {"name": function.__name__, "help": text, "epilog": epilog}


def _parameter(given: str | click.Parameter) -> click.Parameter:
    if not isinstance(given, str):
        return given
    return argument(given) if given.isupper() else option(given)


def _carry_out(task: LongRun[Thing], chosen: Chosen) -> int:
    """Run to the end or to Ctrl-C, write the files and show what was found."""
    from pdfalearn.models import Interrupts  # help does not need it

    names: list[str] = []
    exit_code, interrupts = 0, Interrupts()
    # Once there is something to write, a Ctrl-C is held back; a second one gets through.
    with ExitStack() as stack:
        hold = partial(stack.enter_context, interrupts)
        found, is_interrupted = _outcome(task, chosen, hold)
        if found is not None:
            answer = task.describe(found)
            exit_code = answer.exit_code
            # A file comes first: a closed pipe must not cost what was found.
            try:
                names += [
                    f"{output.path}: {output.content}"
                    for output in task.outputs
                    if output.write(found) is not False
                ]
            finally:  # what was found is shown even if it cannot be written
                show(answer, as_json=chosen.json)
        try:
            interrupts.check()
        except KeyboardInterrupt:
            is_interrupted = True
        if is_interrupted:
            print_aside(task.interruption(found))
            return INTERRUPTED
    if not chosen.json:
        show(Answer({}, names), as_json=False)
    return exit_code


def _outcome(task: LongRun[Any], chosen: Chosen, hold: Callable[[], object]) -> tuple[Any, bool]:
    """Return what was found, and whether Ctrl-C has ended the run; from then on it is held back."""
    found, is_interrupted = None, False
    try:
        with chosen.show_progress(task.line) as progress, redirect_stdout(sys.stderr):
            try:
                found = task.run(progress=progress)
            except KeyboardInterrupt as interrupt:
                found, is_interrupted = getattr(interrupt, task.attached, None), True
            # Before the display is taken down, so that no Ctrl-C is between the two.
            hold()
    except KeyboardInterrupt:  # just after the last answer
        hold()
        is_interrupted = True
    return found, is_interrupted


def check_files(outputs: Iterable[Output[Any]], inputs: Iterable[object]) -> None:
    """Refuse before a run to overwrite what is needed, or to write two things to one file."""
    paths = [output.path.resolve() for output in outputs]
    needed = {Path(str(path)).resolve() for path in inputs if path is not None}
    if len(set(paths)) < len(paths) or needed.intersection(paths):
        names = " and ".join(output.option for output in outputs)
        raise InputError(
            f"{names} {'each ' if len(paths) > 1 else ''}has to be a file of its own, other than "
            "the model, the store and a corpus"
        )


def interruption_text(
    chosen: Chosen, before: str, content: Callable[[Thing], str], found: Thing | None
) -> str:
    """Return what was saved, and where, after Ctrl-C.

    ``before`` is what has to come before anything is found; ``content`` returns what the file of -o
    holds, an empty text if nothing was written.
    """
    missing = "nothing" if chosen.store is None else "no automaton"
    if found is None:
        text = f"interrupted before {before}: {missing} was saved"
    elif chosen.output is None:
        text = f"interrupted: {missing} was saved, as no -o was given"
    else:
        text = f"interrupted: {chosen.output} holds {content(found) or 'nothing'}"
    if chosen.store is None:
        return text
    return f"{text}; {chosen.store} holds all answers: start again to go on"
