"""Progress and interrupts, in processes of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pdfalearn import load, save
from pdfalearn.datasets import random_pdfa
from tests.cli.program import run_program
from tests.cli.terminal import Program

SLOW = ["learn", "target.npz", "--learner", "quant-paper"]
"""Takes more than ten seconds, and has its first hypothesis at once."""

MESSAGE = re.compile(r"interrupted: .*")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(random_pdfa(600, distributions=2, seed=1), tmp_path / "target.npz")
    save(random_pdfa(150, distributions=2, seed=1), tmp_path / "small.npz")
    return tmp_path


def interrupted(folder: Path, *options: str) -> tuple[str, str]:
    """Interrupt learning; return its message and its standard output."""
    program = Program(*SLOW, *options, folder=folder)
    program.wait_for("equivalence queries")
    program.interrupt()
    code, output = program.finish_reading()
    assert code == 130
    assert program.shown.count("\x1b[?25h") == 1, "the cursor is hidden"
    (message,) = MESSAGE.findall(program.shown)
    return message.strip(), output


@pytest.mark.slow
def test_an_interrupt_saves_the_hypothesis(folder: Path) -> None:
    message, output = interrupted(folder, "-o", "learnt.json", "--tree", "tree.dot")
    states = len(load(folder / "learnt.json"))
    assert message == f"interrupted: learnt.json holds the hypothesis so far, of {states} states"
    assert 1 <= states < 590
    assert re.search(r"certificate +│ interrupted", output)
    assert not (folder / "tree.dot").exists()


@pytest.mark.slow
def test_an_interrupt_without_a_file_says_that_nothing_was_saved(folder: Path) -> None:
    before = set(folder.iterdir())
    message, output = interrupted(folder)
    assert message == "interrupted: nothing was saved, as no -o was given"
    assert re.search(r"certificate +│ interrupted", output)
    assert set(folder.iterdir()) == before


@pytest.mark.slow
def test_progress_is_one_line_that_is_gone_in_the_end(folder: Path) -> None:
    program = Program("learn", "small.npz", "--learner", "quant-paper", folder=folder)
    code, output = program.finish_reading()
    assert code == 0
    assert "exact" in output
    updates = re.findall(
        r"([\d,]+) states, ([\d,]+) words? asked, [\d,]+ equivalence queries, ([\d.]+) s",
        program.shown,
    )
    assert updates
    assert len(updates) <= 10 * float(updates[-1][2]) + 2, "too many updates a second"
    assert program.shown.endswith("\x1b[1A\x1b[2K"), "the line is still there"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "settings"), [(["--json"], {}), ([], {"TERM": "dumb"})], ids=str
)
def test_no_progress_on_a_terminal(
    options: list[str], settings: dict[str, str], folder: Path
) -> None:
    program = Program("learn", "small.npz", *options, folder=folder, **settings)
    code, _ = program.finish_reading()
    assert (code, program.shown.strip()) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"FORCE_COLOR": "1"}, {"TTY_COMPATIBLE": "1"}], ids=str)
def test_no_progress_elsewhere(settings: dict[str, str], folder: Path) -> None:
    done = run_program("learn", "small.npz", folder=folder, **settings)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_narrow_terminal_gets_the_beginning_of_the_line(folder: Path) -> None:
    program = Program(*SLOW, folder=folder, COLUMNS="20")
    program.wait_for(" state")
    program.wait_for("…")
    program.interrupt()
    assert program.finish_reading()[0] == 130


@pytest.mark.slow
def test_a_terminal_that_is_gone_costs_nothing(folder: Path) -> None:
    arguments = ["learn", "small.npz", "--learner", "quant-paper", "-o", "learnt.json"]
    program = Program(*arguments, folder=folder)
    program.wait_for("equivalence queries")
    program.hang_up()
    code, output = program.finish()
    assert code == 0
    assert "exact" in output
    assert len(load(folder / "learnt.json")) > 100


@pytest.mark.slow
def test_json_goes_to_the_output_alone(folder: Path) -> None:
    done = run_program("learn", "small.npz", "--json", folder=folder)
    assert json.loads(done.stdout)["certificate"]["kind"] == "exact"
    assert done.stderr == ""
