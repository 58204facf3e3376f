"""Programs on the command line, named command:PROGRAM."""

from __future__ import annotations

import gc
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pdfalearn import Quantization, save
from pdfalearn.datasets import random_pdfa
from pdfalearn.io import load_pdfa
from tests.cli.program import error_of, run, run_json
from tests.learners.checks import assert_is_quotient
from tests.models.programs.programs import FaultyProgram

TARGET = random_pdfa(8, seed=1)
PAC = ("--kappa", 1000, "--oracle", "pac", "--epsilon", 0.05, "--delta", 0.05)


def named(program: FaultyProgram) -> str:
    return f"command:{shlex.join(program.command)}"


def started(program: FaultyProgram, folder: Path) -> subprocess.Popen[str]:
    """Run learn in a process of its own."""
    learn = ["learn", named(program), "--alphabet", "01", *map(str, PAC), "-o", "out.json"]
    return subprocess.Popen(
        [sys.executable, "-m", "pdfalearn", *learn],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def test_a_program_that_dies_in_the_middle_is_learnt(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path, "dies@6")
    learnt = tmp_path / "learnt.json"
    run("learn", named(program), "--alphabet", "01", *PAC, "-o", learnt)
    assert_is_quotient(load_pdfa(learnt), TARGET, Quantization(1000))
    events = program.events()
    assert events.count("start") == 2
    assert events.count("batch") > 10
    gc.collect()  # or it would end with this process
    program.check_end()


@pytest.mark.slow
def test_every_command_that_takes_a_model(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path)
    target = tmp_path / "target.json"
    save(TARGET, target)
    common = (named(program), "--alphabet", "01")
    assert run("sample", *common, "--seed", 1).stdout == run("sample", target, "--seed", 1).stdout
    assert run_json("evaluate", *common[:1], target, *common[1:])["over_prefixes"]["l1"] == 0
    found = run_json("distill", *common, "--words", 100, "--states", "1,2")
    expected = run_json("distill", target, "--words", 100, "--states", "1,2")
    assert [p["states"] for p in found["points"]] == [p["states"] for p in expected["points"]]
    run("refit", target, *common, "--symbols", 300, "-o", tmp_path / "fitted.json")
    assert "can only be asked" in error_of("info", named(program))
    assert "say with --alphabet" in error_of("learn", named(program))
    assert "there is no program" in error_of("learn", "command:./nothing", "--alphabet", "01")
    assert "give a program" in error_of("learn", "command:", "--alphabet", "01")
    gc.collect()
    program.check_end()


@pytest.mark.slow
def test_ctrl_c_while_it_hangs(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path, "children@5")
    process = started(program, tmp_path)
    program.wait_for("child")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)  # a batch would take two minutes
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "interrupted" in errors
    program.check_end()
    assert (tmp_path / "out.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_being_told_to_end_while_it_hangs(number: signal.Signals, tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path, "hang@5")
    before = signal.signal(number, signal.SIG_DFL)  # under nohup it would be ignored
    try:
        process = started(program, tmp_path)
    finally:
        signal.signal(number, before)
    program.wait_for("hang")
    process.send_signal(number)
    process.communicate(timeout=10)
    assert process.returncode == (143 if number == signal.SIGTERM else -number)
    program.check_end()


@pytest.mark.slow
def test_a_program_ends_where_this_process_is_killed(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path, "slow")
    process = started(program, tmp_path)
    program.wait_for("batch")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=10)
    program.wait_for_the_end()
