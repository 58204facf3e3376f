"""What copies of a model are asked, and what they return."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pdfalearn.models.checking import Members, error_text
from pdfalearn.models.protocol import Handles, Mask
from pdfalearn.rows import Rows
from pdfalearn.words import Words

NOTHING = np.empty(0, dtype=np.int64)
NO_WORDS = Words(np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64))

ANSWER, EXTEND, READ, POSSIBLE = "answer", "extend", "read", "possible"


@dataclass(frozen=True)
class Request:
    """A question to any copy: it has the whole words, and hints for the copy that holds them.

    A copy that does not hold a word is led to it from the start, so that a request can be sent
    again, and to any other copy.
    """

    kind: str
    """What is asked."""
    words: Words
    """The whole words that are asked about, or that are to be extended."""
    more: Words = NO_WORDS
    """What they are to be extended by."""
    talk: str = ""
    """The name of the conversation."""
    token: str = ""
    """The copy's own conversation that the hints and the released handles belong to."""
    hints: Handles = field(default_factory=lambda: NOTHING)
    """The copy's handles of the words; -1 where it has none."""
    names: Handles = field(default_factory=lambda: NOTHING)
    """Equal numbers stand for the same word."""
    released: Handles = field(default_factory=lambda: NOTHING)
    """The copy's handles that are not used any more."""
    ended: tuple[str, ...] = ()
    """The names of conversations that are over."""
    with_rows: bool = False
    """Whether the answers after all new symbols are wanted as well."""


@dataclass(frozen=True)
class Response:
    """What a copy returns."""

    by: str
    """Who has answered: a process, or a worker of a cluster."""
    token: str = ""
    """The copy's own conversation that the handles belong to."""
    bases: Handles = field(default_factory=lambda: NOTHING)
    """The copy's handles of the words that were asked about."""
    handles: Handles = field(default_factory=lambda: NOTHING)
    """Its handles of the longer words, one a symbol; -1 where undefined."""
    rows: Rows | None = None
    """The answers, if they were asked for."""
    possible: Mask | Words | None = None
    """Which symbols may follow."""


@dataclass(frozen=True)
class Failure:
    """An error of a copy, in a form that every process can read."""

    by: str
    """Who has failed."""
    pickled: bytes | None
    """The class of the error, its arguments and its members; None if these cannot be sent."""
    text: str
    """The error in one line."""

    @classmethod
    def of(cls, error: BaseException, by: str) -> Failure:
        """Pack an error."""
        members = {name: value for name, value in vars(error).items() if name != "__notes__"}
        try:
            pickled = pickle.dumps((type(error), error.args, members))
            _error_of(pickled)
        except Exception:  # its class is local, or a member is a thread, or …
            pickled = None
        return cls(by, pickled, error_text(error))

    def error(self) -> BaseException | None:
        """Return the error as it was raised; None if this process does not know its class."""
        try:
            return None if self.pickled is None else _error_of(self.pickled)
        except Exception:
            return None


def _error_of(pickled: bytes) -> BaseException:
    kind, arguments, members = pickle.loads(pickled)  # noqa: S301 (from a process of ours)
    error: BaseException = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(members)
    return error


@dataclass(frozen=True)
class Traits:
    """What a copy says about its model."""

    by: str
    """Who says so."""
    members: Members
    """Alphabet, fingerprint and cost."""
    is_whole: bool
    """Whether the model is asked for whole words."""
    room: int | None
    """The most handles that may be alive at once in one conversation."""
    positive: bool
    """As of sessions."""


Maker = Callable[[], Any]
"""Makes the model."""
