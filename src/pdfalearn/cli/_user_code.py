"""Code of users: imported by name, and run so that whatever fails there becomes one line."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
from typing import ParamSpec, TypeVar

from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import (
    Batch,
    CheckedModel,
    LanguageModel,
    attach_answers,
    attached_answers,
    check_members,
    open_model,
)
from pdfalearn.row_checks import UndecidedError
from pdfalearn.rows import Rows
from pdfalearn.text import shorten

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

_LIBRARY = str(Path(__file__).parents[1])
_LONGEST_MESSAGE = 500


def import_object(place: str, name: str) -> object:
    """Import an object of a file in .py, or of a module in the current folder or installed."""
    if place.endswith(".py"):
        path = Path(place)
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
        module = _execute_file(path.resolve(), path.stat().st_mtime_ns, place)
    else:
        if "" not in sys.path:
            sys.path.insert(0, "")
        with _import_errors(place):
            module = importlib.import_module(place)
    try:
        return getattr(module, name)
    except AttributeError as error:
        raise InputError(f"{place!r} has no {name!r}") from error


@cache
def _execute_file(path: Path, _changed: int, name_for_people: str) -> ModuleType:
    """Execute a file once, however many of its objects are named, unless it has changed."""
    # As for a script, modules beside the file can be imported.
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # A name of its own hides no other module, and pickles find what is defined there.
    name = f"pdfalearn_model_{len(sys.modules)}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{name_for_people} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with _import_errors(name_for_people):
        spec.loader.exec_module(module)
    return module


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
        raise InputError(f"{module!r} cannot be imported: {_failure_text(error)}") from error


def _failure_text(error: BaseException) -> str:
    """Write in one line what went wrong in a user's code, and in which line of it."""
    try:
        message = str(error).strip()
    except Exception:  # it is the user's class
        message = ""
    text = ": ".join(filter(None, (type(error).__name__, shorten(message, _LONGEST_MESSAGE))))
    # The last line of the user's own code is named; one of an installed package if there is none.
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_LIBRARY, "<frozen"))
    ]
    own = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    return f"{text}, line {own[-1].lineno} of {own[-1].filename}" if own else text


def explain_failures(function: Callable[Given, Returned], name: str) -> Callable[Given, Returned]:
    """Return a function that says in one line where and why a user's function has failed.

    What was answered before is attached to the error, as it was to the first one.
    """

    @wraps(function)
    def call(*arguments: Given.args, **more: Given.kwargs) -> Returned:
        try:
            return function(*arguments, **more)
        except (InputError, UndecidedError, KeyboardInterrupt):
            raise  # whoever has called knows the word
        except BaseException as error:  # it may even try to exit
            failure = ModelError(f"{name} failed with {_failure_text(error)}")
            partial = attached_answers(error)
            if partial is not None:
                attach_answers(failure, *partial)
            raise failure from error

    return call


class ExplainedModel(CheckedModel):
    """A user's model, or what it has opened, whose failures are explained in one line.

    The fingerprint is that of a model which has none of its own.
    """

    def __init__(self, model: LanguageModel, name: str, fingerprint: str | None = None) -> None:
        members = explain_failures(check_members, name)(model)
        self.model = model
        self.alphabet, self.cost = members.alphabet, members.cost
        self.fingerprint = members.fingerprint or fingerprint
        self.full_support = bool(model.full_support)
        self.needs_prefixes = bool(model.needs_prefixes)
        self.is_constrained = bool(model.is_constrained)
        self._name = name

    def open(self) -> ExplainedModel:
        """Open the model; its answers are checked inside."""
        opened = explain_failures(open_model, self._name)(self.model)
        return ExplainedModel(opened, self._name, self.fingerprint)

    def answer(self, batch: Batch) -> Rows:
        """Return what the model answers."""
        return explain_failures(self.model.answer, self._name)(batch)

    def close(self) -> None:
        """Close what was opened."""
        explain_failures(self.model.close, self._name)()

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        """Return what each copy of the model answers."""
        return explain_failures(self.model.answers_by_copy, self._name)(word)
