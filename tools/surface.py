"""Print the public surface: names with signatures, members of classes, and every ``--help``.

``python tools/surface.py`` prints that of the package beside this folder, ``--root FOLDER`` that of
another checkout. Save the output of both and compare them with ``diff -u``.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click

ROOMS = (
    *("analysis", "datasets", "equivalence", "errors", "experiments", "exploring", "io"),
    *(
        "languages",
        "learners",
        "metrics",
        "models",
        "multiplicity",
        "oracles",
        "results",
        "samplers",
        "stores",
        "testing",
    ),
    "viewing",
    "watching",
)
"""Rooms that are public besides the package itself, as far as there are."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def lines() -> Iterator[str]:
    """Yield the lines of the whole surface of the package that is found first."""
    package = import_module("pdfalearn")
    yield f"# {len(package.__all__)} names at the top"
    yield from module_lines(package)
    for room in ROOMS:
        if importlib.util.find_spec(f"pdfalearn.{room}") is not None:
            yield from module_lines(import_module(f"pdfalearn.{room}"))
    values = list(vars(import_module("pdfalearn.cli")).values())
    for group in (value for value in values if isinstance(value, click.Group)):
        yield from help_lines(group, None, "pdfalearn")


def module_lines(module: ModuleType) -> Iterator[str]:
    """Yield the names of a module, each with its signature and, for a class, its members.

    Without ``__all__`` these are the classes and functions that are defined there.
    """
    defined = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    ]
    for name in sorted(getattr(module, "__all__", defined)):
        value = getattr(module, name)
        yield ""
        yield f"{module.__name__}.{name}{signature(value)}"
        if inspect.isclass(value):
            yield from (f"    {line}" for line in member_lines(value))


def member_lines(cls: type) -> Iterator[str]:
    """Yield the bases of a class, and its public members in the order of their names."""
    bases = [base.__name__ for base in cls.__bases__ if base is not object]
    if bases:
        yield f"is a {', '.join(bases)}"
    fields = {
        name: f": {kind if isinstance(kind, str) else getattr(kind, '__name__', kind)}"
        for each in reversed(cls.__mro__)
        if each.__module__.startswith("pdfalearn")
        for name, kind in inspect.get_annotations(each).items()
    }
    members = {
        name: member_text(member)
        for each in reversed(cls.__mro__)
        if each.__module__.startswith("pdfalearn")
        for name, member in vars(each).items()
    }
    for name, text in sorted((fields | members).items()):
        if not name.startswith("_"):
            yield f".{name}{fields.get(name, text) if text == '' else text}"


def member_text(member: object) -> str:
    """Return what is shown behind the name of a member."""
    if isinstance(member, property | cached_property):
        getter = member.fget if isinstance(member, property) else member.func
        answer = inspect.signature(getter).return_annotation if getter else inspect.Signature.empty
        return f": {answer}" if isinstance(answer, str) else ": property"
    inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    if inspect.isroutine(inner):
        return signature(inner)
    return ""


def signature(value: object) -> str:
    """Return the signature of something that can be called, or nothing."""
    if not callable(value):
        return f" = {_ADDRESS.sub('', repr(value))}"
    try:
        return _ADDRESS.sub("", str(inspect.signature(value)))
    except (TypeError, ValueError):
        return "(…)"


def help_lines(command: click.Command, parent: click.Context | None, name: str) -> Iterator[str]:
    """Yield the help of a command, and of all commands below it."""
    settings = {**command.context_settings, "terminal_width": 100, "max_content_width": 100}
    context = command.context_class(command, info_name=name, parent=parent, **settings)
    yield ""
    yield f"$ {context.command_path} --help"
    yield from command.get_help(context).splitlines()
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None:
                yield from help_lines(found, context, inner)


def main(words: Sequence[str] | None = None) -> None:
    """Print the surface of the checkout that the words of the command line name."""
    parser = argparse.ArgumentParser(prog="python tools/surface.py", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--found", action="store_true", help="of the package that is found first")
    arguments = parser.parse_args(words)
    if arguments.found:
        sys.stdout.write("\n".join(lines()) + "\n")
        return
    paths = {"PYTHONPATH": str(arguments.root.resolve() / "src")}
    command = [sys.executable, "-P", __file__, "--found"]
    done = subprocess.run(command, env={**os.environ, **paths}, check=False)  # noqa: S603
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
