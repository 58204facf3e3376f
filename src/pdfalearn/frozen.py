"""Objects that never change after they are made."""

from __future__ import annotations


class Frozen:
    """Refuses assignment to attributes; constructors fill ``__dict__``."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} objects never change; make a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} objects never change; make a new one")
