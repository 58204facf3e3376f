"""What the site takes from the package: names, help, links."""

from __future__ import annotations

import re
from pathlib import Path

import click

from pdfalearn.cli import cli
from tools import site_hooks

ROOT = Path(__file__).parents[2]


def test_every_room_with_public_names_is_on_one_page_of_the_reference() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")]
    shown = [room for text in texts for part in rooms_on(text) for room in part.split()]
    assert sorted(shown) == sorted(set(shown))
    assert {room for room, _ in site_hooks.public_names()} - set(shown) == set()


def rooms_on(text: str) -> list[str]:
    return re.findall(r"<!-- names: ([\w ]+) -->", text)


def test_names_of_a_room_become_blocks() -> None:
    names = ["Budget", "testing.check_model", "testing.Stability", "testing.stability"]
    blocks = [f"::: pdfalearn.{name}" for name in names]
    assert site_hooks.names_of(["budgets", "testing"]) == "\n\n".join(blocks)


def test_help_has_every_command_and_option() -> None:
    sections = list(site_hooks.help_of(cli, "pdfalearn"))
    options = 0
    for path, command in commands(cli, "pdfalearn"):
        (section,) = [text for text in sections if text.startswith(f"## {path}\n")]
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                options += 1
                assert parameter.opts[-1] in section, (path, parameter.opts)
    assert options > 100


def commands(command: click.Command, path: str) -> list[tuple[str, click.Command]]:
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            found += commands(inner, f"{path} {name}")
    return found


def test_links_out_of_docs_lead_to_the_repository() -> None:
    text = "[a](../examples/a.py) [b](../b.md) [c](../../README.md)"
    assert site_hooks.led_to_repository(text, 0, "R") == (
        "[a](R/blob/main/examples/a.py) [b](R/blob/main/b.md) [c](R/blob/main/README.md)"
    )
    assert site_hooks.led_to_repository(text, 1, "R") == (
        "[a](../examples/a.py) [b](../b.md) [c](R/blob/main/README.md)"
    )
