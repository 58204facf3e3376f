"""Whatever goes wrong is one line of error and an exit code, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pdfalearn
from pdfalearn import save
from pdfalearn.datasets import figure_3
from pdfalearn.errors import MissingExtraError
from tests.cli.program import COMMANDS_THAT_READ, error_of, one_error, run, run_program


@pytest.fixture
def source(tmp_path: Path) -> Path:
    save(figure_3(), tmp_path / "source.json")
    return tmp_path / "source.json"


def arguments_of(command: str, path: Path) -> list[object]:
    more: dict[str, list[object]] = {
        "quotient": ["-o", path.with_name("out.json")],
        "convert": ["-o", path.with_name("out.json")],
        "draw": ["-o", path.with_name("out.dot")],
    }
    return [command, path, *more.get(command, [])]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("distil", "No such command 'distil'; did you mean 'distill'? (see 'pdfalearn --help')"),
        ("xyz", "No such command 'xyz'. (see 'pdfalearn --help')"),
    ],
)
def test_the_nearest_command_is_named(name: str, text: str) -> None:
    assert error_of(name) == text


@pytest.mark.parametrize("command", COMMANDS_THAT_READ)
def test_files_that_cannot_be_read(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    reason = "No such file or directory"
    assert error_of(*arguments_of(command, missing)) == f"{missing}: {reason}"
    folder = tmp_path / "folder.json"
    folder.mkdir()
    assert error_of(*arguments_of(command, folder)) == f"{folder}: Is a directory"


@pytest.mark.parametrize("command", COMMANDS_THAT_READ)
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": "pdfa"}'])
def test_files_that_hold_something_else(command: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged.json"
    path.write_bytes(content)
    assert str(path) in error_of(*arguments_of(command, path))
    assert list(tmp_path.iterdir()) == [path]


WRITERS = ["random 9 -o", "learn source.json -o", "learn source.json --tree"]
WRITERS += ["quotient source.json -o", "convert source.json -o", "draw source.json -o"]


@pytest.mark.parametrize("command", WRITERS)
def test_what_cannot_be_written_is_refused_before_anything_is_computed(
    command: str, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise AssertionError("computed in vain")

    for name in ("learn", "quotient", "io.load_model", "datasets.random_pdfa"):
        monkeypatch.setattr(f"pdfalearn.{name}", fail)
    output = source.with_name("nowhere") / "out.dot"
    assert error_of(*command.split(), output) == f"{output}: No such file or directory"
    assert "out.txt" in error_of(*command.split(), source.with_name("out.txt"))
    assert list(source.parent.iterdir()) == [source]


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (PermissionError(13, "Permission denied", "secret.json"), "secret.json: Permission denied"),
        (OSError(18, "Cross-device link", "temporary", None, "out.json"), "out.json: Cross-device"),
        (OSError("no number"), "no number"),
        (MemoryError("Unable to allocate 8 TiB"), "not enough memory: Unable to allocate 8 TiB"),
        (MissingExtraError("install it"), "install it"),
        (pdfalearn.errors.FileFormatError("two\nlines"), "two lines"),
        (pdfalearn.errors.InputError("x" * 10**6), "xxx...xxx"),
    ],
)
def test_failures_of_the_library(
    failure: Exception, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path) -> None:
        raise failure

    monkeypatch.setattr(pdfalearn.io, "load_model", fail)
    error = error_of("info", "some.json")
    assert message in error
    assert len(error) < 3000


def test_a_bug_is_not_taken_for_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> None:
        raise KeyError("bug")

    monkeypatch.setattr(pdfalearn.io, "load_model", fail)
    assert isinstance(run("info", "some.json", exit_code=1).exception, KeyError)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--wrong"], "pdfalearn --help"),
        (["wrong"], "pdfalearn --help"),
        (["info"], "pdfalearn info --help"),
        (["info", "a.json", "b.json"], "pdfalearn info --help"),
        (["info", "a.json", "--wrong"], "pdfalearn info --help"),
        (["compare", "a.json", "b.json", "--kappa"], "pdfalearn --help"),
    ],
)
def test_wrong_usage_points_to_the_help(arguments: list[str], hint: str) -> None:
    assert hint in error_of(*arguments)


def test_the_program_reports_bad_input_without_a_traceback(tmp_path: Path) -> None:
    done = run_program("info", "missing.json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert one_error(done.stderr) == "missing.json: No such file or directory"


@pytest.mark.slow
def test_an_interrupt_is_one_line(tmp_path: Path) -> None:
    pipe = tmp_path / "never.json"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "pdfalearn", "info", str(pipe)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8")
    with process, pipe.open("wb"):  # the pipe opens when the program reads
        time.sleep(0.5)  # until it waits: a signal just before would be seen only after that
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error.strip("\n") == "error: interrupted"


@pytest.mark.slow
def test_who_ignores_interrupts_goes_on_doing_so(source: Path) -> None:
    pipe = source.with_name("late.json")
    os.mkfifo(pipe)
    ignoring = "trap '' INT; exec \"$@\""  # as a shell does with what it starts in the background
    command = ["sh", "-c", ignoring, "sh", sys.executable, "-m", "pdfalearn", "info", str(pipe)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    with process, pipe.open("wb") as stream:  # the pipe opens when the program reads
        process.send_signal(signal.SIGINT)
        stream.write(source.read_bytes())
        stream.close()
        output, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, "")
    assert "weakly minimal" in output


INTERRUPTED = f"{Path(__file__).name}::test_an_interrupt_is_one_line"


@pytest.mark.slow
def test_interrupts_are_tested_where_the_tests_run_in_the_background() -> None:
    line = f"'{sys.executable}' -m pytest -q -p no:cacheprovider {INTERRUPTED} & wait $!"
    done = subprocess.run(
        ["sh", "-c", line], cwd=Path(__file__).parent, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["sample source.json --seed 1 --count 50000", "--help"])
def test_a_closed_pipe_ends_quietly(arguments: str, source: Path) -> None:
    line = f"'{sys.executable}' -m pdfalearn {arguments} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=source.parent, capture_output=True, encoding="utf-8"
    )
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    assert done.returncode in (0, 141)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["info", "compare source.json", "learn", "sample --seed 1"])
def test_a_pipe_that_nobody_reads_does_not_mean_no(arguments: str, source: Path) -> None:
    command = f"'{sys.executable}' -m pdfalearn {arguments} source.json"
    line = f"{{ sleep 0.2; {command}; }} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=source.parent, capture_output=True, encoding="utf-8"
    )
    assert done.stderr == ""
    assert done.returncode == 141


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], ["sample", "--seed", "1"]])
def test_a_full_disk_is_one_line(arguments: list[str], source: Path) -> None:
    command = [sys.executable, "-m", "pdfalearn", *arguments, str(source)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode == 2
    assert one_error(done.stderr) == "No space left on device"
