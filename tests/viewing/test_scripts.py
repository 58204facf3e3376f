"""ESLint finds nothing in the scripts of pages, which share one function."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from pdfalearn.viewing.page import page_script
from tests.support import need_program

ESLINT = Path(__file__).parents[2] / "tools" / "eslint"


def complaints(script: str) -> list[dict[str, Any]]:
    """Return what ESLint finds; it is installed by ``make test-all``."""
    program = ESLINT / "node_modules" / ".bin" / "eslint"
    need_program(str(program))
    done = subprocess.run(
        [program, "--stdin", "--stdin-filename", "page.js", "--format", "json"],
        input=script,
        capture_output=True,
        text=True,
        cwd=ESLINT,
    )
    assert done.returncode in (0, 1), done.stderr
    (file,) = json.loads(done.stdout)
    return list(file["messages"])


def test_the_scripts_of_pages_are_clean() -> None:
    script = page_script()
    lines = script.splitlines()
    assert [f"{one['message']}: {lines[one['line'] - 1]}" for one in complaints(script)] == []


def test_mistakes_are_found() -> None:
    script = (
        '(() => {\n"use strict";\nconst unused = missing;\nif (1 == "1") node.innerHTML = "";\n})()'
    )
    rules = {one["ruleId"] for one in complaints(script)}
    assert {"no-undef", "no-unused-vars", "eqeqeq", "no-restricted-properties"} <= rules
