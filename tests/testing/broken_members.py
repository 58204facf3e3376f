"""Broken models: what they say about themselves, and what sessions begin with."""

from __future__ import annotations

from itertools import count

from pdfalearn import Alphabet
from pdfalearn.models.protocol import LanguageModel, Session
from tests.models.owning import Owning, OwningSession
from tests.testing.broken import (
    TARGET,
    broken,
    function,
    owning,
)


@broken("Own has no alphabet: set it to an Alphabet")
def no_alphabet() -> LanguageModel:
    return type("Own", (LanguageModel,), {})()  # type: ignore[no-any-return]


@broken("Own.alphabet is 'ab'")
def a_string_as_alphabet() -> LanguageModel:
    return type("Own", (LanguageModel,), {"alphabet": "ab"})()  # type: ignore[no-any-return]


@broken("Own: read raised NotImplementedError: Own has neither answer nor open")
def neither_answer_nor_open() -> LanguageModel:
    return type("Own", (LanguageModel,), {"alphabet": Alphabet("ab")})()  # type: ignore[no-any-return]


@broken(r"Restless.fingerprint was 'run 0' and is 'run 1' now: it has to stay")
def an_identity_that_changes() -> LanguageModel:
    numbers = count()

    class Restless(Owning):
        fingerprint = property(lambda self: f"run {next(numbers)}")

    return Restless(TARGET)


@broken(r"Counting.fingerprint was '0' and is '\d+' now")
def an_identity_that_changes_by_asking() -> LanguageModel:
    class Counting(Owning):
        fingerprint = property(lambda self: str(len(self.sessions)))

    return Counting(TARGET)


@broken("Own.fingerprint is 7: set it to a text")
def a_number_as_fingerprint() -> LanguageModel:
    return type("Own", (Owning,), {"fingerprint": 7})(TARGET)  # type: ignore[no-any-return]


@broken("Own has fingerprint that raised ZeroDivisionError: division by zero")
def an_identity_that_fails() -> LanguageModel:
    return type("Own", (Owning,), {"fingerprint": property(lambda _: 1 / 0)})(TARGET)  # type: ignore[no-any-return]


@broken("Own.cost is 1.0: set it to a QueryCost")
def a_number_as_cost() -> LanguageModel:
    return type("Own", (Owning,), {"cost": 1.0})(TARGET)  # type: ignore[no-any-return]


@broken("Own.open returned None: .* subclass of Session")
def no_session() -> LanguageModel:
    return type("Own", (Owning,), {"open": lambda self: None})(TARGET)  # type: ignore[no-any-return]


@broken("Own: open raised OSError: no server")
def open_fails() -> LanguageModel:
    def refuse(self: object) -> Session:
        raise OSError("no server")

    return type("Own", (Owning,), {"open": refuse})(TARGET)  # type: ignore[no-any-return]


@broken("Changed.start returned None: .* handle of the empty word")
def start_returns_nothing() -> LanguageModel:
    return owning(start=lambda self: None)


@broken("Changed.start returned -1: the empty word is undefined")
def start_is_undefined() -> LanguageModel:
    return owning(start=lambda self: -1)


@broken("FunctionModel: the empty word is undefined")
def the_empty_word_is_undefined() -> LanguageModel:
    return function(lambda word: [0.2, 0.3, 0.5] if word else None)


@broken(r"Changed.room is 2: set it to None, or .* at least 3")
def little_room() -> LanguageModel:
    return owning(2, start=OwningSession.start)


@broken("Changed.room is 3.5")
def half_a_handle() -> LanguageModel:
    return owning(3.5)  # type: ignore[arg-type]


@broken("Owning: room is 9, but handles are shared: leave it None")
def room_for_shared_handles() -> LanguageModel:
    return owning(9, shared=True)


@broken("Changed.shared is 'no'")
def neither_shared_nor_not() -> LanguageModel:
    return owning(shared="no")
