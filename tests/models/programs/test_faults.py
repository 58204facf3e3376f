"""Programs that fail: the same automaton, or one clear error, and no process left."""

from __future__ import annotations

import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pdfalearn import Budget, Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.oracles import AllWordsOracle
from tests.learners.checks import assert_is_quotient
from tests.models.programs.programs import FaultyProgram
from tests.support import many

BY = Quantization(1000)
TARGET = random_pdfa(12, zero_probability=0.2, seed=3)
NO_FAULTS = {"start", "batch", "eof", "child"}


def faults_survived(folder: Path, seed: int) -> list[str]:
    """Learn from a program that fails about every second time; return the faults."""
    program = FaultyProgram(TARGET, folder, f"seed={seed}")
    with program.model(timeout=0.3, tries=40, batch=2) as model:
        result = learn(model, equivalence=BY, oracle=AllWordsOracle(7), seed=seed)
    assert_is_quotient(result.pdfa, TARGET, BY)
    program.check_end()
    return [event for event in program.events() if event not in NO_FAULTS]


@pytest.mark.slow
def test_many_faults_change_nothing(tmp_path: Path) -> None:
    seeds = range(6, 6 + many(10))  # with the first of them, every kind of fault comes
    folders = [tmp_path / str(seed) for seed in seeds]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(4) as threads:  # most of the time they wait for programs to start
        runs = list(threads.map(faults_survived, folders, seeds))
    faults = [fault for run in runs for fault in run]
    assert len(faults) >= many(1000)
    assert len(set(faults)) == 13


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("dies", "it ended with exit status 1; its standard error ends with 'no more memory'"),
        ("killed", "it was ended by SIGKILL; it wrote nothing to its standard error"),
        ("garbage", r"it answered '\x1b[31mLoading"),
        ("half", "it ended with exit status 0, in the middle of the line '{\"row"),
        ("few", "it answered 1 words with 0 rows; each word needs one"),
        ("many", "it answered 1 words with 2 rows"),
        ("flood", "it wrote a line of more than 65,728 bytes, '1111"),
        ("extra", 'it wrote more than one line, \'{"rows"'),
        ("list", "it answered '[[0."),
        ("hang", "within 0.8 s. If it has answered, it has to flush"),
        ("half hang", "within 0.8 s; so far it wrote '{\"row"),
        ("children", "it did not answer within 0.8 s"),
        ("mute", "it closed its standard output"),
    ],
)
@pytest.mark.slow
def test_one_clear_error(kind: str, told: str, tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path, kind)
    model = program.model(timeout=0.8 if "within" in told else 60, tries=2)
    with pytest.raises(ModelError) as caught:
        learn(model, equivalence=BY, oracle=AllWordsOracle(4))
    message = str(caught.value)
    assert told in message
    assert "\n" not in message
    assert "failed 2 times in a row, at last: " in message
    assert message.startswith(f"the program {sys.executable} -I -S ")
    assert program.events().count("start") == 2
    program.check_end()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dies@2", "hang@0", "extra@1", "few@3"])
def test_it_is_asked_again_where_it_fails_once(kind: str, tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path, kind)
    with program.model(timeout=2, batch=5) as model:
        result = learn(model, equivalence=BY, oracle=AllWordsOracle(5))
    assert_is_quotient(result.pdfa, TARGET, BY)
    events = program.events()
    assert events.count("start") == 2
    assert events[-1] == "eof"  # the first one may see its end of file before it is terminated


@pytest.mark.slow
def test_the_memory_of_a_flood_is_bounded(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path, "flood")
    model = program.model(tries=3)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match="cannot be the answer"):
            model.answer(Batch.of([0] * length for length in range(100)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2e6


@pytest.mark.slow
def test_a_program_that_hangs_is_not_waited_for_beyond_the_budget(tmp_path: Path) -> None:
    program = FaultyProgram(random_pdfa(5, 2, seed=1), tmp_path, "hang")
    begin = time.monotonic()
    refused = pytest.raises(ModelError, match=r"max_seconds=1\.0 is reached before")
    with program.model(timeout=60) as model, refused:
        learn(model, budget=Budget(max_seconds=1))
    assert time.monotonic() - begin < 30
    program.check_end()
