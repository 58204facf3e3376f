"""Commands: how one is made of a function, how it runs, and what Ctrl-C does to a long one."""

from __future__ import annotations

import inspect
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import click

from pdfalearn.cli._chosen import Chosen, save_pdfa
from pdfalearn.cli._failures import INTERRUPTED, TERMINATED
from pdfalearn.cli._options import argument, option
from pdfalearn.cli._output import Answer, print_aside, show

if TYPE_CHECKING:
    from pdfalearn import PDFA
    from pdfalearn.displays import ProgressLine

Thing = TypeVar("Thing")
_EXAMPLES = "Examples\n--------\n"
# SIGTERM counts once in this many seconds: `timeout` sends it to a process and then to its group.
_ONCE = 1.0


class Output(NamedTuple, Generic[Thing]):
    """A file that a long run writes in the end."""

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
    attached: str = ""
    """The attribute of an interrupt of the library that holds what was found until then."""
    before: str = ""
    """What has to come before anything is found."""
    outputs: Sequence[Output[Thing]] = ()
    interim: Callable[[Thing], str] | None = None
    """Returns what the file of -o holds after Ctrl-C; if not given, its content so far."""
    interruption: str = ""
    """What to print after Ctrl-C, if it is not what was saved."""


def command(
    *parameters: str | click.Parameter, into: click.Group | None = None
) -> Callable[[Callable[[Chosen], Answer | LongRun[Any]]], click.Command]:
    """Make a command of a function of the chosen options.

    Parameters stand in the order of the help: names of options, and upper-case names of arguments,
    with blanks between. Every command has the option ``--json``, too.
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

        made: list[click.Parameter] = []
        for one in (*parameters, "json"):
            made += map(_parameter, one.split()) if isinstance(one, str) else [one]
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


def _parameter(name: str) -> click.Parameter:
    return argument(name) if name.isupper() else option(name)


class _Termination:
    """Makes a Ctrl-C of SIGTERM within a ``with`` block, which is left with what was there before.

    A second one, later, is a second Ctrl-C.
    """

    came = -inf
    """When it came, in seconds of a clock."""
    _before: Any = None

    def __enter__(self) -> _Termination:
        is_ignored = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        if threading.current_thread() is threading.main_thread() and not is_ignored:
            self._before = signal.signal(signal.SIGTERM, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)

    def _interrupt(self, _number: int, frame: FrameType | None) -> None:
        last, self.came = self.came, time.monotonic()
        if self.came - last > _ONCE:
            handler = signal.getsignal(signal.SIGINT)
            if not callable(handler):  # Ctrl-C is ignored: a job in the background
                raise KeyboardInterrupt
            handler(signal.SIGINT, frame)


def _carry_out(task: LongRun[Thing], chosen: Chosen) -> int:
    """Run to the end, to Ctrl-C or SIGTERM, write the files and show what was found."""
    from pdfalearn.models import Interrupts  # help does not need it

    written: list[Output[Thing]] = []
    exit_code, interrupts = 0, Interrupts()
    # Once there is something to write, a Ctrl-C is held back; a second one gets through.
    with _Termination() as termination, ExitStack() as stack:
        hold = partial(stack.enter_context, interrupts)
        found, is_interrupted = _outcome(task, chosen, hold)
        if found is not None:
            answer = task.describe(found)
            exit_code = answer.exit_code
            # A file comes first: a closed pipe must not cost what was found.
            try:
                written += [one for one in task.outputs if one.write(found) is not False]
            finally:  # what was found is shown even if it cannot be written
                show(answer, as_json=chosen.json)
        try:
            interrupts.check()
        except KeyboardInterrupt:
            is_interrupted = True
        if is_interrupted:
            print_aside(_interruption_text(task, chosen, found, written))
            return INTERRUPTED if termination.came < 0 else TERMINATED
    if not chosen.json:
        show(Answer({}, [f"{one.path}: {one.content}" for one in written]), as_json=False)
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


def _interruption_text(
    task: LongRun[Thing], chosen: Chosen, found: Thing | None, written: Sequence[Output[Thing]]
) -> str:
    """Return what was saved, and where, after Ctrl-C."""
    missing = "nothing" if chosen.store is None else "no automaton"
    if found is None and task.before:
        text = f"interrupted before {task.before}: {missing} was saved"
    elif task.interruption:
        return task.interruption
    elif chosen.output is None or found is None:
        text = f"interrupted: {missing} was saved, as no -o was given"
    else:
        so_far = [f"{one.content} so far" for one in written if one.path == chosen.output]
        content = task.interim(found) if task.interim else "".join(so_far)
        text = f"interrupted: {chosen.output} holds {content or 'nothing'}"
    if chosen.store is None:
        return text
    return f"{text}; {chosen.store} holds all answers: start again to go on"


def automaton_output(
    chosen: Chosen,
    pick: Callable[[Thing], PDFA | None],
    content: str,
    whole: tuple[type, str] | None = None,
) -> list[Output[Thing]]:
    """Return the file of -o, if it is given, after a check that it can be written.

    It holds the automaton that is picked, if there is one; or the whole result of a type, if its
    ending says so.
    """
    path = chosen.output
    if path is None:
        return []
    is_whole = chosen.check_output(whole and whole[0])

    def write(found: Thing) -> bool:
        pdfa = pick(found)
        if pdfa is not None:
            save_pdfa(pdfa, path, found if is_whole else None)
        return pdfa is not None

    return [Output(path, whole[1] if whole and is_whole else content, write)]
