"""Every example in the help of a command runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import pdfalearn
from pdfalearn.cli import COMMANDS
from pdfalearn.cli._models import is_llm
from pdfalearn.cli.ask import ask
from tests.cli.program import run
from tests.stores.given import some, stored
from tests.support import mostly_slow, need_module, need_program

MODULE = """
import pdfalearn

def my_model(words):
    return [[0.2, 0.3, 0.5] if len(word) % 2 else [0.4, 0.4, 0.2] for word in words]

function = my_model

def keys(rows):
    return rows.argmax(axis=1)

def by_word(word):
    return {"a": 0.3, "$": 0.7} if len(word) % 2 else {"a": 0.5, "b": 0.5}

model = pdfalearn.FunctionModel(my_model, "ab")
numbers = pdfalearn.FunctionModel(my_model, "01")

def make_model():
    return model
"""

SHOP = """
import random

from pdfalearn.sampled import Samples

source = random.Random(1)

def draw(prefix, count):
    return ["ab"[len(prefix) :][: source.randrange(3)] for _ in range(count)]

samples = Samples(draw, "ab")
"""

ARPA = """
\\data\\
ngram 1=4

\\1-grams:
-99 <s>
-0.30103 </s>
-0.60206 a
-0.60206 b

\\end\\
"""


def examples_of(*arguments: str) -> list[list[str]]:
    lines = re.findall(r"^ *\$ pdfalearn (.*)$", run(*arguments, "--help").stdout, re.MULTILINE)
    assert lines, "help without an example"
    return [shlex.split(line) for line in lines]


STORE_COMMANDS = ("store info", "store verify", "store export")


ASK_COMMANDS = tuple(f"ask {name}" for name in ask.commands)


EXPERIMENT_COMMANDS = ("experiments run", "experiments report")


QUICK = ["", *(name for name in COMMANDS if name != "experiments"), *STORE_COMMANDS, *ASK_COMMANDS]
SLOW = ["experiments", *EXPERIMENT_COMMANDS]


@pytest.mark.parametrize("name", mostly_slow([*QUICK, *SLOW], len(QUICK)))
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if name in ("draw", "learn"):
        need_program("dot")
    if name:
        run("random", 12, "-o", "target.json")
        run("quotient", "target.json", "-o", "learnt.json", "--kappa", 1000)
        run("convert", "target.json", "-o", "target.npz")
        run("convert", "target.json", "-o", "large.npz")
        run("convert", "target.json", "-o", "small.json")
        (tmp_path / "my_module.py").write_text(MODULE)
        (tmp_path / "my_file.py").write_text(MODULE)
        (tmp_path / "shop.py").write_text(SHOP)
        (tmp_path / "model.arpa").write_text(ARPA)
    if name in ("distill", "calibrate", "monitor"):
        need_module("drain3")
        lines = [f"req=r{number} {what}\n" for number in range(1000) for what in ("in", "out")]
        for log in ("app.log", "monday.log", "tuesday.log"):
            (tmp_path / log).write_text("".join(lines))
    if name == "monitor":
        run("distill", "monday.log", "--template", "--session", r"req=(\w+)", "-o", "model.json")
        run("calibrate", "model.json", "tuesday.log", "-o", "watched.json")
    if name in ("compare", "distill", "view"):
        run("convert", "target.json", "-o", "usual.json")
        for day in ("monday", "friday", "sessions"):
            (tmp_path / f"{day}.txt").write_text("01\n0\n" * 10)
    if name.startswith("store"):
        stored(Path("answers.db"), some(1), key="my-model-v1")
    if name.startswith(("ask", "condition", "drift")):
        need_module("interegular")
        endless = pdfalearn.PDFA(alphabet="01", transitions=[[0, 0]], probabilities=[[0, 0.5, 0.5]])
        pdfalearn.save(endless, tmp_path / "endless.json")
    if name in ("experiments", "experiments report", "sweep"):
        need_module("matplotlib")
    if name == "experiments report":
        run("experiments", "run", 4, "-o", "results", "--values", "10,20")
    for example in examples_of(*name.split()):
        if any(map(is_llm, example)) or "--follow" in example:  # which goes on until Ctrl-C
            continue
        if ">" in example:
            *example, _, file = example
            Path(file).write_text(run(*example).stdout, encoding="utf-8")
        else:
            run(*example)
