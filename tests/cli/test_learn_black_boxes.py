"""``pdfalearn learn`` on models that can only be asked."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import (
    PDFA,
    Guided,
    LanguageModel,
    Quantization,
    Temperature,
    TopK,
    TopP,
    distinguish,
    load,
    random_pdfa,
    save,
)
from tests.cli.program import error_of, run, run_json
from tests.support import need_module

EXAMPLES = Path(__file__).parents[2] / "examples"
MODULE = """
import pdfalearn

target = pdfalearn.load("target.json")
model = pdfalearn.AutomatonModel(target)
number = 7
a_class = pdfalearn.AutomatonModel


def ask(words):
    return target.next_distributions(words)


def broken(words):
    return [[2.0, 0.0, 0.0] for _ in words]


def failing(words):
    return words[0][5]


def leaving(words):
    raise SystemExit(3)


class Half:
    def distributions(self, handles):
        return None


half = Half()


def make_model():
    return model


def make_nothing():
    return None
"""


FAILING = """import pdfalearn

class Failing(pdfalearn.AutomatonModel):
    def distributions(self, handles): return 1 / 0

def make(): return Failing(pdfalearn.figure_3())
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(random_pdfa(30, seed=1), tmp_path / "target.json")
    (tmp_path / "asked_model.py").write_text(MODULE)
    return tmp_path


COMMON = ("--kappa", 100, "--epsilon", 0.02, "--max-length", 12)


@pytest.mark.parametrize(
    "target",
    [["asked_model:ask", "--alphabet", "01"], ["asked_model:model"], ["asked_model:target"]],
    ids=["function", "model", "pdfa"],
)
def test_the_whole_road(folder: Path, target: list[str]) -> None:
    outcome = run_json(
        "learn", *target, *COMMON, "--oracle", "pac", "--delta", 0.01, "--seed", 1,
        "--max-seconds", 600, "--store", "answers.db", "--model-id", "my-model-v1",
        "-o", "out.json",
    )  # fmt: skip
    assert outcome["certificate"]["kind"] == "pac"
    assert outcome["certificate"]["epsilon"] == 0.02
    by = Quantization(100)
    assert distinguish(load("target.json"), load("out.json"), by=by) is None
    again = run_json(
        "learn", *target, *COMMON, "--oracle", "pac", "--seed", 1,
        "--store", "answers.db", "--model-id", "my-model-v1", "-o", "again.json",
    )  # fmt: skip
    assert again["statistics"]["words"] == 0
    assert again["statistics"]["stored_words"] == outcome["statistics"]["words"]
    assert load("again.json") == load("out.json")


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (["--oracle", "walks", "--walks-per-state", 5], "tested"),
        (["--oracle", "words"], "tested"),
        (["--sampler", "model"], "pac"),
        (["--sampler", "hypothesis", "--sampler", "uniform"], "pac"),
        (["--sampler", "corpus.txt"], "pac"),
        (["--max-states", 3], "stopped"),
        (["--max-words", 10], "stopped"),
    ],
)
def test_oracles_and_bounds(folder: Path, options: list[object], kind: str) -> None:
    (folder / "corpus.txt").write_text("0110\n\n1\n000111\n")
    common = ("--kappa", 10, "--max-length", 8)
    outcome = run_json("learn", "asked_model:ask", "--alphabet", "01", *common, *options)
    assert outcome["certificate"]["kind"] == kind


def test_the_file_of_a_pdfa_may_be_a_black_box(folder: Path) -> None:
    outcome = run_json("learn", "target.json", "--oracle", "pac", *COMMON)
    assert outcome["certificate"]["kind"] == "pac"


def test_models_that_a_file_makes(folder: Path) -> None:
    outcome = run_json("learn", "torch:asked_model.py:make_model", *COMMON)
    assert outcome["certificate"]["kind"] == "pac"


@pytest.mark.parametrize(
    ("constraint", "wrapped"),
    [
        (["--top-k", 2], lambda model: TopK(model, 2)),
        (["--top-p", 0.7, "--temperature", 0.5], lambda m: TopP(Temperature(m, 0.5), 0.7)),
        (["--guide", "(0|10*1)*"], lambda model: Guided(model, "(0|10*1)*")),
    ],
    ids=["top-k", "top-p", "guide"],
)
def test_constraints(
    folder: Path, constraint: list[object], wrapped: Callable[[PDFA], LanguageModel]
) -> None:
    if "--guide" in constraint:
        need_module("interegular")
    run("learn", "target.json", *COMMON, *constraint, "-o", "out.json")
    learnt, model = load("out.json"), wrapped(load("target.json"))
    words = learnt.sample(50, max_length=12, seed=1).words
    for word in words[:20]:
        handles = np.array([model.start()])
        for symbol in word:
            handles = model.extend(handles, learnt.alphabet.encode_words([[symbol]]))
        row = learnt.next_distribution(word)
        assert row is not None
        assert np.abs(model.distributions(handles)[0] - row).max() < 0.01


def test_constraints_do_not_share_answers(folder: Path) -> None:
    common = ("learn", "asked_model:ask", "--alphabet", "01", *COMMON)
    kept = ("--store", "answers.db", "--model-id", "m")
    first = run_json(*common, *kept, "--top-k", 2)
    other = run_json(*common, *kept, "--top-k", 1)
    again = run_json(*common, *kept, "--top-k", 2)
    assert first["statistics"]["words"] > 0 < other["statistics"]["words"]
    assert other["statistics"]["stored_words"] == again["statistics"]["words"] == 0


def test_what_a_module_prints_is_no_part_of_the_output(folder: Path) -> None:
    function = "def ask(words):\n    print(words)\n    return [[0.5, 0.5]] * len(words)\n"
    (folder / "loud.py").write_text(f"print('hello')\n\n{function}")
    assert run_json("learn", "loud:ask", "--alphabet", "a", "--max-length", 3)["states"] == 1


@pytest.mark.parametrize("option", ["-o", "--tree", "--sampler"])
def test_nothing_that_is_needed_is_overwritten(option: str, folder: Path) -> None:
    (folder / "words.json").write_text("01\n")
    target = ["asked_model:ask", "--alphabet", "01"]
    if option == "--sampler":
        error = error_of("learn", *target, "--sampler", "words.json", "-o", "words.json")
    else:
        kept = ["--store", "answers.json", "--model-id", "m"]
        error = error_of("learn", *target, *kept, option, "answers.json")
    assert "files of their own" in error


def test_answers_may_be_rounded(folder: Path) -> None:
    plain = run_json("learn", "target.json", "--kappa", 10)
    rounded = run_json("learn", "target.json", "--kappa", 10, "--decimals", 1)
    assert rounded["states"] <= plain["states"]


def test_a_bound_is_told(folder: Path) -> None:
    text = run("learn", "target.json", "--max-words", 5, "-o", "out.json").stdout
    assert "max_words = 5 was reached" in " ".join(text.replace("│", " ").split())
    assert len(load("out.json")) >= 1


@pytest.mark.parametrize(
    ("words", "culprit"),
    [
        (["asked_model:ask"], "--alphabet"),
        (["asked_model:nothing", "--alphabet", "01"], "has no 'nothing'"),
        (["no_such_module:ask", "--alphabet", "01"], "no module 'no_such_module'"),
        (["asked_model:number"], "neither a function"),
        (["asked_model:a_class"], "neither a function"),
        (["asked_model:half"], "has no alphabet, fingerprint, capacity"),
        (["asked_model:ask", "--alphabet", "01", "--epsilon", "5e-324"], "choose them larger"),
        (["asked_model:leaving", "--alphabet", "01"], "failed with SystemExit: 3"),
        (["torchx_model:ask", "--alphabet", "01"], "needs 'torchx'"),
        (["asked_model:model", "--alphabet", "01"], "has its own"),
        (["target.json", "--alphabet", "01"], "a file has its own"),
        (["asked_model:model", "--oracle", "exact"], "--oracle exact needs a PDFA"),
        (["asked_model:ask", "--alphabet", "01", "--store", "x.db"], "model_id"),
        (["asked_model:ask", "--alphabet", "01", "--epsilon", "1"], "epsilon 1"),
        (["asked_model:ask", "--alphabet", "01", "--delta", "0"], "delta 0"),
        (["asked_model:ask", "--alphabet", "01", "--sampler", "no.txt"], "no.txt"),
        (["asked_model:ask", "--alphabet", "01", "--sampler", "empty.txt"], "empty.txt"),
        (["asked_model:ask", "--alphabet", "01", "--sampler", "odd.txt"], "line 2.*'x'"),
        (["asked_model:broken", "--alphabet", "01"], "sums to 2"),
        (["asked_model:failing", "--alphabet", "01"], r"IndexError.*line 19 of .*asked_model"),
        (["torch:asked_model.py:make_nothing"], "RecurrentModel"),
        (["torch:json.py:make"], "failed with ZeroDivisionError.*line 4 of .*json.py"),
        (["torch:no_torch.py:make"], r"needs 'torch'.*pip install 'pdfalearn\[torch\]'"),
        (["torch:asked_model.py:failing"], "failed with TypeError"),
        (["torch:asked_model.py:number"], "not a function that makes a model"),
        (["torch:asked_model.py:nothing"], "has no 'nothing'"),
        (["torch:nothing.py:make_model"], "nothing.py: there is no such file"),
        (["torch:asked_model.py"], "not of the form"),
        (["torch:asked_model.py:make_model", "--alphabet", "01"], "has its own"),
        (["asked_model:model", "--guide", "(0"], "does not parse.*position"),
        (["asked_model:model", "--guide", "2"], "(?i)guide"),
        (["asked_model:model", "--top-p", "1.5"], "p 1.5"),
        (["asked_model:model", "--temperature", "0"], "temperature 0"),
        (["raising:ask", "--alphabet", "01"], "ZeroDivisionError"),
        (["needing:ask", "--alphabet", "01"], "needs 'no_such_package'"),
        (["asked_model:ask", "--alphabet", "01", "--store", "target.json"], "target.json"),
    ],
)
def test_bad_input(folder: Path, words: list[str], culprit: str) -> None:
    (folder / "empty.txt").write_text("")
    (folder / "odd.txt").write_text("01\n0x1\n")
    (folder / "raising.py").write_text("1 / 0\n")
    (folder / "needing.py").write_text("import no_such_package\n")
    (folder / "torchx_model.py").write_text("import torchx\n")
    (folder / "json.py").write_text(FAILING)
    (folder / "no_torch.py").write_text("raise ModuleNotFoundError(name='torch')\n")
    options = [] if "--store" not in words or "model_id" in culprit else ["--model-id", "m"]
    assert re.search(culprit, error_of("learn", *words, *options))


@pytest.mark.parametrize("name", ["weather", "parity"])
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = EXAMPLES / f"{name}.py"
    command = next(line for line in path.read_text().splitlines() if "pdfalearn learn" in line)
    monkeypatch.chdir(EXAMPLES)
    _, *words = shlex.split(command)
    kept = ("--store", tmp_path / "answers.db", "--model-id", name)
    outcome = run_json(*words, *kept)
    assert outcome["states"] == {"weather": 3, "parity": 2}[name]
    assert outcome["certificate"]["kind"] == "pac"
