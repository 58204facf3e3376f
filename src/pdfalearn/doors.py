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
    Where there is a second such block, what it imports is for other rooms of the package and not
    in ``__all__``.

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
    blocks = [
        {
            alias.name: str(node.module)
            for node in block.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for block in ast.parse(Path(file).read_text(encoding="utf-8")).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
    ]
    modules = {name: module for block in blocks for name, module in block.items()}

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        is_room = modules[name] == package
        value: object = (
            import_module(f"{package}.{name}")
            if is_room
            else getattr(import_module(modules[name]), name)
        )
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(blocks[0]), list(blocks[0])
