"""A user's code around which every failure becomes one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from pdfalearn.cli._importing import failure_text
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

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def explained(function: Callable[Given, Returned], name: str) -> Callable[Given, Returned]:
    """Return a function that says in one line where and why a user's function has failed.

    What was answered before is attached to the error, as it was to the first one.
    """

    def call(*arguments: Given.args, **more: Given.kwargs) -> Returned:
        try:
            return function(*arguments, **more)
        except (InputError, UndecidedError, KeyboardInterrupt):
            raise  # whoever has called knows the word
        except BaseException as error:  # it may even try to exit
            failure = ModelError(f"{name} failed with {failure_text(error)}")
            partial = attached_answers(error)
            if partial is not None:
                attach_answers(failure, *partial)
            raise failure from error

    return call


class ExplainedModel(CheckedModel):
    """A user's model whose failures are told in one line.

    Parameters
    ----------
    model : LanguageModel
        The model, or what it has opened.
    name : str
        How the user has named it.
    fingerprint : str, optional
        Its fingerprint, if it has none of its own.
    """

    def __init__(self, model: LanguageModel, name: str, fingerprint: str | None = None) -> None:
        members = explained(check_members, name)(model)
        self.model = model
        self.alphabet, self.cost = members.alphabet, members.cost
        self.fingerprint = members.fingerprint or fingerprint
        self.full_support = bool(model.full_support)
        self.needs_prefixes = bool(model.needs_prefixes)
        self.is_constrained = bool(model.is_constrained)
        self._name = name

    def open(self) -> ExplainedModel:
        """Open the model; its answers are checked inside."""
        opened = explained(open_model, self._name)(self.model)
        return ExplainedModel(opened, self._name, self.fingerprint)

    def answer(self, batch: Batch) -> Rows:
        """Return what the model answers."""
        return explained(self.model.answer, self._name)(batch)

    def close(self) -> None:
        """Close what was opened."""
        explained(self.model.close, self._name)()

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        """Return what each copy of the model answers."""
        return explained(self.model.answers_by_copy, self._name)(word)
