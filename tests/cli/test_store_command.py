from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from pdfalearn import Alphabet
from pdfalearn.stores import AnswerStore
from tests.cli.program import error_of, run, run_json
from tests.stores.given import arrays_of, some, spelled, stored

COMMANDS = ("info", "verify", "export")
ANSWERS = {"": (0.1, 0.2, 0.7), "ab": (1.0, 5e-324, -0.0), "b": None}
LINES = [
    '{"word": [], "distribution": [0.1, 0.2, 0.7]}',
    '{"word": ["a", "b"], "distribution": [1.0, 5e-324, -0.0]}',
    '{"word": ["b"], "distribution": null}',
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return stored(tmp_path / "answers.db", [spelled(ANSWERS)])


@pytest.fixture
def damaged(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE answers SET checksum = 0")
    connection.commit()
    connection.close()
    return path


def with_second_model(path: Path) -> None:
    with AnswerStore(path) as store:
        answers = store.answers("other model", Alphabet(["up", 7], terminal="end"))
        answers.add(*arrays_of({(1,): [0.25, 0.25, 0.5]}))


def test_info(path: Path) -> None:
    with_second_model(path)
    result = run_json("store", "info", path)
    first, second = result["models"]
    assert (result["file"], result["bytes"]) == (str(path), path.stat().st_size)
    assert (first["key"], first["alphabet"], first["terminal"]) == ("model", ["a", "b"], "$")
    assert (first["answers"], first["bytes"]) == (3, 3 + 2 * 25)
    assert first["first"] <= first["last"] <= second["last"]
    assert (second["key"], second["alphabet"], second["terminal"]) == (
        "other model",
        ["up", 7],
        "end",
    )


def test_info_as_a_table(path: Path) -> None:
    with_second_model(path)
    text = run("store", "info", path).stdout
    assert text.startswith(f"{path}: {path.stat().st_size:,} bytes")
    assert all(word in text for word in ("model", "symbols", "answers", "other"))


def test_verify(path: Path) -> None:
    counts = {"models": 1, "answers": 3}
    result = run_json("store", "verify", path)
    assert result == {"file": str(path), "whole": True, "damage": None, **counts}
    text = run("store", "verify", path).stdout
    assert text.startswith(f"yes: {path} is whole")
    assert "answers 3" in text


def test_verify_says_no_to_a_damaged_store(damaged: Path) -> None:
    named = f"{damaged}: damaged or cut off: model 'model', answer 1: its checksum is wrong"
    result = run_json("store", "verify", damaged, exit_code=1)
    assert not result["whole"]
    assert result["damage"].startswith(named)
    assert run("store", "verify", damaged, exit_code=1).stdout.startswith(f"no: {named}")


def test_verify_says_no_to_half_a_store(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert "damaged or cut off" in run_json("store", "verify", path, exit_code=1)["damage"]


def test_export(path: Path, tmp_path: Path) -> None:
    assert run("store", "export", path).stdout.splitlines() == LINES
    output = tmp_path / "answers.jsonl"
    assert run("store", "export", path, "-o", output).stdout == ""
    assert output.read_text(encoding="ascii").splitlines() == LINES
    assert {*tmp_path.iterdir()} == {path, output}


def test_export_of_one_of_several_models(path: Path) -> None:
    with_second_model(path)
    assert run("store", "export", path, "--key", "model").stdout.splitlines() == LINES
    [line] = run("store", "export", path, "--key", "other model").stdout.splitlines()
    assert json.loads(line) == {"word": [7], "distribution": [0.25, 0.25, 0.5]}
    known = "there are 'model', 'other model'"
    assert error_of("store", "export", path) == f"{path}: choose a model by --key; {known}"
    for key in ("no model", ""):
        error = error_of("store", "export", path, "--key", key)
        assert error == f"{path}: there is no model {key!r}; {known}"


def test_export_of_an_empty_store(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    AnswerStore(path).close()
    assert run("store", "export", path).stdout == ""
    assert error_of("store", "export", path, "--key", "k").endswith("there are none")


def test_a_failing_export_leaves_the_old_file(damaged: Path, tmp_path: Path) -> None:
    output = tmp_path / "answers.jsonl"
    output.write_text("old")
    assert "its checksum is wrong" in error_of("store", "export", damaged, "-o", output)
    assert output.read_text() == "old"
    nowhere = tmp_path / "nowhere" / "answers.jsonl"
    assert error_of("store", "export", damaged, "-o", nowhere).startswith(f"{nowhere}: No such")


@pytest.mark.slow
def test_a_reader_who_has_seen_enough(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1, count=1000))
    command = f"'{sys.executable}' -m pdfalearn store export '{path}'"
    line = f"{command} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, encoding="utf-8")
    assert (done.stderr, done.stdout.count("\n"), done.returncode) == ("", 1, 141)


@pytest.mark.parametrize("command", COMMANDS)
def test_files_that_are_no_stores(command: str, tmp_path: Path) -> None:
    missing, other = tmp_path / "missing.db", tmp_path / "other.db"
    other.write_text("hello")
    assert error_of("store", command, missing) == f"{missing}: there is no such file; name a store"
    assert error_of("store", command, other).startswith(f"{other}: not a store of answers")
    assert list(tmp_path.iterdir()) == [other]
    assert other.read_text() == "hello"


def test_without_a_command_there_is_help() -> None:
    assert run("store").stdout == run("store", "--help").stdout


def test_wrong_usage_points_to_the_help() -> None:
    assert "pdfalearn store --help" in error_of("store", "wrong")
    assert "pdfalearn store info --help" in error_of("store", "info")


def test_export_does_not_overwrite_the_store(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    stored(path, some(1), key="m")
    assert "overwrite the store" in error_of("store", "export", path, "-o", path)
