"""The state of a recurrent network: a tensor, or tuples, lists and dictionaries of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    Nest: TypeAlias = "Tensor | tuple[Nest, ...] | list[Nest] | dict[str, Nest]"


def leaves(nest: Nest) -> list[Tensor]:
    """Give the tensors of a nest in order."""
    from torch import Tensor

    if isinstance(nest, Tensor):
        return [nest]
    if isinstance(nest, tuple | list):
        return [leaf for part in nest for leaf in leaves(part)]
    if isinstance(nest, dict):
        return [leaf for part in nest.values() for leaf in leaves(part)]
    raise InputError(
        f"the state of a network is a tensor, or tuples, lists or dictionaries of tensors; "
        f"there is a {type(nest).__name__} in it"
    )


def rebuilt(nest: Nest, tensors: Iterator[Tensor]) -> Nest:
    """Put other tensors in the places of a nest's own."""
    if isinstance(nest, tuple | list):
        parts = [rebuilt(part, tensors) for part in nest]
        return parts if isinstance(nest, list) else tuple(parts)
    if isinstance(nest, dict):
        return {name: rebuilt(part, tensors) for name, part in nest.items()}
    return next(tensors)
