"""The state of a recurrent network: a tensor, or tuples, lists and dictionaries of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    Nest: TypeAlias = "Tensor | tuple[Nest, ...] | list[Nest] | dict[str, Nest]"


def leaves(nest: Nest) -> list[Tensor]:
    """Return the tensors of a nest in order, those of a dictionary in the order of their names."""
    import torch

    if isinstance(nest, torch.Tensor):
        return [nest]
    if isinstance(nest, tuple | list):
        return [leaf for part in nest for leaf in leaves(part)]
    if isinstance(nest, dict):
        return [leaf for name in sorted(nest) for leaf in leaves(nest[name])]
    raise InputError(
        f"the state of a network is a tensor, or tuples, lists or dictionaries of tensors; "
        f"there is a {type(nest).__name__} in it"
    )


def rebuilt(nest: Nest, tensors: Iterator[Tensor]) -> Nest:
    """Put other tensors in the places of a nest's own."""
    if isinstance(nest, tuple | list):
        parts = [rebuilt(part, tensors) for part in nest]
        if isinstance(nest, list):
            return parts
        make: Callable[..., tuple[Nest, ...]] | None = getattr(
            nest, "_make", None
        )  # if it is named
        return tuple(parts) if make is None else make(parts)
    if isinstance(nest, dict):
        return {name: rebuilt(nest[name], tensors) for name in sorted(nest)}
    return next(tensors)
