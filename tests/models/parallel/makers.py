"""Models that other processes can make: each function without parameters makes one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from pdfalearn import PDFA, FunctionModel, LanguageModel, ProgramModel, TopK
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import QueryCost, Rows
from pdfalearn.models.automaton import as_model
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import attach_answers

Word = tuple[Any, ...]

TARGET = random_pdfa(40, 3, distributions=8, seed=5)
HOLES = random_pdfa(90, 3, zero_probability=0.3, undefined=True, seed=2)
PER_CALL = QueryCost(call=5, word=1, prefix=1)


class OddError(Exception):
    """An error that cannot be made of its arguments alone."""

    def __init__(self, word: Word, more: int) -> None:
        super().__init__(f"no answer to {word}")
        self.more = more


class Sparse(LanguageModel):
    """Whole words; rows list a part, and some mass is outside of the alphabet."""

    alphabet = HOLES.alphabet
    cost = PER_CALL

    def answer(self, batch: Batch) -> Rows:
        decoded = [self.alphabet.decode(codes) for codes in batch.words]
        defined = np.array([_is_defined(word) for word in decoded])
        table = np.zeros((len(decoded), len(self.alphabet) + 1))
        table[:, 0] = 1.0
        if defined.any():
            known = [word for word, is_one in zip(decoded, defined, strict=True) if is_one]
            table[defined] = HOLES.next_distributions(known)
        rows = Rows.dense(table, undefined=~defined).to_sparse()
        rows.outside = np.array([0.01 * (len(word) % 5) for word in decoded])
        return rows


class Keeping(LanguageModel):
    """An automaton that keeps the states after a few words by their ids, and forgets the rest."""

    alphabet = HOLES.alphabet
    cost = QueryCost(word=2, symbol=1)
    fingerprint = "keeping"

    def __init__(self, most: int) -> None:
        self.most = most
        self.states: dict[int, int] | None = None

    def open(self) -> Keeping:
        opened = Keeping(self.most)
        opened.states = {}
        return opened

    def close(self) -> None:
        self.states = None

    def answer(self, batch: Batch) -> Rows:
        assert self.states is not None, "it is closed, or was never opened"
        table = np.zeros((batch.count, len(self.alphabet) + 1))
        table[:, 0] = 1.0
        undefined = np.zeros(batch.count, dtype=bool)
        for row, place in enumerate(batch.wanted.nonzero()[0]):
            state = HOLES.initial
            for word, symbol in zip(*batch.path(int(place)), strict=True):
                state = self.states.get(word, int(HOLES.transitions[state, symbol]))
                if state < 0:
                    break
                self.states[word] = state
                if len(self.states) > self.most:
                    del self.states[next(iter(self.states))]
            undefined[row] = state < 0
            if state >= 0:
                table[row] = HOLES.probabilities[state]
        return Rows.dense(table, undefined=undefined)


class Halting(LanguageModel):
    """Answers a part of a batch, and fails at one word; or dies, or never answers."""

    alphabet = TARGET.alphabet

    def answer(self, batch: Batch) -> Rows:
        words = [self.alphabet.decode(codes) for codes in batch.words]
        if ("1", "1") not in words:
            return Rows.dense(TARGET.next_distributions(words))
        end = words.index(("1", "1"))
        error = OddError(words[end], 7)
        if end:
            rows = Rows.dense(TARGET.next_distributions(words[:end]))
            attach_answers(error, batch.wanted_ids[:end], rows)
        raise error


def _is_defined(word: Word) -> bool:
    state = HOLES.initial
    for symbol in HOLES.alphabet.encode(word):
        state = int(HOLES.transitions[state, symbol])
        if state < 0:
            return False
    return True


def as_model_of(make: Callable[[], Any]) -> LanguageModel:
    """Return the model that a function makes."""
    return as_model(make())


def automaton() -> PDFA:
    return TARGET


def holes() -> PDFA:
    return HOLES


def function() -> FunctionModel:
    return FunctionModel(TARGET.next_distributions, TARGET.alphabet, fingerprint="function")


def sparse() -> Sparse:
    return Sparse()


def keeping() -> Keeping:
    return Keeping(10**6)


def cramped() -> Keeping:
    return Keeping(7)


def top() -> TopK:
    return TopK(FunctionModel(TARGET.next_distributions, TARGET.alphabet), 2)


def network() -> LanguageModel:
    from pdfalearn import RecurrentModel
    from tests.models.networks import layers  # which needs much else

    return RecurrentModel.of_layers(*layers("GRU", 3), "abc")


def sleeping() -> FunctionModel:
    """Sleep a millisecond a word, so that there is time to be killed in."""

    def slow(words: list[Word]) -> Any:
        time.sleep(1e-3 * len(words))
        return TARGET.next_distributions(words)

    return FunctionModel(slow, TARGET.alphabet)


def halting() -> Halting:
    return Halting()


def printing() -> FunctionModel:
    """Print to the standard output, where it is made and where it answers."""
    sys.stdout.write("noise: made\n")

    def loud(words: list[Word]) -> Any:
        sys.stdout.write("noise: asked\n")
        sys.stdout.flush()
        subprocess.run(["echo", "noise: child"], check=True)
        return TARGET.next_distributions(words)

    return FunctionModel(loud, TARGET.alphabet)


def stopping() -> FunctionModel:
    """Stop at one word, as if by Ctrl-Z."""

    def stops(words: list[Word]) -> Any:
        if ("1", "1") in words:
            os.kill(os.getpid(), signal.SIGSTOP)
        return TARGET.next_distributions(words)

    return FunctionModel(stops, TARGET.alphabet)


class Noted:
    """Makes models that write down which process is asked for which word."""

    def __init__(self, file: Path, cost: QueryCost = PER_CALL) -> None:
        self._file = file
        self._cost = cost

    def __call__(self) -> FunctionModel:
        def answer(words: list[Word]) -> Any:
            with self._file.open("a") as file:
                file.writelines(f"{os.getpid()} {''.join(word)}\n" for word in words)
            return TARGET.next_distributions(words)

        return FunctionModel(answer, TARGET.alphabet, cost=self._cost)


def failing() -> FunctionModel:
    """Fail at one word."""

    def fails(words: list[Word]) -> Any:
        for word in words:
            if word == ("1", "1"):
                raise OddError(word, 7)
        return TARGET.next_distributions(words)

    return FunctionModel(fails, TARGET.alphabet)


def improper() -> FunctionModel:
    """Answer one word with what is not a distribution."""

    def answer(words: list[Word]) -> Any:
        rows = TARGET.next_distributions(words).copy()
        rows[[word == ("1", "1") for word in words]] *= 0.5
        return rows

    return FunctionModel(answer, TARGET.alphabet)


def deadly() -> FunctionModel:
    """Die at one word."""

    def dies(words: list[Word]) -> Any:
        if ("1", "1") in words:
            os.kill(os.getpid(), signal.SIGKILL)
        return TARGET.next_distributions(words)

    return FunctionModel(dies, TARGET.alphabet)


def hidden() -> FunctionModel:
    raise RuntimeError("the weights are not there")


def dying() -> FunctionModel:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def random_fingerprint() -> FunctionModel:
    return FunctionModel(
        TARGET.next_distributions, TARGET.alphabet, fingerprint=f"process {os.getpid()}"
    )


class OneSleeps:
    """Makes models of which the second one takes two seconds the first time that it is asked."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> FunctionModel:
        with self._file.open("a+") as file:
            file.write(f"{os.getpid()}\n")
        is_slow = [True]

        def answer(words: list[Word]) -> Any:
            second = self._file.read_text().split()[1]
            if is_slow.pop() and second == str(os.getpid()):
                time.sleep(2)
            is_slow.append(False)
            return TARGET.next_distributions(words)

        return FunctionModel(answer, TARGET.alphabet)


class Counted:
    """Makes models that write down when they are opened and closed."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> LanguageModel:
        return CountedModel(self._file)


class CountedModel(LanguageModel):
    alphabet = TARGET.alphabet

    def __init__(self, file: Path, events: str = "") -> None:
        self._file = file
        self._note(events)

    def _note(self, event: str) -> None:
        with self._file.open("a") as file:
            file.write(event)

    def open(self) -> LanguageModel:
        return CountedModel(self._file, "open\n")

    def close(self) -> None:
        self._note("close\n")

    def answer(self, batch: Batch) -> Rows:
        words = [self.alphabet.decode(codes) for codes in batch.words]
        return Rows.dense(TARGET.next_distributions(words))


class OneDiffers:
    """Makes models of which the second one answers otherwise to long words.

    A file tells which is the second.
    """

    def __init__(self, file: Path, make: Callable[[], FunctionModel] = function) -> None:
        self._file = file
        self._make = make

    def __call__(self) -> FunctionModel:
        with self._file.open("a+") as file:
            file.write(f"{os.getpid()}\n")
            file.flush()
            is_odd = self._file.read_text().splitlines()[1:2] == [str(os.getpid())]

        def answer(words: list[Word]) -> Any:
            rows = TARGET.next_distributions(words).copy()
            longer = np.array([is_odd and len(word) > 2 for word in words])
            rows[longer] = rows[longer][:, ::-1]
            return rows

        return FunctionModel(answer, TARGET.alphabet)


class HangingProgram:
    """Makes programs that never answer, nor end when their input does; a file has their numbers."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> ProgramModel:
        return ProgramModel(["sh", "-c", f"echo $$ >> '{self._file}'; exec sleep 600"], "ab")


class StopsOnce:
    """Makes models that stop, as if by Ctrl-Z, the first time that one of them is asked."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> FunctionModel:
        def answer(words: list[Word]) -> Any:
            with suppress(FileExistsError), self._file.open("x") as file:  # only one makes it
                file.write(str(os.getpid()))
                file.flush()
                os.kill(os.getpid(), signal.SIGSTOP)
            return TARGET.next_distributions(words)

        return FunctionModel(answer, TARGET.alphabet)


class NeedsFile:
    """Makes an automaton as long as a file is there."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> PDFA:
        if not self._file.exists():
            raise RuntimeError("the weights are gone")
        return TARGET


class Versioned:
    """Makes models whose fingerprint is in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self) -> FunctionModel:
        fingerprint = self._file.read_text()
        return FunctionModel(TARGET.next_distributions, TARGET.alphabet, fingerprint=fingerprint)
