"""The public names: imported at first use, and known to type checkers all the same."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

import pdfalearn

ROOT = Path(pdfalearn.__file__).parent
PACKAGES = [
    "pdfalearn",
    *sorted(f"pdfalearn.{path.parent.name}" for path in ROOT.glob("*/__init__.py")),
]
DOORS = [importlib.import_module(name) for name in PACKAGES if name != "pdfalearn.cli"]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_door_is_one_list(door: ModuleType) -> None:
    """What is imported for type checkers is what is exported, and each name comes once."""
    source = ast.parse(Path(str(door.__file__)).read_text(encoding="utf-8"))
    blocks = [
        [alias for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
        for block in source.body
        if isinstance(block, ast.If)
    ]
    everything = [alias for block in blocks for alias in block]
    assert [alias.name for alias in blocks[0]] == door.__all__
    assert len({alias.name for alias in everything}) == len(everything)
    assert all(alias.asname == alias.name for alias in everything), "only so is a name exported"
    for alias in everything:
        value = getattr(door, alias.name)
        is_room = f"{door.__name__}.{alias.name}" in PACKAGES or alias.name == "errors"
        assert isinstance(value, ModuleType) == is_room, "a module hides the name"
    assert dir(door) == sorted(door.__all__)


def test_the_top_has_few_names() -> None:
    assert len(pdfalearn.__all__) <= 45
    assert pdfalearn.oracles.PACOracle is importlib.import_module("pdfalearn.oracles").PACOracle


def test_public_names_are_documented() -> None:
    assert not [name for name in pdfalearn.__all__ if not getattr(pdfalearn, name).__doc__]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'unlearn'"):
        _ = pdfalearn.unlearn  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="unlearn"):
        from pdfalearn import unlearn  # type: ignore[attr-defined]  # noqa: F401
