"""What all that hold copies of a model have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.checking import Members
from pdfalearn.models.replicas._requests import Failure, Request, Response, Traits

Answer = Response | Failure


class Pool(Protocol):
    """Copies of a model; each has a seat, a number from 0 on."""

    traits: Traits
    """What the first copy says about the model."""

    def seats(self) -> int:
        """Return how many copies there are now."""
        ...

    def ask(self, requests: Sequence[tuple[int, Request]]) -> list[Answer]:
        """Ask copies, at most one request each; whoever is lost, another one answers for it."""
        ...

    def end(self) -> None:
        """End all copies."""
        ...


def checked_traits(answer: Traits | Failure) -> Traits:
    """Return what a new copy says, or raise why there is none."""
    if isinstance(answer, Traits):
        return answer
    error = answer.error()
    if isinstance(error, InputError | ImportError | OSError):
        error.add_note(f"This happened in make_model, in {answer.by}.")
        raise error
    raise ModelError(f"make_model failed in {answer.by} with {answer.text}") from error


def check_same(traits: Iterable[Traits]) -> None:
    """Refuse copies that say different things about themselves."""
    first, *others = traits
    for other in others:
        for name in Members._fields:
            one, two = getattr(first.members, name), getattr(other.members, name)
            if one != two:
                raise ModelError(
                    f"the copies differ: the {name} is {one!r} in {first.by} and {two!r} in "
                    f"{other.by}; make_model has to make the same model each time (is a network "
                    "random? set the seed, or load its weights)"
                )
