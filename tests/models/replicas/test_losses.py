"""Lost processes cost time and nothing else; errors come back; nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import InputError, LanguageModel, ModelError, Replicas
from pdfalearn.models.asking import asked_rows
from pdfalearn.words import Words
from tests.models.replicas import makers
from tests.models.replicas.test_same_as_one import assert_same, learnt

TIME_LIMIT = 60.0
WORDS = Words.of([[0] * length for length in range(40)])


def pids_of(model: Replicas) -> list[int]:
    return model._pool.pids  # type: ignore[attr-defined, no-any-return]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def assert_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + TIME_LIMIT
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, "processes are left"
        time.sleep(0.02)


@contextmanager
def killed(model: Replicas) -> Iterator[list[int]]:
    """Kill each process once by SIGKILL, one after the other, while the block runs."""
    over, gone = threading.Event(), []

    def kill() -> None:
        for pid in pids_of(model):
            if not over.wait(0.05):
                os.kill(pid, signal.SIGKILL)
                gone.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield gone
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("make", [makers.sleeping, makers.cramped], ids=["sleeping", "cramped"])
def test_a_killed_process_changes_nothing(make: object) -> None:
    expected = learnt(make())  # type: ignore[operator]
    with Replicas(make, 2) as model, killed(model) as gone:  # type: ignore[arg-type]
        assert_same(expected, learnt(model))
        while len(gone) < 2:
            assert_same(expected, learnt(model))
    assert_gone([*gone, *pids_of(model)])


@pytest.mark.slow
def test_processes_that_die_idle_are_started_anew() -> None:
    with Replicas(makers.owning, 2) as model:
        session = model.open()
        handles = session.extend(np.zeros(2, dtype=np.int64), Words.of([[0, 1], [1, 1]]))
        live = handles[handles >= 0]
        before = session.read(live).to_dense()
        for pid in pids_of(model):
            os.kill(pid, signal.SIGKILL)
        session.extend(live[:1], Words.of([[0]]))  # forgets what was read ahead
        assert np.array_equal(session.read(live).to_dense(), before)
        session.close()


@pytest.mark.slow
def test_a_copy_that_cannot_be_made_anew_is_told_each_time(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.touch()
    with Replicas(makers.NeedsFile(file), 1) as model:
        before = asked_rows(model, WORDS)[0].to_dense()
        file.unlink()
        os.kill(pids_of(model)[0], signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(ModelError, match="RuntimeError: the weights are gone"):
                asked_rows(model, WORDS)
        file.touch()
        assert np.array_equal(asked_rows(model, WORDS)[0].to_dense(), before)


@pytest.mark.slow
def test_words_that_kill_every_process_are_named() -> None:
    with (
        Replicas(makers.deadly, 2) as model,
        pytest.raises(ModelError, match="3 processes ended while they answered the same"),
    ):
        learnt(model)
    assert_gone(pids_of(model))


@pytest.mark.slow
def test_errors_of_the_model_come_back_as_they_are() -> None:
    with Replicas(makers.failing, 2) as model:
        with pytest.raises(makers.OddError, match="no answer to") as caught:
            learnt(model)
        assert caught.value.more == 7
        assert "This happened in process" in caught.value.__notes__[0]
        assert len(asked_rows(model, WORDS)[0]) == len(WORDS)  # and it can still be asked
    with (
        Replicas(makers.improper, 2) as model,
        pytest.raises(ModelError, match=r"the model's answer to the word \('1', '1'\)"),
    ):
        learnt(model)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (makers.hidden, ModelError, "make_model failed in process .* RuntimeError: the weights"),
        (makers.dying, ModelError, "make_model ended its process 3 times, .* signal 9"),
        (makers.random_fingerprint, ModelError, "the copies differ: the fingerprint is"),
        ("tests.models.replicas.makers:nothing", InputError, "cannot be imported"),
    ],
)
def test_why_there_are_no_copies_is_told(
    make: object, error: type[Exception], message: str
) -> None:
    count = 2 if make is makers.random_fingerprint else 1
    with pytest.raises(error, match=message):
        Replicas(make, count)  # type: ignore[arg-type]


def test_what_cannot_be_made_elsewhere_is_refused() -> None:
    with pytest.raises(InputError, match=r"other processes cannot load .* define it in a module"):
        Replicas(lambda: makers.function(), 2)
    with pytest.raises(InputError, match="make_model is 5"):
        Replicas(5, 2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="say how many replicas"):
        Replicas(makers.function)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_a_copy_that_answers_otherwise_is_named(count: int, tmp_path: Path) -> None:
    file = tmp_path / "made"
    with Replicas(makers.OneDiffers(file), count) as model:
        with pytest.raises(ModelError, match="The copies differ: ") as caught:
            learnt(model, max_words=20_000)
        assert f"process {file.read_text().split()[1]} answers" in str(caught.value)


@pytest.mark.slow
def test_an_audit_asks_another_copy() -> None:
    with Replicas(makers.function, 3) as model:
        first, second = model.open(), model.open()
        words = Words.of([[0] * length for length in range(1, 40)])
        first.read(first.extend(np.zeros(1, dtype=np.int64), words.part(38, 39)))
        new = second.extend(np.zeros(len(words), dtype=np.int64), words)
        ends = new[words.offsets[1:] - 1]
        second.read(ends)
        before = first.words.seats[first.words.find(words)]
        assert set(before) == {0, 1, 2}
        assert (before != second.words.seats[ends]).all()


@pytest.mark.slow
def test_conversations_may_begin_while_others_go_on() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with Replicas(makers.function, 1) as model, ThreadPoolExecutor(1) as thread:
            session = model.open()
            opening = thread.submit(lambda: [model.open() for _ in range(500)])
            while not opening.done():
                assert session._others() == []
    finally:
        sys.setswitchinterval(before)


class Interrupted(BaseException):
    """Stands for a Ctrl-C."""


@pytest.mark.slow
def test_what_was_interrupted_does_not_answer_for_what_is_asked_next() -> None:
    with Replicas(makers.sleeping, 2) as model:

        def interrupt(*_: object) -> None:
            raise Interrupted

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(Interrupted):
                asked_rows(model, Words.of([[0]] * 2000))
        finally:
            signal.signal(signal.SIGALRM, before)
        rows = asked_rows(model, WORDS)[0].to_dense()
        assert np.array_equal(rows, asked_rows(makers.function(), WORDS)[0].to_dense())


PROGRAM = """
import os, signal, sys, time
from pdfalearn import Replicas, learn, Quantization
from tests.models.replicas import makers
model = Replicas(makers.sleeping, 2)
print(*model._pool.pids, flush=True)
{end}
"""
ENDS = {
    "its end": "",
    "an exception": "raise RuntimeError('over')",
    "kill -9": "os.kill(os.getpid(), signal.SIGKILL)",
    "Ctrl-C while asking": (
        "signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
        "signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))\n"
        "session = model.open()\n"
        "from pdfalearn.models.asking import asked_rows\n"
        "from pdfalearn.words import Words\n"
        "asked_rows(model, Words.of([[0]] * 100_000))"
    ),
    "kill -9 while asking": (
        "signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
        "signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))\n"
        "from pdfalearn.models.asking import asked_rows\n"
        "from pdfalearn.words import Words\n"
        "asked_rows(model, Words.of([[0]] * 100_000))"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_no_process_outlives_the_program(end: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end=ENDS[end])],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    assert_gone(pids)


@pytest.mark.slow
def test_programs_of_busy_copies_end_with_them(tmp_path: Path) -> None:
    file = tmp_path / "programs"
    file.touch()

    def interrupt(*_: object) -> None:
        if len(file.read_text().split()) == 2:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Replicas(makers.HangingProgram(file), 2) as model:
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            with pytest.raises(Interrupted):
                asked_rows(model, WORDS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert_gone([int(pid) for pid in file.read_text().split()])


@pytest.mark.slow
def test_replicas_that_are_closed_or_forgotten_end() -> None:
    model = Replicas(makers.function, 1)
    pids = pids_of(model)
    model.close()
    assert_gone(pids)
    with pytest.raises(InputError, match="these replicas are closed"):
        asked_rows(model, WORDS)
    forgotten: LanguageModel | None = Replicas(makers.function, 1)
    pids = pids_of(forgotten)  # type: ignore[arg-type]
    forgotten = None
    assert_gone(pids)
