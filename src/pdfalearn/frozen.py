"""Objects that never change after they are made."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from dataclasses import Field


class Frozen:
    """Refuses assignment to attributes; constructors fill ``__dict__``."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} objects never change; make a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} objects never change; make a new one")


class ArrayValue:
    """What frozen dataclasses with fields that are arrays have in common.

    Their arrays are read-only, also after pickling and copying; two are equal if their fields are.
    What a class remembers beside its fields is neither compared nor pickled.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False)
    ... class Point(ArrayValue):
    ...     place: np.ndarray
    >>> Point(np.array([1, 2])) == Point(np.array([1, 2])), Point(np.zeros(2)).place.flags.writeable
    (True, False)
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        for part in vars(self).values():
            if isinstance(part, np.ndarray):
                part.flags.writeable = False

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(map(_are_same, self._parts(), other._parts()))

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: {type(self).__name__!r}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._parts()

    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))


def _are_same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)
