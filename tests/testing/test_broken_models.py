"""Models that break the protocol, one way each: what is wrong is named."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import ModelError
from pdfalearn.models.protocol import Handles, Session
from pdfalearn.rows import Rows
from pdfalearn.testing import check_model
from tests.models.owning import Owning, OwningSession
from tests.testing import broken_answers, broken_handles, broken_members, broken_rows
from tests.testing.broken import (
    BROKEN,
    TARGET,
    function,
    never_again,
    owning,
    rows_of,
)

MODULES = (broken_answers, broken_handles, broken_members, broken_rows)
"""They note their models in BROKEN."""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_named(name: str, seed: int) -> None:
    culprit, make = BROKEN[name]
    with pytest.raises(ModelError, match=culprit) as caught:
        check_model(make(), seed=seed)
    assert "\n" not in str(caught.value)


def test_they_are_many() -> None:
    assert len(BROKEN) >= 50


def test_what_is_changed_here_passes_as_it_was() -> None:
    check_model(owning())
    check_model(owning(9))
    check_model(function(lambda word: [0.2, 0.3, 0.5]))
    check_model(rows_of(Rows.dense(np.full((1, 4), 0.25))))
    check_model(owning(handle_of=never_again, release=lambda self, handles: None))


def test_sessions_are_closed_when_something_is_wrong() -> None:
    model = Owning(TARGET)
    kind = type("Changed", (OwningSession,), {"read": lambda self, handles: None})

    def open() -> Session:  # noqa: A001
        model.sessions.append(kind(model))
        return model.sessions[-1]

    model.open = open  # type: ignore[method-assign]
    with pytest.raises(ModelError, match="read returned None"):
        check_model(model)
    assert [session.closed for session in model.sessions] == [1]


def test_what_else_goes_wrong_in_closing_is_a_note() -> None:
    def close(self: object) -> None:
        raise OSError("already gone")

    with pytest.raises(ModelError, match="start returned None") as caught:
        check_model(owning(start=lambda self: None, close=close))
    assert caught.value.__notes__ == ["Changed.close raised OSError: already gone"]


def test_interruptions_are_not_errors_of_the_model() -> None:
    def read(self: object, handles: Handles) -> Rows:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_model(owning(read=read))
