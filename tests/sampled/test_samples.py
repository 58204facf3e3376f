"""The border to functions that draw, and the file that keeps what was drawn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.samples import hidden
from pdfalearn import load, save
from pdfalearn.datasets import reber
from pdfalearn.errors import FileFormatError, InputError, ModelError, StoreError
from pdfalearn.results import LearningInterrupted, Progress, Sample
from pdfalearn.sampled import Samples, learn_samples

BAD_DRAWS: list[tuple[object, str]] = [
    (["a"], "returned 1 continuations, not 100"),
    (["a"] * 99 + ["ac"], "symbol 'c' is not in the alphabet"),
    ([3] * 100, "a word is a sequence of symbols, not 3"),
    (7, "not 7"),
    (None, "not None"),
    (Sample([()] * 100, np.zeros(3, dtype=bool)), "not a flag for each of its words"),
    (
        Sample([()] * 100, np.zeros(100)),  # type: ignore[arg-type]
        "not a flag for each of its words",
    ),
]


@pytest.mark.parametrize(("returned", "message"), BAD_DRAWS)
def test_what_is_not_a_draw_is_named_in_one_line(returned: object, message: str) -> None:
    samples = Samples(lambda prefix, count: returned, "ab")  # type: ignore[arg-type, return-value]
    with pytest.raises(ModelError) as error:
        learn_samples(samples, max_samples=100)
    assert message in str(error.value)
    assert str(error.value).startswith("draw((), 100) returned")
    assert "\n" not in str(error.value)


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="not a function of a prefix"):
        Samples("ab", "ab")  # type: ignore[arg-type]
    samples = hidden(reber(), 1)
    for name, value in [("max_samples", 0), ("alpha", 1.0), ("gap", 0), ("reach", -1)]:
        with pytest.raises(InputError, match=name):
            learn_samples(samples, **{"max_samples": 10} | {name: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="test is 'chi'"):
        learn_samples(samples, max_samples=10, test="chi")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is not Samples"):
        learn_samples(reber(), max_samples=10)  # type: ignore[arg-type]


def test_draws_that_say_nothing_at_all() -> None:
    samples = Samples(lambda prefix, count: Sample([()] * count, np.ones(count, dtype=bool)), "a")
    with pytest.raises(ModelError, match="of 125 continuations of the empty word all were cut"):
        learn_samples(samples, max_samples=1000)


def stopping(samples: Samples, calls: int, error: type[BaseException]) -> Samples:
    """Return samples of which a later call fails."""
    left = [calls]

    def draw(prefix: tuple[object, ...], count: int) -> Sample:
        left[0] -= 1
        if left[0] < 0:
            raise error
        words, is_cut = samples.draw(tuple(samples.alphabet.encode(prefix).tolist()), count)
        return Sample(samples.alphabet.decode_words(words), is_cut)

    return Samples(draw, samples.alphabet, most=samples.most)


def test_an_interrupt_keeps_what_was_learnt(tmp_path: Path) -> None:
    with pytest.raises(LearningInterrupted) as caught:
        learn_samples(stopping(hidden(reber(), 1), 5, KeyboardInterrupt), max_samples=4000)
    result = caught.value.result
    assert result is not None
    assert result.certificate.kind == "interrupted"
    assert len(result.pdfa) >= 2
    save(result, tmp_path / "run.zip")
    assert load(tmp_path / "run.zip") == result
    with pytest.raises(LearningInterrupted) as caught:
        learn_samples(stopping(hidden(reber(), 1), 0, KeyboardInterrupt), max_samples=4000)
    assert caught.value.result is None


def test_a_run_that_failed_goes_on_from_its_store(tmp_path: Path) -> None:
    store = tmp_path / "samples.jsonl"
    with pytest.raises(ZeroDivisionError):
        learn_samples(
            stopping(hidden(reber(), 1), 9, ZeroDivisionError), max_samples=3000, store=store
        )
    whole = store.read_bytes()
    store.write_bytes(whole + b'{"prefix":[],"wor')  # a kill in the middle of a line
    result = learn_samples(hidden(reber(), 2), max_samples=3000, store=store)
    stored = result.statistics.stored_words
    assert stored >= 375
    assert stored + result.statistics.words == 3000
    assert result.certificate.details["samples"] == 3000
    assert store.read_bytes().startswith(whole)
    again = learn_samples(
        stopping(hidden(reber(), 3), 0, ZeroDivisionError), max_samples=3000, store=store
    )
    assert again.pdfa == result.pdfa
    assert again.statistics.words == 0


PROGRAM = """
import os, sys, time
from benchmarks.samples import hidden
from pdfalearn.datasets import reber
from pdfalearn.sampled import Samples, learn_samples
inner = hidden(reber(), 1)
def draw(prefix, count):
    time.sleep(.01)
    print(count, flush=True)
    return inner.function(prefix, count)
learn_samples(Samples(draw, inner.alphabet, most=50), max_samples=100_000, store=sys.argv[1])
"""


@pytest.mark.slow
def test_nothing_that_was_drawn_is_lost_to_a_kill(tmp_path: Path) -> None:
    store = tmp_path / "samples.jsonl"
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        announced = [int(process.stdout.readline()) for _ in range(8)]
        os.kill(process.pid, signal.SIGKILL)
    result = learn_samples(hidden(reber(), 2), max_samples=1000, store=store)
    # Of the last call that was announced nothing was returned yet.
    assert result.statistics.stored_words >= sum(announced[:-1])


def test_files_that_are_no_stores(tmp_path: Path) -> None:
    store = tmp_path / "samples.jsonl"
    samples = hidden(reber(), 1)

    def refused(error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message) as caught:
            learn_samples(samples, max_samples=100, store=store)
        assert "\n" not in str(caught.value)

    store.write_text('{"format": "something else"}\n')
    refused(FileFormatError, "is not a store of samples")
    store.write_text("a text")
    refused(FileFormatError, "is not a store of samples")
    store.write_text("")
    learn_samples(samples, max_samples=100, store=store)
    for line in (
        "{}",
        '{"prefix":[],"words":[[9]],"cut":[]}',
        '{"prefix":[],"words":[[0]],"cut":[4]}',
    ):
        good = store.read_bytes()
        store.write_bytes(good + line.encode() + b"\n")
        refused(FileFormatError, "line 3, is damaged.*remove the line")
        store.write_bytes(good)
    with pytest.raises(FileFormatError, match="over the alphabet \\('x', 'y'\\)"):
        learn_samples(Samples(lambda prefix, count: [], "xy"), max_samples=100, store=store)
    with pytest.raises(StoreError, match=r"Is a directory|No such file"):
        learn_samples(samples, max_samples=100, store=tmp_path / "no" / "folder")
    with pytest.raises(InputError, match="cannot be in a file"):
        learn_samples(
            Samples(lambda prefix, count: [], [("a",)]), max_samples=100, store=tmp_path / "new"
        )


def test_errors_of_the_service_are_its_own(tmp_path: Path) -> None:
    samples = stopping(hidden(reber(), 1), 0, ConnectionError)
    with pytest.raises(ConnectionError):
        learn_samples(samples, max_samples=100, store=tmp_path / "samples.jsonl")


def test_two_runs_do_not_write_to_one_store(tmp_path: Path) -> None:
    store = tmp_path / "samples.jsonl"
    inner = hidden(reber(), 1)

    def draw(prefix: Sequence[object], count: int) -> Sample:
        learn_samples(inner, max_samples=100, store=store)
        raise AssertionError

    with pytest.raises(InputError, match="another run is at work"):
        learn_samples(Samples(draw, inner.alphabet), max_samples=100, store=store)


def test_progress_and_calls_that_are_not_too_large() -> None:
    seen: list[Progress] = []
    counts: list[int] = []
    inner = hidden(reber(), 1)

    def draw(prefix: tuple[object, ...], count: int) -> Sample:
        counts.append(count)
        words, is_cut = inner.draw(tuple(inner.alphabet.encode(prefix).tolist()), count)
        return Sample(inner.alphabet.decode_words(words), is_cut)

    samples = Samples(draw, inner.alphabet, most=30)
    result = learn_samples(samples, max_samples=1000, progress=seen.append)
    assert max(counts) == 30
    assert sum(counts) == result.statistics.words == 1000
    assert list(result.statistics.batches) == counts
    assert [one.words for one in seen] == sorted(one.words for one in seen)
    assert result.statistics.symbols > 0
