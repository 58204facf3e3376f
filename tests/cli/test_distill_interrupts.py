"""Progress and interrupts of ``pdfalearn distill``, in processes of their own."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path
from random import Random

import pytest

from pdfalearn import Frontier, load, save
from pdfalearn.cli._commands import _Termination
from pdfalearn.datasets import random_pdfa
from tests.cli.program import run_program, unboxed
from tests.cli.terminal import Program
from tests.support import many

LONG = ["distill", "target.npz", "--symbols", "3000000", "--max-length", "50"]
"""Takes far longer than the tests wait."""
SLOW = """
import os
import time

import pdfalearn

seconds = float(os.environ.get("SECONDS_A_CALL", "0.2"))
pdfa = pdfalearn.load("target.npz")


def slowly(words):
    time.sleep(seconds)
    return pdfa.next_distributions(words)


model = pdfalearn.FunctionModel(slowly, pdfa.alphabet)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(random_pdfa(300, 6, seed=1), tmp_path / "target.npz")
    (tmp_path / "slow.py").write_text(SLOW)
    return tmp_path


def interrupted(folder: Path, *arguments: str, at: str = "symbols left") -> tuple[str, str]:
    """Interrupt distilling; return its message and its standard output."""
    program = Program(*arguments, folder=folder)
    program.wait_for(at)
    program.interrupt()
    code, output = program.finish_reading()
    assert code == 130, program.shown
    assert program.shown.count("\x1b[?25h") == 1, "the cursor is hidden"
    assert "Traceback" not in program.shown
    (message,) = re.findall("interrupted.*", program.shown)
    return message.strip(), output


@pytest.mark.slow
def test_an_interrupt_saves_the_frontier_so_far(folder: Path) -> None:
    message, output = interrupted(folder, *LONG, "-o", "out.zip")
    assert message == "interrupted: out.zip holds the frontier so far"
    frontier = load(folder / "out.zip")
    assert isinstance(frontier, Frontier)
    assert frontier.certificate.details["interrupted"] is True
    assert "stopped by hand" in unboxed(output)


@pytest.mark.slow
def test_being_told_to_end_is_an_interrupt(folder: Path) -> None:
    program = Program(*LONG, "-o", "out.zip", folder=folder)
    program.wait_for_pattern(r"\d\d\d words drawn")
    program.process.terminate()
    program.process.terminate()  # timeout sends it to the process, and to its group
    code, _ = program.finish_reading()
    assert code == 143, program.shown
    assert "interrupted: out.zip holds the frontier so far" in program.shown
    assert isinstance(load(folder / "out.zip"), Frontier)


def test_being_told_to_end_where_an_interrupt_is_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a job in the background
    try:
        with _Termination() as termination:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)  # at once: it is the same
            termination.came -= 60
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is not termination._interrupt
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_random_moments(folder: Path) -> None:
    random = Random(1)  # noqa: S311
    slowly = ("distill", "slow.py:model", "--symbols", 20_000)
    for moment in range(many(20)):
        name = f"{moment}.zip"
        program = Program(*slowly, "-o", name, folder=folder, SECONDS_A_CALL="0.02")
        program.wait_for("symbols left")
        time.sleep(3 * random.random())
        program.interrupt()
        code, _ = program.finish_reading()
        assert code == 130
        assert "Traceback" not in program.shown
        is_saved = f"interrupted: {name} holds the frontier so far" in program.shown
        assert is_saved is (folder / name).exists()
        assert is_saved or "interrupted before there was anything to measure" in program.shown
        assert not is_saved or isinstance(load(folder / name), Frontier)


@pytest.mark.slow
def test_an_interrupt_saves_the_best_automaton_so_far(folder: Path) -> None:
    message, _ = interrupted(folder, *LONG, "-o", "out.json")
    assert message == "interrupted: out.json holds the best automaton so far"
    assert len(load(folder / "out.json")) >= 1


@pytest.mark.slow
def test_an_interrupt_without_a_file_says_that_nothing_was_saved(folder: Path) -> None:
    before = set(folder.iterdir())
    message, output = interrupted(folder, *LONG)
    assert message == "interrupted: nothing was saved, as no -o was given"
    assert "divergence" in output
    assert set(folder.iterdir()) == before


@pytest.mark.slow
def test_an_interrupt_before_there_is_anything(folder: Path) -> None:
    stored = ("--store", "answers.db", "--model-id", "mine", "-o", "out.zip")
    message, output = interrupted(
        folder, "distill", "slow.py:model", "--symbols", "5000", *stored, at="symbols left"
    )
    assert message == (
        "interrupted before there was anything to measure: no automaton was saved; answers.db "
        "holds all answers: start again to go on"
    )
    assert (output, (folder / "out.zip").exists()) == ("", False)


@pytest.mark.slow
def test_progress_is_one_line_that_is_gone_in_the_end(folder: Path) -> None:
    program = Program("distill", "target.npz", "--symbols", 800, folder=folder, COLUMNS="200")
    code, output = program.finish_reading()
    assert code == 0
    assert "certificate" in output
    figures = r"training divergence [\d.e-]+, held-out divergence [\d.e-]+"
    line = rf"searching, [\d,]+ words drawn, [\d,]+ symbols left, [\d,]+ states, {figures}, "
    assert re.search(line, program.shown), program.shown
    assert program.shown.endswith("\x1b[1A\x1b[2K"), "the line is still there"


@pytest.mark.slow
def test_no_terminal_no_progress(folder: Path) -> None:
    few = ("--symbols", 200, "--states", "1,2", "--json")
    ended = run_program("distill", "target.npz", *few, folder=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
