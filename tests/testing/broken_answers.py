"""Broken models: answers that contradict each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdfalearn import PDFA, FunctionModel
from pdfalearn.models.protocol import Handles, LanguageModel, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.models.owning import Owning, OwningSession
from tests.testing.broken import (
    TARGET,
    broken,
    function,
    never_again,
    owning,
    rows_of,
)


@broken("when read twice: .* or on chance .*dropout")
def dropout() -> LanguageModel:
    numbers = np.random.default_rng(1)

    def answer(word: tuple[Any, ...]) -> list[float]:
        noise = 0.01 * numbers.random()
        return [0.2, 0.3 + noise, 0.5 - noise]

    return function(answer)


@broken("when read twice: ")
def another_answer_each_time() -> LanguageModel:
    def read(self: OwningSession, handles: Handles) -> Rows:
        rows = OwningSession.read(self, handles)
        second = len(self.batches) > 1 and self.batches[-2] == -int(handles[0]) - 1
        self.batches[-1] = -int(handles[0]) - 1
        return Rows.dense(rows.values[:, [0, 2, 1, 3]]) if second and len(rows) == 1 else rows

    return owning(read=read, handle_of=never_again, release=lambda self, handles: None)


@broken("in a batch of 7: an answer must not depend on the other words")
def batch_normalisation() -> LanguageModel:
    def answers(words: list[tuple[Any, ...]]) -> list[list[float]]:
        noise = 0.1 if len(words) == 7 else 0.0
        return [[0.2, 0.3 + noise, 0.5 - noise] for _ in words]

    return FunctionModel(answers, "ab")


@broken(r"gives the symbol 'a' probability 0.[23], but 0.[23] .*(another order|alone|batch of)")
def answers_in_the_order_of_length() -> LanguageModel:
    def answers(words: list[tuple[Any, ...]]) -> list[list[float]]:
        return [[0.1, 0.2, 0.7] if len(word) % 2 else [0.1, 0.3, 0.6] for word in sorted(words)]

    return FunctionModel(answers, "ab")


@broken("when it goes on from a prefix")
def always_from_the_start() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        first = next(iter(self.states))
        return OwningSession.extend(self, np.full(len(handles), first), words)

    return owning(extend=extend)


@broken("raised (KeyError|AssertionError)")
def sessions_that_share_their_states() -> LanguageModel:
    class Sharing(Owning):
        def open(self) -> Session:
            session = OwningSession(self)
            if not self.sessions:
                self.sessions.append(session)
            session.states = self.sessions[0].states
            session.states.clear()
            return session

    return Sharing(TARGET)


@broken("while another session is open, or was closed")
def closing_one_session_closes_all() -> LanguageModel:
    closed: list[bool] = []

    def close(self: OwningSession) -> None:
        alive = [each for each in self.model.sessions if each.closed == 0]
        self.closed = 1
        for other in alive:
            other.states = dict.fromkeys(other.states, 2)
        closed.append(True)

    def built(self: OwningSession, model: Owning) -> None:
        OwningSession.__init__(self, model)
        model.sessions.append(self)

    return owning(close=close, __init__=built)


@broken(r"gives the symbol 'b' probability 0.5, but the word \('b',\) is undefined: give")
def undefined_in_spite_of_its_probability() -> LanguageModel:
    return function(lambda word: None if "b" in word else [0.2, 0.3, 0.5])


@broken(r"the answer to the word .* is a row, but \"undefined\" (when|while)")
def words_are_undefined_at_times() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        if len(words.symbols) < 4 and (words.symbols == 0).all():
            return np.full(len(words.symbols), -1)
        return OwningSession.extend(self, handles, words)

    return owning(extend=extend)


@broken(r"extend says that the word .* is undefined, but it was defined before: a word is")
def words_are_undefined_after_a_while() -> LanguageModel:
    class Tiring(Owning):
        def open(self) -> Session:
            session = super().open()
            if len(self.sessions) == 10:
                undefined: Any = lambda _, words: np.full(len(words.symbols), -1)  # noqa: E731
                session.extend = undefined  # type: ignore[method-assign]
            return session

    return Tiring(TARGET)


@broken(r"the word \(.*\) is defined, but the word \(.*'b',?\) is undefined: what goes on")
def words_come_back() -> LanguageModel:
    return function(lambda word: None if word[-1:] == ("b",) else [0.5, 0.5, 0.0])


@broken(r"possible says that the symbol 'b' cannot follow .*, but its probability is above 0")
def what_is_likely_is_not_possible() -> LanguageModel:
    def possible(self: OwningSession, handles: Handles) -> Any:
        return np.tile([True, False, True], (len(handles), 1))

    return owning(possible=possible)


@broken(r"possible says that the symbol 'c' cannot follow .*, but extend leads on with it")
def what_has_probability_0_is_not_possible() -> LanguageModel:
    model = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0.2, 0.5, 0.3, 0]])
    kind = type(
        "Changed",
        (OwningSession,),
        {"possible": lambda self, handles: Words.of([[0, 1]] * len(handles))},
    )
    made = Owning(model)
    made.open = lambda: kind(made)  # type: ignore[method-assign]
    return made


@broken(r"possible returned an array of bool of shape \(3,\): .* \(\d+, 3\), Words of")
def possible_of_another_shape() -> LanguageModel:
    return owning(possible=lambda self, handles: np.ones(3, dtype=bool))


@broken("possible returned an array of int64 of shape")
def possible_in_numbers() -> LanguageModel:
    return owning(possible=lambda self, handles: np.ones((len(handles), 3), dtype=np.int64))


@broken("possible returned Words of 1 words")
def possible_for_one_word() -> LanguageModel:
    return owning(possible=lambda self, handles: Words.of([[0, 1]]))


@broken("possible lists the symbol 3: .* symbols from 0 to 2")
def possible_in_columns() -> LanguageModel:
    return owning(possible=lambda self, handles: Words.of([[1, 2, 3]] * len(handles)))


@broken("possible returned a set")
def possible_as_a_set() -> LanguageModel:
    return owning(possible=lambda self, handles: {0, 1})


@broken(r"does not list the symbol 'c' and has no rest, but the word .*'c',?\) is defined: list")
def defined_though_it_is_not_listed() -> LanguageModel:
    return rows_of(Rows.sparse(4, [0, 3], [0, 1, 2], [0.2, 0.3, 0.5]))
