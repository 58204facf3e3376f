"""A room knows only the floors below its own, and no private module of another room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pdfalearn

ROOT = Path(pdfalearn.__file__).parent

FLOORS = [
    {"arrays", "errors", "frozen", "text", "words"},
    {"alphabet", "extras", "files", "memory", "rows", "runs"},
    {"checks", "packed_rows", "plotting", "word_trees"},
    {"budgets", "pdfa", "row_checks"},
    {"reachability"},
    {"equivalence", "generate"},
    {"chains", "results"},
    {"displays", "formats", "languages"},
    {"analysis", "models"},
    {"stores", "viewing"},
    {"observations"},
    {"learners", "samplers"},
    {"metrics", "oracles"},
    {"distilling", "learning"},
    {"experiments", "sweeping", "testing"},
    {"cli"},
    {"__main__"},
]
"""From the lowest to the highest. Rooms and modules on one floor do not know each other."""
LATER = {("pdfa", "formats"), ("pdfa", "viewing"), ("results", "viewing"), ("formats", "viewing")}
"""What only a function imports, when it is called, from a floor above: to show or to hand over a
value that was made long before. There is no other way up."""
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[tuple[list[str], bool]]:
    """Yield the modules of this package that a file imports, as lists of names.

    With each comes whether only a function imports it, when it is called.
    """
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    inside = {id(node) for function in functions for node in ast.walk(function)}
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
    assert {room_of(path) for path in FILES} - FLOOR_OF.keys() == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_lead_down_and_not_into_private_modules(path: Path) -> None:
    room = room_of(path)
    free = {room, "__version__", *(pdfalearn.__all__ if room == "cli" else ())}
    for names, is_later in imported(path):
        assert names or room == "cli", "the package as a whole is above every other room"
        other, *inner = names or [room]
        if other not in free:
            is_below = FLOOR_OF[other] < FLOOR_OF[room]
            assert is_below or (is_later and (room, other) in LATER), f"{other} is above {room}"
            assert not any(name.startswith("_") for name in inner), f"{inner} is of {other} alone"
