"""The public names: imported at first use, and known to type checkers all the same."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import pdfalearn


def shown_to_type_checkers() -> dict[str, str]:
    """The name and the module of every import under TYPE_CHECKING."""
    assert pdfalearn.__file__ is not None
    source = ast.parse(Path(pdfalearn.__file__).read_text(encoding="utf-8"))
    (block,) = [
        node
        for node in source.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    modules = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        assert node.module is not None
        for alias in node.names:
            assert alias.asname == alias.name, "only so is a name exported"
            modules[alias.name] = node.module
    return modules


def test_type_checkers_see_the_same_names() -> None:
    assert sorted(pdfalearn.__all__) == sorted(shown_to_type_checkers())
    assert len(set(pdfalearn.__all__)) == len(pdfalearn.__all__)


@pytest.mark.parametrize("name", pdfalearn.__all__)
def test_every_name_can_be_imported(name: str) -> None:
    module = importlib.import_module(shown_to_type_checkers()[name])
    value = getattr(pdfalearn, name)
    assert value is getattr(module, name)
    assert value.__module__ == module.__name__
    assert value.__doc__


def test_dir_lists_them() -> None:
    assert dir(pdfalearn) == sorted([*pdfalearn.__all__, "__version__"])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'unlearn'"):
        _ = pdfalearn.unlearn
    with pytest.raises(ImportError, match="unlearn"):
        from pdfalearn import unlearn  # noqa: F401
