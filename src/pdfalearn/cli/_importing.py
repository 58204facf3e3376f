"""Objects of Python files and modules, imported by name; what fails there is told in one line."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

from pdfalearn.errors import InputError
from pdfalearn.text import shortened

_LIBRARY = str(Path(__file__).parents[1])
"""Lines of this library are not where a user's code is wrong."""
_LONGEST = 500
"""More characters of a message are not shown."""


def imported(place: str, name: str) -> object:
    """Import an object.

    Parameters
    ----------
    place : str
        A file that ends in .py; or a module, in the current folder or installed.
    name : str
        The object's name there.
    """
    module = _module_of_file(Path(place)) if place.endswith(".py") else _module(place)
    try:
        return getattr(module, name)
    except AttributeError as error:
        raise InputError(f"{place!r} has no {name!r}") from error


def failure_text(error: BaseException) -> str:
    """Write in one line what went wrong in a user's code, and in which line of it."""
    try:
        message = str(error).strip()
    except Exception:  # it is the user's class
        message = ""
    kind = type(error).__name__
    text = f"{kind}: {shortened(message, _LONGEST)}" if message else kind
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_LIBRARY, "<frozen"))
    ]
    own = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    return f"{text}, line {own[-1].lineno} of {own[-1].filename}" if own else text


def _module_of_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    return _executed(path.resolve(), path.stat().st_mtime_ns, str(path))


@cache
def _executed(path: Path, _changed: int, shown: str) -> ModuleType:
    """Execute a file once, however many of its objects are named, unless it has changed."""
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = f"pdfalearn_model_{len(sys.modules)}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{shown} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with _import_errors(shown):
        spec.loader.exec_module(module)
    return module


def _module(name: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")
    with _import_errors(name):
        return importlib.import_module(name)


@contextmanager
def _import_errors(module: str) -> Iterator[None]:
    """Turn a failed import of a user's module into an error of one line."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        if error.name == module or module.startswith(f"{error.name}."):
            raise InputError(
                f"there is no file and no module {module!r}; a module has to be in the current "
                "folder or installed"
            ) from error
        remedy = ": pip install torch" if error.name == "torch" else ""
        raise InputError(f"{module!r} needs {error.name!r}, which is missing{remedy}") from error
    except BaseException as error:  # it may even try to exit
        raise InputError(f"{module!r} cannot be imported: {failure_text(error)}") from error
