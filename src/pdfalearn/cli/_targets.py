"""What the command line can learn from: files, and objects of Python modules."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

import pdfalearn
from pdfalearn.errors import InputError, ModelError

if TYPE_CHECKING:
    from pdfalearn import PDFA, Alphabet, LanguageModel


def model_of(target: str, alphabet: str | None) -> PDFA | LanguageModel:
    """Make a model of what the command line calls the target.

    Parameters
    ----------
    target : str
        A file, ``module:object``, or ``torch:FILE.py:function``.
    alphabet : str, optional
        The symbols of a function's words: characters side by side, or separated by blanks.
    """
    if target.startswith("torch:"):
        if alphabet is not None:
            raise InputError(f"--alphabet is for functions of words; {target} has its own")
        return _made(target.removeprefix("torch:"))
    module, colon, name = target.partition(":")
    is_object = colon and name.isidentifier() and not Path(target).exists()
    if not is_object:
        if alphabet is not None:
            raise InputError("--alphabet is for functions of a module; a file has its own")
        return pdfalearn.load_pdfa(target)
    found = _object(module, name)
    if isinstance(found, pdfalearn.PDFA) or _is_model(found):
        if alphabet is not None:
            raise InputError(f"--alphabet is for functions; {target} has its own")
        return found if isinstance(found, pdfalearn.PDFA) else ExplainedModel(found, target)
    if not callable(found) or isinstance(found, type):
        raise InputError(
            f"{target} is {found!r}, neither a function from a list of words to an array nor an "
            "object with the methods of a LanguageModel"
        )
    if alphabet is None:
        raise InputError(f"{target} is a function: say with --alphabet what its symbols are")
    return pdfalearn.FunctionModel(explained(found, target), alphabet_of(alphabet))


def _is_model(found: object) -> TypeGuard[LanguageModel]:
    return hasattr(found, "distributions") and not isinstance(found, type)


def alphabet_of(text: str) -> Alphabet:
    """Read an alphabet: characters side by side, or symbols separated by blanks."""
    return pdfalearn.Alphabet(text.split() if " " in text else text)


def explained(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Say in one line where and why a user's function has failed."""

    def call(*arguments: object) -> Any:
        try:
            return function(*arguments)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            frames = traceback.extract_tb(error.__traceback__)
            where = f", line {frames[-1].lineno} of {frames[-1].filename}" if frames[1:] else ""
            raise ModelError(
                f"{name} failed with {type(error).__name__}: {error}{where}"
            ) from error

    return call


def _made(target: str) -> LanguageModel:
    """Make a model by calling a function of a file."""
    path, colon, name = target.rpartition(":")
    if not (colon and path.endswith(".py") and name.isidentifier()):
        raise InputError(f"torch:{target} is not of the form torch:FILE.py:make_model")
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such file")
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    make = _of_file(Path(path), name)
    if not callable(make):
        raise InputError(f"{name} in {path} is {make!r}, not a function that makes a model")
    model: object = explained(make, f"{name}() in {path}")()
    if not _is_model(model):
        raise InputError(
            f"{name}() in {path} gave {model!r}, which has not the methods of a LanguageModel; "
            "RecurrentModel makes one of a network"
        )
    return ExplainedModel(model, f"torch:{target}")


class ExplainedModel:
    """A user's model whose failures are told in one line."""

    def __init__(self, model: LanguageModel, name: str) -> None:
        self._model = model
        for method in ("start", "extend", "distributions", "release", "undefined_after"):
            if hasattr(model, method):
                setattr(self, method, explained(getattr(model, method), name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def _of_file(path: Path, name: str) -> object:
    """Import an object from a file, whatever its name."""
    spec = importlib.util.spec_from_file_location(f"pdfalearn_target_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with _import_errors(str(path)):
        spec.loader.exec_module(module)
    return _member(module, str(path), name)


@contextmanager
def _import_errors(module: str) -> Iterator[None]:
    """Say in one line why a user's module cannot be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name == module or module.startswith(f"{error.name}."):
            raise InputError(
                f"there is no file and no module {module!r}; a module has to be in the current "
                "folder or installed"
            ) from error
        remedy = ": pip install 'pdfalearn[torch]'" if error.name == "torch" else ""
        raise InputError(f"{module!r} needs {error.name!r}, which is missing{remedy}") from error
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{module!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _member(module: ModuleType, shown: str, name: str) -> object:
    try:
        return getattr(module, name)
    except AttributeError as error:
        raise InputError(f"{shown!r} has no {name!r}") from error


def _object(module: str, name: str) -> object:
    """Import an object from a module, which may be in the current folder."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    with _import_errors(module):
        imported = importlib.import_module(module)
    return _member(imported, module, name)
