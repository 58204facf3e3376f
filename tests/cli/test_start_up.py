"""The program starts fast: help needs neither NumPy nor rich."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

import pdfalearn
from pdfalearn import load, save
from pdfalearn.cli import COMMANDS, cli
from pdfalearn.datasets import figure_1
from tests.cli.program import run, run_program
from tests.support import mostly_slow

PROGRAM = Path(sys.executable).with_name("pdfalearn")

MODULES_AFTER = """
import sys
from pdfalearn.cli import main
try:
    main()
finally:
    print(*sorted({"numpy", "scipy", "rich"} & sys.modules.keys()), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    mostly_slow(
        [
            [],
            ["--help"],
            ["learn", "--help"],
            ["--version"],
            *([name, "--help"] for name in COMMANDS if name != "learn"),
            ["store", "info", "--help"],
        ],
        3,
    ),
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    command = [sys.executable, "-c", MODULES_AFTER, *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout
    assert done.stderr == "\n"


def test_learning_a_small_automaton_needs_no_scipy(tmp_path: Path) -> None:
    save(figure_1(), tmp_path / "target.json")
    command = [sys.executable, "-c", MODULES_AFTER, "learn", "target.json", "-o", "learnt.json"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, cwd=tmp_path)
    assert done.stderr.split() == ["numpy", "rich"]
    assert load(tmp_path / "learnt.json") == figure_1()


SHOWN = """
import sys
import pdfalearn
names = lambda: {name for name in sys.modules if name.partition(".")[0] in ("pdfalearn", "scipy")}
print(len(names()))
pdfalearn.datasets.figure_1()._repr_mimebundle_()
print(len(names()), "scipy" in names())
"""


def test_showing_a_small_automaton_imports_little() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHOWN], capture_output=True, encoding="utf-8", check=True
    )
    first, modules, has_scipy = done.stdout.split()
    assert int(first) == 2, "the package and its front door"
    assert int(modules) < 40
    assert has_scipy == "False"


def test_the_program_and_the_module_are_the_same(tmp_path: Path) -> None:
    script = subprocess.run([PROGRAM, "--help"], capture_output=True, encoding="utf-8", check=True)
    assert run_program("--help", folder=tmp_path).stdout == script.stdout


def test_version() -> None:
    assert pdfalearn.__version__ in run("--version").stdout


def test_no_arguments_show_the_help() -> None:
    assert run().stdout == run("--help").stdout


def test_help_lists_every_command_with_a_whole_sentence() -> None:
    text = run("--help").stdout
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert f"{name} ".ljust(10) in text
        assert command.get_short_help_str(limit=60) in text
        assert "..." not in command.get_short_help_str(limit=60)
