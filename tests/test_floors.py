"""A room knows only the floors below its own, and no private module of another room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pdfalearn

ROOT = Path(pdfalearn.__file__).parent

FLOORS = [
    {"errors", "registry", "frozen", "text"},
    {"arrays", "files", "memory", "plotting", "progress"},
    {"words"},
    {"alphabet"},
    {"checks"},
    {"runs", "rows", "budgets", "certificates", "word_trees"},
    {"packed_rows", "row_checks"},
    {"dfa", "pdfa", "tree_nodes"},
    {"reachability"},
    {"dfa_parts"},
    {"equivalence", "formats", "generate"},
    {"models"},
    {"stores"},
    {"observations"},
    {"samplers"},
    {"learners", "oracles", "metrics"},
    {"learning", "distilling"},
    {"analysis", "sweeping"},
    {"displays", "experiments", "testing", "viewing"},
    {"cli"},
    {"__main__"},
]
"""From the lowest to the highest. Rooms and modules on one floor do not know each other."""
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[list[str]]:
    """Yield the modules of this package that a file imports anywhere, as lists of names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide where they lead"
            modules = [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        else:
            continue
        yield from (names for module in modules if (names := module.split("."))[0] == "pdfalearn")


def test_every_room_has_its_floor() -> None:
    assert {room_of(path) for path in FILES} - FLOOR_OF.keys() == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_lead_down_and_not_into_private_modules(path: Path) -> None:
    room = room_of(path)
    free = {room, "__version__", *(pdfalearn.__all__ if room == "cli" else ())}
    for _, *names in imported(path):
        assert names or room == "cli", "the package as a whole is above every other room"
        other, *inner = names or [room]
        if other not in free:
            assert FLOOR_OF[other] < FLOOR_OF[room], f"{room} imports {other} from a floor above"
            assert not any(name.startswith("_") for name in inner), f"{inner} is of {other} alone"
