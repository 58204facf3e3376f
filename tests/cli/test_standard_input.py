"""Words from the standard input, where a file of words can be named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pdfalearn import Quantization, quotient, save
from pdfalearn.cli import cli
from pdfalearn.datasets import figure_3

COMMANDS = {
    "evaluate": ["evaluate", "a.json", "b.json", "--corpus"],
    "distill": ["distill", "a.json", "--symbols", "500", "--states", "1,2", "--corpus"],
    "refit": ["refit", "a.json", "-o", "out.json", "--corpus"],
    "fit to a model": ["refit", "b.json", "a.json", "-o", "out.json", "--transitions", "--corpus"],
    "learn": ["learn", "a.json", "--oracle", "pac", "--sampler"],
    "sweep": ["sweep", "a.json", "--kappas", "1,10", "--oracle", "pac", "--sampler"],
    "score": ["score", "a.json"],
    "one line": ["score", "a.json", "--line", "2"],
}


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    save(figure_3(), tmp_path / "a.json")
    save(quotient(figure_3(), equivalence=Quantization(1)), tmp_path / "b.json")
    text = "".join(f"{''.join(map(str, word))}\n" for word in figure_3().sample(50, seed=1).words)
    (tmp_path / "words.txt").write_text(text, encoding="utf-8")
    return text


def told(arguments: list[str], given: str | bytes | None = None, exit_code: int = 0) -> Any:
    result = CliRunner().invoke(cli, [*arguments, "--json"], input=given, prog_name="pdfalearn")
    assert result.exit_code == exit_code, result.output
    if exit_code:
        return result.stderr
    return without_names(json.loads(result.stdout))


def without_names(thing: Any) -> Any:
    """Leave out what differs from one run to the next: names of files, and times."""
    if isinstance(thing, dict):
        return {key: without_names(value) for key, value in thing.items() if "seconds" not in key}
    if isinstance(thing, list):
        return [without_names(part) for part in thing]
    if isinstance(thing, str):
        return thing.replace("words.txt", "-").replace("the standard input", "-")
    return thing


@pytest.mark.parametrize("name", COMMANDS)
def test_the_standard_input_is_a_file_of_words(name: str, words: str) -> None:
    command = COMMANDS[name]
    assert told([*command, "-"], words) == told([*command, "words.txt"])


@pytest.mark.parametrize(
    "command",
    [
        ["learn", "a.json", "--oracle", "pac", "--sampler", "-", "--sampler", "-"],
        ["sweep", "a.json", "--oracle", "pac", "--sampler", "-", "--corpus", "-"],
    ],
)
def test_it_can_be_read_only_once(command: list[str], words: str) -> None:
    message = told(command, words, exit_code=2)
    assert "The standard input can be read only once: give - only once." in message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "there are no words of the corpus the standard input"),
        (b"\xff\n", "the standard input, line 1: byte 1 of the line is not a text in UTF-8"),
    ],
)
def test_bad_words_are_named(given: str | bytes, message: str, words: str) -> None:
    assert message in told([*COMMANDS["evaluate"], "-"], given, exit_code=2)


@pytest.mark.parametrize("name", ["-", "words.txt"])
def test_a_line_that_is_not_there(name: str, words: str) -> None:
    message = told(["score", "a.json", name, "--line", "99"], words, exit_code=2)
    assert f"{name} has no line 99" in message
