"""Names and texts of others never act on the terminal: control characters are shown escaped."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

import pdfalearn
from pdfalearn import PDFA, save
from pdfalearn.datasets import figure_3
from pdfalearn.errors import InputError
from pdfalearn.results import LearningInterrupted
from pdfalearn.stores import AnswerStore
from pdfalearn.text import escaped
from tests.cli.program import error_of, run, run_program
from tests.stores.given import arrays_of, some, stored
from tests.support import mostly_slow

EVIL = "\x1b[31m\x1b]0;title\x07\r\x08\x7f\x9b2J\u202e"
"""Colours, the window's title, a bell, back to the line's begin, and so on."""
SHOWN = r"\x1b[31m\x1b]0;title\x07\r\x08\x7f\x9b2J\u202e"
A, B = f"a{EVIL}.json", f"b{EVIL}.json"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files with evil names, in which commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    odd = PDFA(alphabet=[EVIL, "b"], transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    other = PDFA(alphabet=[EVIL, "b"], transitions=[[0, 0]], probabilities=[[0.2, 0.4, 0.4]])
    save(odd, A)
    save(other, B)
    stored(Path(f"s{EVIL}.db"), some(1))
    return tmp_path


def printed(*arguments: str, exit_code: int = 0) -> str:
    """Run a command; return what it prints, without control characters."""
    result = run(*arguments, exit_code=exit_code)
    text = result.stdout + result.stderr
    assert not [c for c in text if c != "\n" and not c.isprintable()], ascii(text)
    return text


OUTPUTS = [
    ["info", A],
    ["compare", A, A],
    ["evaluate", A, B],
    ["divergence", A, B],
    ["quotient", A, "-o", f"out{EVIL}.json"],
    ["random", "9", "-o", f"out{EVIL}.json"],
    ["convert", A, "-o", f"out{EVIL}.npz"],
    ["draw", A, "-o", f"out{EVIL}.dot"],
    ["learn", A, "-o", f"out{EVIL}.json", "--tree", f"tree{EVIL}.dot"],
    ["sample", A, "--seed", "0"],
    ["store", "info", f"s{EVIL}.db"],
    ["store", "verify", f"s{EVIL}.db"],
    ["experiments", "run", "5", "-o", f"results{EVIL}", "--values", "8", "--learners", "quant"],
]


@pytest.mark.parametrize(
    "arguments", mostly_slow(OUTPUTS, len(OUTPUTS) - 1), ids=lambda arguments: arguments[0]
)
def test_names_of_files(arguments: list[str]) -> None:
    assert SHOWN in printed(*arguments)
    if arguments[0] != "sample":
        assert r"\u202e" in printed(*arguments, "--json")


def test_differences() -> None:
    assert printed("compare", A, B, exit_code=1).count(SHOWN) == 4
    assert r"\u001b[31m" in printed("compare", A, B, "--json", exit_code=1)


def test_answers_that_are_exported(folder: Path) -> None:
    with AnswerStore(folder / "odd.db") as store:
        answers = store.answers("model", pdfalearn.Alphabet([EVIL, "b"]))
        answers.add(*arrays_of({(): [0.5, 0.25, 0.25], (0,): [0.5, 0.25, 0.25]}))
    assert r"\u007f" in printed("store", "export", "odd.db")


ERRORS = [
    [command, f"none{EVIL}.{ending}"]
    for command in ("info", "learn", "sample")
    for ending in ("json", "odd")
]
ERRORS += [
    ["compare", f"none{EVIL}.json", A],
    ["evaluate", A, B, "--corpus", f"none{EVIL}.txt"],
    ["learn", A, "--oracle", "pac", "--sampler", f"none{EVIL}.txt"],
    ["learn", A, "-o", f"none{EVIL}/out.json"],
    ["learn", f"none{EVIL}:model"],
    ["learn", f"module{EVIL}:model"],
    ["learn", f"torch:none{EVIL}.py:model"],
    ["learn", A, f"--none{EVIL}"],
    ["learn", A, "--kappa", EVIL],
    ["learn", A, EVIL],
    ["draw", A, "-o", f"out{EVIL}.json"],
    ["store", "info", f"none{EVIL}.db"],
    ["store", "export", f"s{EVIL}.db", "--key", EVIL],
    ["experiments", "run", EVIL, "-o", "results"],
    ["experiments", "run", "1", "-o", A],
    ["experiments", "report", f"none{EVIL}"],
    [EVIL],
]


@pytest.mark.parametrize("arguments", ERRORS, ids=lambda arguments: escaped(arguments[0]))
def test_errors(arguments: list[str]) -> None:
    text = printed(*arguments, exit_code=2)
    assert text.startswith("error: ")
    assert text.count("\n") == 1
    assert r"\x1b[31m" in text


def test_names_with_lines_are_shown_as_they_are() -> None:
    assert error_of("info", "two\nlines.json") == r"two\nlines.json: No such file or directory"


def test_errors_of_a_module(folder: Path) -> None:
    failing = f"def fail(words):\n    raise RuntimeError({EVIL!r})\n"
    (folder / "failing.py").write_text(failing)
    (folder / "broken.py").write_text(f"raise RuntimeError({EVIL!r})\n")
    text = printed("learn", "failing:fail", "--alphabet", "ab", exit_code=2)
    assert f"RuntimeError: {SHOWN}" in text
    assert f"RuntimeError: {SHOWN}" in printed("learn", "broken:fail", exit_code=2)


def test_keys_and_damage_of_a_store() -> None:
    shutil.copy(f"s{EVIL}.db", "other.db")
    connection = sqlite3.connect("other.db")
    connection.execute("UPDATE models SET key = ?", (EVIL,))
    connection.commit()
    connection.close()
    assert SHOWN in printed("store", "info", "other.db")
    assert "no: " in printed("store", "verify", "other.db", exit_code=1)


def test_interruptions(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise LearningInterrupted(None)

    def stopped(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pdfalearn, "learn", interrupted)
    monkeypatch.setattr(pdfalearn.experiments, "run_experiments", stopped)
    learning = ["learn", A, "--store", f"s{EVIL}.db"]
    assert f"s{SHOWN}.db holds all" in printed(*learning, exit_code=130)
    running = ["experiments", "run", "5", "-o", f"results{EVIL}"]
    assert f"results{SHOWN} keeps" in printed(*running, exit_code=130)


def test_exceptions_of_every_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (InputError(EVIL), MemoryError(EVIL), OSError(EVIL), OSError(5, EVIL, EVIL)):

        def fail(path: Path, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(pdfalearn.io, "load_model", fail)
        assert SHOWN in printed("info", A, exit_code=2)


BUG = """
import warnings
import pdfalearn
from pdfalearn.cli import main

def load_model(path):
    warnings.warn(str(path), RuntimeWarning)
    raise RuntimeError(str(path))

pdfalearn.io.load_model = load_model
main()
"""


def test_warnings_and_bugs(folder: Path) -> None:
    (folder / "pdfalearn_with_a_bug.py").write_text(BUG)
    done = run_program("info", A, folder=folder, module="pdfalearn_with_a_bug")
    assert done.returncode == 1
    assert f"RuntimeWarning: a{SHOWN}.json\n" in done.stderr
    assert done.stderr.endswith(f"\nRuntimeError: a{SHOWN}.json\n")
    assert "Traceback (most recent call last):\n" in done.stderr
    assert all(line.isprintable() for line in done.stderr.split("\n"))


def test_what_can_be_seen_is_left_alone() -> None:
    save(figure_3(), "κ é 'x' \\n 漢字.json")
    assert "κ é 'x' \\n 漢字.json" in printed("info", "κ é 'x' \\n 漢字.json")
    assert escaped("\\x1b") == "\\x1b"
