"""Ctrl-C at any moment of ``pdfalearn learn``: what was learnt is saved, as the message says."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import pdfalearn
from pdfalearn import PDFA, load, save
from pdfalearn.datasets import random_pdfa
from tests.cli.program import one_error, run
from tests.support import many

MODEL = """
import os
import signal
import time
from pathlib import Path

import pdfalearn
from pdfalearn.rows import Rows

TARGET = pdfalearn.load("target.json")
INTERRUPT_AT = os.environ.get("INTERRUPT_AT", "").split()
SECONDS = float(os.environ.get("SECONDS_A_CALL", "0"))


def step(name):
    if name in INTERRUPT_AT:
        INTERRUPT_AT.remove(name)
        os.kill(os.getpid(), signal.SIGINT)
    time.sleep(SECONDS)


class Slow(pdfalearn.models.AutomatonModel):
    def open(self):
        step("open")
        return SlowRun(super().open())


class SlowRun(pdfalearn.LanguageModel):
    def __init__(self, inner):
        self.alphabet, self.inner, self.calls = inner.alphabet, inner, 0

    def answer(self, batch):
        self.calls += 1
        step(f"answer-{self.calls}")
        Path("began").touch()
        return self.inner.answer(batch)

    def close(self):
        step("close")


step("import")
model = Slow(TARGET)


def make():
    step("make")
    return model
"""
COMMAND = (
    "learn",
    "slow.py:make",
    "--kappa",
    "10",
    "--learner",
    "quant-paper",
    "-o",
    "learnt.json",
)
NOTHING = "interrupted before the first answer: nothing was saved\n"
MANY = 400
"""So many states take far longer to learn than the tests wait."""
SAVED = re.compile(r"interrupted: learnt.json holds the hypothesis so far, of (\d+) states?\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    prepared(tmp_path)
    return tmp_path


def prepared(folder: Path, states: int = 60) -> Path:
    folder.mkdir(exist_ok=True)
    save(random_pdfa(states, distributions=2, seed=1), folder / "target.json")
    (folder / "slow.py").write_text(MODEL)
    return folder


def check_saved(message: str, folder: Path) -> None:
    found = SAVED.search(message)
    assert found, message
    assert len(load(folder / "learnt.json")) == int(found[1])


@pytest.mark.slow
def test_random_moments(tmp_path: Path) -> None:
    random = Random(1)  # noqa: S311
    outcomes = {"nothing": 0, "saved": 0}
    for group in range(many(10)):
        folders = [prepared(tmp_path / f"{group}-{place}", MANY) for place in range(4)]
        programs = [started(folder) for folder in folders]
        for program, folder in zip(programs, folders, strict=True):
            wait_for(folder / "began")
            time.sleep(random.random() / 4)
            program.send_signal(signal.SIGINT)
        for program, folder in zip(programs, folders, strict=True):
            output, error = program.communicate(timeout=60)
            assert program.returncode == 130, error
            assert "Traceback" not in error
            assert (error == NOTHING) is not (folder / "learnt.json").exists()
            outcomes["nothing" if error == NOTHING else "saved"] += 1
            if error != NOTHING:
                check_saved(error, folder)
                assert re.search(r"certificate +│ interrupted", output)
    assert outcomes["saved"] >= many(30)


def started(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pdfalearn", *COMMAND],
        cwd=folder,
        env=os.environ | {"SECONDS_A_CALL": "0.002"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    "moment", ["import", "make", "open", "answer-1", "answer-2", "answer-9", "close"]
)
def test_certain_moments(moment: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERRUPT_AT", moment)
    result = run(*COMMAND, exit_code=130)
    if moment in ("import", "make"):
        assert one_error(result.stderr.lstrip("\n")) == "interrupted"
    elif moment in ("open", "answer-1"):
        assert result.stderr == NOTHING
    else:
        check_saved(result.stderr, folder)
        return
    assert not (folder / "learnt.json").exists()
    assert not result.stdout


def test_before_the_first_hypothesis_there_is_an_automaton(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERRUPT_AT", "answer-2")
    run(*COMMAND, exit_code=130)
    learnt = load(folder / "learnt.json")
    assert len(learnt) == 1
    assert (learnt.next_distribution("") == load("target.json").next_distribution("")).all()


def saving(presses: int) -> Callable[[PDFA, Path], None]:
    def pressed(pdfa: PDFA, path: Path) -> None:
        for _ in range(presses):
            os.kill(os.getpid(), signal.SIGINT)
        save(pdfa, path)

    return pressed


@pytest.mark.slow
def test_while_the_automaton_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(*COMMAND)
    whole = load("learnt.json")
    monkeypatch.setattr(pdfalearn, "save", saving(presses=1))
    result = run(*COMMAND, "--tree", "tree.dot", exit_code=130)
    check_saved(result.stderr, folder)
    assert load("learnt.json") == whole
    assert Path("tree.dot").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_a_second_time_it_ends_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdfalearn, "save", saving(presses=2))
    result = run(*COMMAND, exit_code=130)
    assert one_error(result.stderr.lstrip("\n")) == "interrupted"
    assert not (folder / "learnt.json").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_once_more_while_what_was_learnt_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERRUPT_AT", "answer-9")
    monkeypatch.setattr(pdfalearn, "save", saving(presses=1))
    check_saved(run(*COMMAND, exit_code=130).stderr, folder)
