"""Lost processes cost time and nothing else; errors come back; nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import Budget, LanguageModel, Quantization, Replicas, learn
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import copies
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import BadAnswerError, ask_words, open_model
from pdfalearn.models.protocol import attached_answers
from pdfalearn.results import Progress
from pdfalearn.words import Words
from tests.models.parallel import makers
from tests.models.parallel.test_same_as_one import assert_same, learnt

TIME_LIMIT = 60.0
WORDS = Words.of([[0] * length for length in range(40)])


def pids_of(model: Replicas) -> list[int]:
    return [worker.pid for worker in model.copies.workers]


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
    words = Words.of([[0, 1], [1, 1], [2], []])
    with Replicas(makers.keeping, 2) as model, closing(open_model(model)) as opened:
        before = opened.answer(Batch.of(words)).to_dense()
        for pid in pids_of(model):
            os.kill(pid, signal.SIGKILL)
        assert np.array_equal(opened.answer(Batch.of(words)).to_dense(), before)


@pytest.mark.slow
def test_a_stopped_process_is_ended_after_the_time_limit(tmp_path: Path) -> None:
    file = tmp_path / "stopped"
    with Replicas(makers.StopsOnce(file), 2, timeout=5) as model:
        rows = ask_words(model, WORDS).to_dense()
        assert np.array_equal(rows, ask_words(makers.function(), WORDS).to_dense())
        assert int(file.read_text()) not in pids_of(model)
        assert_gone([int(file.read_text())])


@pytest.mark.slow
def test_words_that_stop_every_process_are_named() -> None:
    batch = Batch.of([[1, 1], *WORDS])
    with Replicas(makers.stopping, 2, timeout=1) as model:
        with pytest.raises(
            ModelError, match=r"3 copies were lost .* \(it took over 1 s\)"
        ) as caught:
            model.answer(batch)
        assert_attached(caught.value, batch, {("1", "1")})


@pytest.mark.slow
@pytest.mark.parametrize("make", [makers.halting, makers.failing, makers.deadly, makers.improper])
def test_what_other_copies_have_answered_is_kept(make: Callable[[], LanguageModel]) -> None:
    batch = Batch.of([*WORDS, [1, 1], [0, 1, 1, 1]])
    with Replicas(make, 3) as model, pytest.raises((makers.OddError, ModelError)) as caught:
        model.answer(batch)
    answered = assert_attached(caught.value, batch, {("1", "1")})
    if make is makers.halting:  # which says what it has answered itself
        assert answered > batch.count * 2 // 3


def assert_attached(error: BaseException, batch: Batch, failed: set[tuple[str, ...]]) -> int:
    """Assert that most answers are attached and right, and return how many."""
    partial = attached_answers(error)
    assert partial is not None
    assert batch.count // 2 <= len(partial.ids) == len(set(partial.ids)) == len(partial.rows)
    assert np.isin(partial.ids, batch.wanted_ids).all()
    words = [makers.TARGET.alphabet.decode(batch.spell(word)) for word in partial.ids.tolist()]
    assert not failed & set(words)
    expected = makers.TARGET.next_distributions(words)
    assert np.array_equal(partial.rows.to_dense(), expected)
    return len(words)


@pytest.mark.slow
def test_a_bad_answer_says_which_word_it_is_of() -> None:
    batch = Batch.of([*WORDS, [1, 1], [0, 1, 1, 1]])
    with Replicas(makers.improper, 3) as model, pytest.raises(BadAnswerError) as caught:
        model.answer(batch)
    assert batch.spell(caught.value.word_id) == [1, 1]


@pytest.mark.slow
def test_what_a_model_prints_goes_to_the_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with Replicas(makers.printing, 1) as model:
        ask_words(model, WORDS)
    captured = capfd.readouterr()
    assert "noise" not in captured.out
    for line in ("made", "asked", "child"):
        assert f"noise: {line}" in captured.err


@pytest.mark.slow
def test_a_model_is_opened_once_a_run_and_closed_after_it(tmp_path: Path) -> None:
    file = tmp_path / "events"
    with Replicas(makers.Counted(file), 1) as model:
        for _ in range(2):
            with closing(open_model(model)) as opened:
                for _ in range(3):
                    opened.answer(Batch.of(WORDS))
        ask_words(model, WORDS)
        assert file.read_text().split() == ["open", "close", "open", "close", "open"]
    assert file.read_text().split()[-1] == "close"


@pytest.mark.slow
def test_a_copy_that_cannot_be_made_anew_is_told_each_time(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.touch()
    with Replicas(makers.NeedsFile(file), 1) as model:
        before = ask_words(model, WORDS).to_dense()
        file.unlink()
        os.kill(pids_of(model)[0], signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(ModelError, match="RuntimeError: the weights are gone"):
                ask_words(model, WORDS)
        file.touch()
        assert np.array_equal(ask_words(model, WORDS).to_dense(), before)


@pytest.mark.slow
def test_words_that_kill_every_process_are_named() -> None:
    with (
        Replicas(makers.deadly, 2) as model,
        pytest.raises(
            ModelError,
            match=r"3 copies were lost with the same .* \(signal 9\): what ends the model there",
        ),
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
        assert len(ask_words(model, WORDS)) == len(WORDS)  # and it can still be asked
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
        (makers.dying, ModelError, "3 copies were lost while they made the model, .*signal 9"),
        (makers.random_fingerprint, ModelError, "the copies differ: the fingerprint is"),
        ("tests.models.parallel.makers:nothing", InputError, "cannot be imported"),
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
        statement = str(learnt(model, max_words=20_000).certificate)
    assert statement.startswith("unsteady: ")
    assert "The copies differ: " in statement
    assert f"process {file.read_text().split()[1]} answers" in statement


@pytest.mark.slow
def test_runs_may_begin_while_others_go_on() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with Replicas(makers.keeping, 1) as model, ThreadPoolExecutor(1) as thread:
            expected = ask_words(model, WORDS).to_dense()
            asking = thread.submit(lambda: [ask_words(model, WORDS) for _ in range(50)])
            while not asking.done():
                assert np.array_equal(ask_words(model, WORDS).to_dense(), expected)
            for rows in asking.result():
                assert np.array_equal(rows.to_dense(), expected)
    finally:
        sys.setswitchinterval(before)


class Interrupted(BaseException):
    """Stands for a Ctrl-C."""


@pytest.mark.slow
def test_what_was_interrupted_does_not_answer_for_what_is_asked_next(tmp_path: Path) -> None:
    """The second of two copies is slow, so that only the first has answered."""
    batch = Batch.of([[0] * length for length in range(40)])
    with Replicas(makers.OneSleeps(tmp_path / "made"), 2) as model:

        def interrupt(*_: object) -> None:
            raise Interrupted

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(Interrupted) as caught:
                model.answer(batch)
        finally:
            signal.signal(signal.SIGALRM, before)
        assert_attached(caught.value, batch, set())
        for _ in range(3):
            rows = ask_words(model, WORDS).to_dense()
            assert np.array_equal(rows, ask_words(makers.function(), WORDS).to_dense())


@pytest.mark.slow
def test_an_interrupt_at_any_time_leaves_copies_that_answer_right() -> None:
    expected = ask_words(makers.function(), WORDS).to_dense()
    armed: list[bool] = []

    def interrupt(*_: object) -> None:
        if armed:
            armed.clear()
            raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Replicas(makers.function, 2) as model:
            for turn in range(60):
                with suppress(Interrupted):
                    armed.append(True)
                    signal.setitimer(signal.ITIMER_REAL, 1e-5 + 8e-5 * turn)
                    ask_words(model, Words.of([[0] * (turn % 7), [1] * (turn % 5), [0, 1]]))
                armed.clear()
                assert np.array_equal(ask_words(model, WORDS).to_dense(), expected)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


PROGRAM = """
import os, signal, sys, time
from pdfalearn import Quantization, Replicas, learn
from tests.models.parallel import makers
model = Replicas(makers.sleeping, 2)
print(*(worker.pid for worker in model.copies.workers), flush=True)
{end}
"""
ENDS = {
    "its end": "",
    "an exception": "raise RuntimeError('over')",
    "kill -9": "os.kill(os.getpid(), signal.SIGKILL)",
    "Ctrl-C while asking": (
        "signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
        "signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))\n"
        "from pdfalearn.models.opened import ask_words\n"
        "from pdfalearn.words import Words\n"
        "ask_words(model, Words.of([[0] * n for n in range(1000)]))"
    ),
    "kill -9 while asking": (
        "signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
        "signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))\n"
        "from pdfalearn.models.opened import ask_words\n"
        "from pdfalearn.words import Words\n"
        "ask_words(model, Words.of([[0] * n for n in range(1000)]))"
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
                ask_words(model, WORDS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert_gone([int(pid) for pid in file.read_text().split()])


@pytest.mark.slow
def test_replicas_may_be_closed_while_they_are_asked() -> None:
    model = Replicas(makers.sleeping, 2)
    pids = pids_of(model)
    with ThreadPoolExecutor(1) as thread:
        words = Words.of([[0] * length for length in range(2000)])
        asking = thread.submit(ask_words, model, words)
        time.sleep(0.3)
        model.close()
        with pytest.raises(InputError, match="these replicas are closed"):
            asking.result(TIME_LIMIT)
    assert_gone([*pids, *pids_of(model)])


@pytest.mark.slow
def test_replicas_that_are_closed_or_forgotten_end() -> None:
    model = Replicas(makers.function, 1)
    pids = pids_of(model)
    model.close()
    assert_gone(pids)
    with pytest.raises(InputError, match="these replicas are closed"):
        ask_words(model, WORDS)
    forgotten: LanguageModel | None = Replicas(makers.function, 1)
    pids = pids_of(forgotten)  # type: ignore[arg-type]
    forgotten = None
    assert_gone(pids)


def stop(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


@pytest.mark.slow
def test_a_stopped_copy_is_not_waited_for_beyond_the_budget() -> None:
    with Replicas("tests.models.parallel.makers:function", 2) as model:
        pids = pids_of(model)
        stop(pids)
        begin = time.monotonic()
        with pytest.raises(ModelError, match=r"max_seconds=1\.0 is reached before"):
            learn(model, budget=Budget(max_seconds=1))
        assert time.monotonic() - begin < 20
    assert_gone(pids)


@pytest.mark.slow
def test_a_copy_that_is_stopped_on_the_way_leaves_what_was_learnt() -> None:
    with Replicas("tests.models.parallel.makers:function", 2) as model:
        pids = pids_of(model)

        def stop_them(progress: Progress) -> None:
            if progress.words > 20:
                stop(pids)

        budget = Budget(max_seconds=3)
        result = learn(model, equivalence=Quantization(50), budget=budget, progress=stop_them)
        assert result.certificate.details["bound"] == "max_seconds"
        assert len(result.pdfa) > 1
    assert_gone(pids)


@pytest.mark.slow
def test_a_copy_that_stays_stopped_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "STOPPED_SECONDS", 0.5)
    with Replicas("tests.models.parallel.makers:function", 2) as model:
        pids = pids_of(model)
        stop(pids[:1])
        expected = ask_words(makers.function(), WORDS).to_dense()
        assert (ask_words(model, WORDS).to_dense() == expected).all()
        assert pids[0] not in pids_of(model)
