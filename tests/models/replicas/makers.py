"""Models that other processes can make: each function without parameters makes one."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pdfalearn import (
    PDFA,
    FunctionModel,
    LanguageModel,
    ProgramModel,
    QueryCost,
    Rows,
    TopK,
    random_pdfa,
)
from pdfalearn.words import Words
from tests.models.owning import Owning

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

    def answer(self, words: Words) -> Rows:
        decoded = [self.alphabet.decode(codes) for codes in words]
        defined = np.array([_is_defined(word) for word in decoded])
        table = np.zeros((len(words), len(self.alphabet) + 1))
        table[:, 0] = 1.0
        if defined.any():
            known = [word for word, is_one in zip(decoded, defined, strict=True) if is_one]
            table[defined] = HOLES.next_distributions(known)
        rows = Rows.dense(table, undefined=~defined).to_sparse()
        rows.outside = np.array([0.01 * (len(word) % 5) for word in decoded])
        return rows


def _is_defined(word: Word) -> bool:
    state = HOLES.initial
    for symbol in HOLES.alphabet.encode(word):
        state = int(HOLES.transitions[state, symbol])
        if state < 0:
            return False
    return True


def automaton() -> PDFA:
    return TARGET


def holes() -> PDFA:
    return HOLES


def function() -> FunctionModel:
    return FunctionModel(TARGET.next_distributions, TARGET.alphabet, fingerprint="function")


def sparse() -> Sparse:
    return Sparse()


def owning() -> Owning:
    return Owning(HOLES)


def cramped() -> Owning:
    return Owning(HOLES, 7)


def cramped_sparse() -> Owning:
    return Owning(HOLES, 12, sparse=True)


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
