"""Broken models: handles, and the room for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdfalearn.models.protocol import Handles, LanguageModel, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.models.owning import Owning, OwningSession
from tests.testing.broken import (
    START,
    TARGET,
    broken,
    function,
    never_again,
    owning,
)


@broken(r"extend returned an array of shape \(\d+,\): .* a handle for every symbol")
def a_handle_for_each_word_only() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        ends = words.offsets[1:][words.lengths > 0] - 1
        return OwningSession.extend(self, handles, words)[ends]

    return owning(extend=extend)


@broken("Owning: extend returned None: .*asked about the (empty )?word")
def extend_returns_nothing() -> LanguageModel:
    return owning(extend=lambda self, handles, words: None)


@broken("extend returned an array of float64")
def handles_that_are_not_integers() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Any:
        return OwningSession.extend(self, handles, words).astype(float)

    return owning(extend=extend)


@broken(r"extend returned the handle -5 in the word \('c',.*-1 where the word is undefined")
def another_number_for_undefined() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        found = OwningSession.extend(self, handles, words)
        return np.where(found < 0, -5, found)

    return owning(extend=extend)


@broken(r"extend returned -1 and then a handle again in the word \(.*from the first -1 on")
def defined_again() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        found = OwningSession.extend(self, handles, words)
        ends = words.offsets[1:][words.lengths > 1] - 1
        for end in ends[found[ends] < 0].tolist():
            found[end] = self.handle_of(START)
        return found

    return owning(extend=extend)


@broken(r"extend returned the handle \d+ for the word .*, but it is that of the (empty )?word")
def states_that_are_not_said_to_be_shared() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        found = OwningSession.extend(self, handles, words)
        return np.array([self.states[handle] if handle >= 0 else -1 for handle in found.tolist()])

    return owning(extend=extend)


@broken(r"answer to the .*word .* but .* to the word .*, though both have the shared|asked before")
def shared_handles_that_stand_for_different_words() -> LanguageModel:
    class LastSymbol(Session):
        """Keeps the last word under each of a few handles, by its last symbol alone."""

        shared = True

        def __init__(self) -> None:
            self._states = [TARGET.initial, 0, 0, 0]

        def start(self) -> int:
            return 0

        def extend(self, handles: Handles, words: Words) -> Handles:
            found = []
            for handle, word in zip(handles.tolist(), words, strict=True):
                state = self._states[handle]
                for symbol in word:
                    state = int(TARGET.table[state, symbol])
                    if state >= 0:
                        self._states[symbol + 1] = state
                    found.append(symbol + 1 if state >= 0 else -1)
            return np.array(found, dtype=np.int64)

        def read(self, handles: Handles) -> Rows:
            return Rows.dense(TARGET.probabilities[[self._states[handle] for handle in handles]])

    model = Owning(TARGET)
    model.open = LastSymbol  # type: ignore[method-assign]
    return model


@broken("extend changed the arrays that it was given: work on copies")
def handles_are_overwritten() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        found = OwningSession.extend(self, handles, words)
        handles[:] = 0
        handles -= 1
        return found

    return owning(extend=extend)


@broken(r"extend raised IndexError: .*asked about the empty word")
def empty_words_are_forgotten() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        _ = [word[0] for word in words]
        return OwningSession.extend(self, handles, words)

    return owning(extend=extend)


@broken("read raised KeyError")
def handles_die_too_early() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        found = OwningSession.extend(self, handles, words)
        for handle in sorted(self.states)[1:-6]:
            del self.states[handle]
        return found

    def release(self: OwningSession, handles: Handles) -> None:
        for handle in handles.tolist():
            self.states.pop(handle, None)

    def handle_of(self: OwningSession, state: int) -> int:
        handle = self.symbols = self.symbols + 1
        self.states[handle] = state
        return handle

    return owning(extend=extend, release=release, handle_of=handle_of)


@broken(r"answer to .* when asked for alone: .* on what was asked before")
def release_takes_too_many() -> LanguageModel:
    def release(self: OwningSession, handles: Handles) -> None:
        for handle in [*handles.tolist(), int(handles[-1]) + 1]:
            if handle in self.states:
                self.states[handle] = START

    return owning(release=release, handle_of=never_again)


@broken("release raised ValueError: invalid literal")
def release_fails() -> LanguageModel:
    return owning(release=lambda self, handles: int("seven"))


@broken("Owning: close raised OSError: already gone")
def close_fails() -> LanguageModel:
    def close(self: object) -> None:
        raise OSError("already gone")

    return owning(close=close)


@broken(r"extend raised MemoryError")
def less_room_than_said() -> LanguageModel:
    def handle_of(self: OwningSession, state: int) -> int:
        if len(self.states) >= 30:
            raise MemoryError
        return OwningSession.handle_of(self, state)

    return owning(31, handle_of=handle_of)


@broken(r"extend raised MemoryError")
def room_that_is_not_given_back() -> LanguageModel:
    def extend(self: OwningSession, handles: Handles, words: Words) -> Handles:
        self.closed += len(words.symbols)
        if self.closed > 100:
            raise MemoryError
        return OwningSession.extend(self, handles, words)

    return owning(20, extend=extend)


@broken(r"read raised ValueError: too long .*asked about the word .*32 in all")
def long_words_fail() -> LanguageModel:
    def answer(word: tuple[Any, ...]) -> list[float]:
        if len(word) > 20:
            raise ValueError("too long")
        return [0.2, 0.3, 0.5]

    return function(answer)
