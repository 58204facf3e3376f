"""Front doors: what a package exports is written down once, and imported at first use."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def open_door(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    The package exports what its ``__init__.py`` imports ``if TYPE_CHECKING``: so type checkers and
    readers see plain imports, and a module is loaded only when somebody asks for a name of it.
    The command line's help does not wait for NumPy, nor a run for models that it does not use.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    file : str
        Its ``__file__``.

    Examples
    --------
    >>> import pdfalearn.doors
    >>> get, _, names = open_door("pdfalearn", pdfalearn.__file__)
    >>> "learn" in names, get("PDFA")
    (True, <class 'pdfalearn.pdfa.PDFA'>)
    """
    [listed] = [
        node
        for node in ast.parse(Path(file).read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    modules = {
        alias.name: node.module
        for node in listed.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(modules), list(modules)
