"""Run the command line, in this process or in one of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from pdfalearn.cli import cli

COMMANDS_THAT_READ = ("learn", "info", "quotient", "sample", "convert", "draw")


def run(*arguments: object, exit_code: int = 0) -> Result:
    """Run a command in this process and check its exit code."""
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="pdfalearn")
    assert result.exit_code == exit_code, result.output
    return result


def run_json(*arguments: object, exit_code: int = 0) -> dict[str, Any]:
    """Run a command with --json; its output is one object and nothing else, without NaN."""
    output = run(*arguments, "--json", exit_code=exit_code).stdout
    parsed = json.loads(output, parse_constant=_refuse)
    assert isinstance(parsed, dict)
    return parsed


def error_of(*arguments: object) -> str:
    """Run a command that must fail on bad input, and return its one line of error."""
    result = run(*arguments, exit_code=2)
    assert not result.stdout
    return one_error(result.stderr)


def one_error(text: str) -> str:
    assert text.startswith("error: "), text
    assert text.count("\n") == 1, text
    return text.removeprefix("error: ").rstrip("\n")


def unboxed(output: str) -> str:
    """Return the text of tables on one line, without their lines."""
    return " ".join(re.sub("[│╭╮╰╯─┬┴├┤┼]", " ", output).split())


def run_program(
    *arguments: object, folder: Path, module: str = "pdfalearn", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run the program, or another module, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=folder,
        env=os.environ | settings,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=60,
    )


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")
