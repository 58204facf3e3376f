"""A copy of a model in a process of its own, and the conversations with it."""

from __future__ import annotations

from pdfalearn.models.automaton import as_model
from pdfalearn.models.checking import (
    checked_model_members,
    checked_room,
    checked_session,
    checked_shared,
    close_quietly,
)
from pdfalearn.models.replicas._requests import (
    ANSWER,
    Failure,
    Maker,
    Request,
    Response,
    Traits,
)
from pdfalearn.models.replicas._talks import Talk
from pdfalearn.models.whole_words import WholeWords, answered

_MOST_TALKS = 32
"""More conversations are not held at once; one that is forgotten is led to its words again."""


class Copy:
    """A model, and a session for each conversation.

    Parameters
    ----------
    make : callable
        Makes the model.
    by : str
        Who this is.
    """

    def __init__(self, make: Maker, by: str) -> None:
        self._by = by
        self._model = as_model(make())
        self._talks: dict[str, Talk] = {}

    def traits(self) -> Traits:
        """Return what the model says about itself."""
        session = checked_session(self._model)
        try:
            room = None if checked_shared(session) else checked_room(session)
            is_whole, positive = isinstance(session, WholeWords), bool(session.positive)
        finally:
            close_quietly(session)
        members = checked_model_members(self._model)
        return Traits(self._by, members, is_whole, room, positive)

    def handle(self, request: Request) -> Response | Failure:
        """Answer a request; an error is returned, not raised."""
        try:
            for name in request.ended:
                if name in self._talks:
                    self._talks.pop(name).close()
            if request.kind == ANSWER:
                return Response(self._by, rows=answered(self._model, request.words))
            return self._talk(request.talk).handle(request)
        except BaseException as error:
            return Failure.of(error, self._by)

    def _talk(self, name: str) -> Talk:
        """Return a conversation; where there are too many, the oldest is forgotten."""
        if name not in self._talks:
            if len(self._talks) == _MOST_TALKS:
                self._talks.pop(next(iter(self._talks))).close()
            self._talks[name] = Talk(self._model, self._by)
        return self._talks[name]
