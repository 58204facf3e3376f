"""What the command line can learn from: files, and objects of Python modules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import pdfalearn
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from pdfalearn import PDFA, Alphabet, LanguageModel


def model_of(target: str, alphabet: str | None) -> PDFA | LanguageModel:
    """Make a model of what the command line calls the target.

    Parameters
    ----------
    target : str
        A file, or ``module:object``.
    alphabet : str, optional
        The symbols of a function's words: characters side by side, or separated by blanks.
    """
    module, colon, name = target.partition(":")
    is_object = colon and name.isidentifier() and not Path(target).exists()
    if not is_object:
        if alphabet is not None:
            raise InputError("--alphabet is for functions of a module; a file has its own")
        return pdfalearn.load(target)
    found = _object(module, name)
    if isinstance(found, pdfalearn.PDFA) or _is_model(found):
        if alphabet is not None:
            raise InputError(f"--alphabet is for functions; {target} has its own")
        return found
    if not callable(found) or isinstance(found, type):
        raise InputError(
            f"{target} is {found!r}, neither a function from a list of words to an array nor an "
            "object with the methods of a LanguageModel"
        )
    if alphabet is None:
        raise InputError(f"{target} is a function: say with --alphabet what its symbols are")
    return pdfalearn.FunctionModel(found, alphabet_of(alphabet))


def _is_model(found: object) -> TypeGuard[LanguageModel]:
    return hasattr(found, "distributions") and not isinstance(found, type)


def alphabet_of(text: str) -> Alphabet:
    """Read an alphabet: characters side by side, or symbols separated by blanks."""
    return pdfalearn.Alphabet(text.split() if " " in text else text)


def _object(module: str, name: str) -> object:
    """Import an object from a module, which may be in the current folder."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            raise InputError(
                f"there is no file {module}:{name} and no module {module!r}; a module has to be in "
                "the current folder or installed"
            ) from error
        raise InputError(f"the module {module!r} needs {error.name!r}, which is missing") from error
    except (Exception, SystemExit) as error:
        raise InputError(
            f"the module {module!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    try:
        return getattr(imported, name)
    except AttributeError as error:
        raise InputError(f"the module {module!r} has no {name!r}") from error
