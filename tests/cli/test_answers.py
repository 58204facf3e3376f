"""One way to answer: one JSON object of every command, and tables that fit narrow terminals."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from pdfalearn import PDFA, save
from pdfalearn.cli import COMMANDS, cli
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._options import OPTIONS
from pdfalearn.datasets import random_pdfa
from tests.cli.program import run, run_json
from tests.stores.given import some, stored
from tests.support import need_module, need_program

ANSWERS = [
    "compare a.json b.json",
    "compare a.json a.json",
    "divergence a.json b.json --states 3",
    "evaluate a.json b.json --words 200",
    "info a.json",
    "ask probability a.json 01 --as contains",
    "ask bounds a.json --kappa 100",
    "ask likeliest a.json",
    "ask length a.json",
    "ask entropy a.json",
    "ask count a.json 01 --as ends",
    "ask visits a.json",
    "ask distances a.json b.json",
    "ask differences a.json b.json",
    "score a.json words.txt",
    "score a.json words.txt --line 2",
    "sweep a.json --kappas 5,50",
    "distill a.json --symbols 500 --states 1,2,4",
    "simplify a.json --states 2,4 -o {states}.json",
    "ask answers a.json --class zero=0.* --begins",
    "drift a.json b.json --class zero=0.* --begins",
    "store info answers.db",
    "store verify answers.db",
]
OTHERS = [
    "models",
    "random 5 -o out.json",
    "learn a.json --kappa 10 -o out.json",
    "refit a.json b.json --symbols 200 -o out.json",
    "quotient a.json -o out.json",
    "coherence a.json b.json",
    "ask complexity golden.json",
    "condition a.json 01 --as begins -o out.json",
    "convert a.json -o out.npz",
    "sample a.json --seed 1",
    "calibrate a.json words.txt --false-alarms 0.5 -o watched.json",
    "monitor watched.json events.jsonl --threshold 5",
    "draw a.json -o out.svg",
    "view a.json -o out.html",
    "store export answers.db",
    "store export answers.db -o answers.jsonl",
    "experiments run 5 -o results --values 8 --learners quant",
    "experiments report results",
]
FIGURE = re.compile(r"(?<![\w.,-])-?[\d,]*\.?\d+(?:e[-+]?\d+)?%?(?![\w.])")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(random_pdfa(8, seed=1), tmp_path / "a.json")
    save(random_pdfa(6, seed=2), tmp_path / "b.json")
    rows, moves = [[0.0, 0.5, 0.5], [0.0, 1.0, 0.0]], [[0, 1], [0, -1]]
    golden = PDFA(alphabet="01", transitions=moves, probabilities=rows)
    save(golden, tmp_path / "golden.json")
    (tmp_path / "words.txt").write_text("01\n0110\n\n")
    (tmp_path / "events.jsonl").write_text('{"session": "x", "event": "0"}\n')
    stored(tmp_path / "answers.db", some(1))
    return tmp_path


def commands_of(group: click.Group, name: str = "") -> list[tuple[str, click.Command]]:
    context = click.Context(group)
    found: list[tuple[str, click.Command]] = []
    for below in group.list_commands(context):
        command = group.get_command(context, below)
        assert command is not None
        path = f"{name} {below}".strip()
        if isinstance(command, click.Group):
            found += commands_of(command, path)
        else:
            found.append((path, command))
    return found


def test_every_command_has_json_and_is_tried_here() -> None:
    for name, command in commands_of(cli):
        assert "json" in {parameter.name for parameter in command.params}, name
        assert any(f"{line} ".startswith(f"{name} ") for line in ANSWERS + OTHERS), name
    assert {name.split()[0] for name, _ in commands_of(cli)} == set(COMMANDS)


def test_results_are_written_to_the_file_of_one_option() -> None:
    for name, command in commands_of(cli):
        named = {p.name: p.opts for p in command.params if isinstance(p, click.Option)}
        assert named.get("output", ["-o", "--output"]) == ["-o", "--output"], name


def test_no_option_hides_what_chosen_options_can_do() -> None:
    assert not OPTIONS.keys() & set(dir(Chosen))
    with pytest.raises(AttributeError, match="kapa"):
        _ = Chosen().kapa


@pytest.mark.usefixtures("folder")
def test_each_prints_one_object() -> None:
    need_program("dot")
    need_module("matplotlib")
    for line in ANSWERS + OTHERS:
        is_no = line == ANSWERS[0]
        assert run_json(*line.split(), exit_code=int(is_no)), line


@pytest.mark.parametrize("line", ANSWERS)
@pytest.mark.usefixtures("folder")
def test_no_figure_is_split_in_a_narrow_terminal(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--class" in line:
        need_module("interegular")
    exit_code, printed = int(line == ANSWERS[0]), {}
    for width in (60, 1000):
        monkeypatch.setenv("COLUMNS", str(width))
        printed[width] = run(*line.split(), exit_code=exit_code).stdout
    assert set(FIGURE.findall(printed[60])) == set(FIGURE.findall(printed[1000]))
    tables = [shown for shown in printed[60].splitlines() if shown.startswith(("│", "╭"))]
    assert max(map(len, tables), default=0) <= 60


@pytest.mark.usefixtures("folder")
def test_answers_in_a_file_are_counted_and_those_in_the_object_are_whole() -> None:
    answers = run_json("store", "export", "answers.db")["answers"]
    assert run_json("store", "export", "answers.db", "-o", "x.jsonl")["answers"] == len(answers) > 0
    assert len(Path("x.jsonl").read_text().splitlines()) == len(answers)
