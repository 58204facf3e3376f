"""Checks of the arrays in archives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from pdfalearn.errors import FileFormatError

Array = NDArray[Any]
Arrays = Mapping[str, Array]


def shaped(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> Array:
    """Return an array of a shape, of which None may be any number."""
    array = arrays[name]
    extents = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(wanted not in (None, found) for found, wanted in extents):
        expected = str(shape).replace("None", "any")
        raise FileFormatError(f"{name} has the shape {array.shape}, not {expected}")
    return array


def check_range(array: Array, name: str, low: float, high: float) -> None:
    """Refuse an array with an entry that is NaN or not between two numbers."""
    if array.size and not (array.min() >= low and array.max() <= high):
        wrong = array[~((array >= low) & (array <= high))][0]
        raise FileFormatError(f"{name} holds {wrong}, which is not from {low} to {high}")
