"""A room knows only the floors below its own, and enters other rooms by their front doors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pdfalearn
from tools.floors import FLOORS, LATER, ROOT, room_of

FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor.rooms}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def imported(path: Path) -> Iterator[tuple[list[str], bool]]:
    """Yield the modules of this package that a file imports, as lists of names.

    With each comes whether only a function imports it, when it is called, or a type checker.
    """
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    later = [
        node
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    inside = {id(node) for block in later for node in ast.walk(block)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide where they lead"
            modules = [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        else:
            continue
        for first, *names in (module.split(".") for module in modules):
            if first == "pdfalearn":
                yield names, id(node) in inside


def test_every_room_has_its_floor() -> None:
    assert {room_of(path) for path in FILES} == FLOOR_OF.keys()
    assert len(FLOOR_OF) == sum(len(floor.rooms) for floor in FLOORS)


def test_every_way_up_is_used() -> None:
    found = {(room_of(path), names[0]) for path in FILES for names, _ in imported(path) if names}
    ways = {(low, high) for low, high in found if FLOOR_OF.get(high, -1) > FLOOR_OF[low]}
    assert ways == LATER.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_lead_down_and_through_front_doors(path: Path) -> None:
    room = room_of(path)
    free = {room, "__version__", *(pdfalearn.__all__ if room == "cli" else ())}
    for names, is_later in imported(path):
        assert names or room == "cli", "the package as a whole is above every other room"
        other, *inner = names or [room]
        if other not in free:
            is_below = FLOOR_OF[other] < FLOOR_OF[room]
            assert is_below or (is_later and (room, other) in LATER), f"{other} is above {room}"
            assert len(inner) <= 1, f"{other} has a front door: import {inner[-1]} from it"


def test_every_file_and_room_that_the_architecture_names_exists() -> None:
    folder = Path(__file__).parents[1]
    text = (folder / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+(?:/|\.(?:py|js|md|svg)))`", text))
    paths = [
        path for room in ("src", "tests", "tools", "docs") for path in (folder / room).rglob("*")
    ]
    known = {f"/{path.relative_to(folder)}{'/' * path.is_dir()}" for path in paths}
    assert len(named) > 60
    assert not [name for name in named if not any(path.endswith(f"/{name}") for path in known)]
