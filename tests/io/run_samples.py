"""Runs of all kinds, by name."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import (
    PDFA,
    Budget,
    Exact,
    FunctionModel,
    Quantization,
    Result,
    Tolerance,
    learn,
    load,
    save,
)
from pdfalearn.datasets import chain, figure_3, random_pdfa
from pdfalearn.equivalence import Equivalence, Rounded
from pdfalearn.errors import FileFormatError
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import AllWordsOracle, ChainOracle, KnownAnswersOracle, PACOracle
from pdfalearn.results import LearningInterrupted, Progress
from pdfalearn.samplers import UniformWords
from tests.learners.tables import need_learner

TARGET = random_pdfa(40, distributions=2, seed=1)
UNDEFINED = random_pdfa(30, 3, zero_probability=0.4, undefined=True, seed=3)
ONE_STATE = PDFA(alphabet=[7, "b"], transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0]])


class Halves(Equivalence):
    """An equivalence of somebody else's."""

    def keys(self, rows: NDArray[np.float64]) -> NDArray[np.generic]:
        return rows > 0.5

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Halves)

    def __hash__(self) -> int:
        return 0


def _sampled() -> Result:
    sampling = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(8), seed=0)
    oracle = ChainOracle(KnownAnswersOracle(), sampling)
    return learn(AutomatonModel(figure_3()), equivalence=Quantization(10), oracle=oracle)


def _interrupted() -> Result:
    def interrupt(progress: Progress) -> None:
        if progress.states >= 10:
            raise KeyboardInterrupt

    with pytest.raises(LearningInterrupted) as caught:
        learn(TARGET, learner="quant-classes", progress=interrupt)
    assert isinstance(caught.value.result, Result)
    return caught.value.result


def _by_tolerance(learner: str) -> Result:
    need_learner(learner)
    return learn(TARGET, learner=learner, equivalence=Tolerance(0.001))


RUNS: dict[str, Callable[[], Result]] = {
    "figure 3": lambda: learn(figure_3(), equivalence=Quantization(10)),
    "quant": lambda: learn(TARGET),
    "quant-classes": lambda: learn(TARGET, learner="quant-classes"),
    "quant-paper": lambda: learn(TARGET, learner="quant-paper"),
    "lpstar": lambda: _by_tolerance("lpstar"),
    "wlstar": lambda: _by_tolerance("wlstar"),
    "undefined": lambda: learn(UNDEFINED),
    "undefined, paper": lambda: learn(UNDEFINED, learner="quant-paper"),
    "one state": lambda: learn(ONE_STATE),
    "deep": lambda: learn(chain(60)),
    "exactly": lambda: learn(TARGET, equivalence=Exact()),
    "rounded": lambda: learn(TARGET, equivalence=Rounded(Rounded(Quantization(100), 9), 6)),
    "one interval": lambda: learn(TARGET, equivalence=Quantization(1)),
    "pac": _sampled,
    "tested": lambda: learn(
        FunctionModel(TARGET.next_distributions, TARGET.alphabet), oracle=AllWordsOracle(4)
    ),
    "stopped": lambda: learn(TARGET, budget=Budget(max_words=30)),
    "stopped at a word": lambda: learn(chain(20), budget=Budget(max_word_length=5)),
    "stopped at once": lambda: learn(TARGET, budget=Budget(max_states=1)),
    "interrupted": _interrupted,
}


@cache
def run_of(name: str) -> Result:
    return RUNS[name]()


def bytes_of(result: Result, folder: Path) -> bytes:
    """What ``save`` writes."""
    save(result, folder / "bytes_of.zip")
    return (folder / "bytes_of.zip").read_bytes()


def load_bytes(data: bytes, folder: Path) -> Result:
    """Load a file that holds these bytes."""
    path = folder / "load_bytes.zip"
    path.write_bytes(data)
    result = load(path)
    assert isinstance(result, Result)
    return result


def complaint_about(data: bytes, folder: Path) -> str:
    """What the one-line error says of a file with these bytes, its name left out."""
    with pytest.raises(FileFormatError) as caught:
        load_bytes(data, folder)
    name, message = f"{folder / 'load_bytes.zip'}: ", str(caught.value)
    assert message.startswith(name)
    assert message.isprintable()
    assert len(message) < len(name) + 700
    return message.removeprefix(name)


def members_of(result: Result, folder: Path) -> dict[str, bytes]:
    """The members of the archive that ``save`` writes."""
    with zipfile.ZipFile(io.BytesIO(bytes_of(result, folder))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
