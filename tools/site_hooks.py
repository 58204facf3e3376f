"""What the documentation site takes from the package itself while it is built.

On a page, ``<!-- names: dfa pdfa -->`` becomes the public names of these rooms, and
``<!-- commands -->`` the help of every command. Links out of ``docs/`` lead to the repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import click

import pdfalearn
from pdfalearn.cli import cli
from tools.house import PUBLIC_ROOMS

_HELP_WIDTH = 92
_NAMES = re.compile(r"<!-- names: ([\w ]+) -->")
_COMMANDS = "<!-- commands -->"
_LINK_OUT_OF_DOCS = re.compile(r"(?<=\]\()(?:\.\./)+(?!docs/)([\w./-]+)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Fill in what the package says; MkDocs calls this for every page."""
    markdown = _NAMES.sub(lambda match: names_of(match[1].split()), markdown)
    if _COMMANDS in markdown:
        markdown = markdown.replace(_COMMANDS, "\n\n".join(help_of(cli, "pdfalearn")))
    return led_to_repository(markdown, page.file.src_uri.count("/"), config.extra["repository"])


def public_names() -> Iterator[tuple[str, str]]:
    """Yield the room and the full name of everything public."""
    top = list(pdfalearn.__all__)
    for name in top:
        module = getattr(pdfalearn, name).__module__
        yield module.split(".")[1], f"pdfalearn.{name}"
    for room in PUBLIC_ROOMS:
        door = import_module(f"pdfalearn.{room}")
        for name in getattr(door, "__all__", ()):
            if name not in top:
                yield room, f"pdfalearn.{room}.{name}"


def names_of(rooms: list[str]) -> str:
    """Return the mkdocstrings blocks of the public names of some rooms, room by room."""
    names = list(public_names())
    return "\n\n".join(f"::: {name}" for room in rooms for of, name in names if of == room)


def help_of(command: click.Command, name: str, above: click.Context | None = None) -> Iterator[str]:
    """Yield a section with the help of a command, then those of the commands below it."""
    context = command.make_context(
        name, [], parent=above, resilient_parsing=True, terminal_width=_HELP_WIDTH
    )
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            inner = command.get_command(context, below)
            assert inner is not None  # noqa: S101
            yield from help_of(inner, below, context)


def led_to_repository(markdown: str, depth: int, repository: str) -> str:
    """Make links that climb out of the folder docs lead to the repository's files."""

    def led(match: re.Match[str]) -> str:
        climbs = match[0].count("../")
        return match[0] if climbs <= depth else f"{repository}/blob/main/{match[1]}"

    return _LINK_OUT_OF_DOCS.sub(led, markdown)
