"""``pdfalearn learn`` on models that can only be asked."""

from __future__ import annotations

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
)
from pdfalearn.models.opened import ask_words
from tests.cli.program import error_of, run, run_json
from tests.support import need_module

EXAMPLES = Path(__file__).parents[2] / "examples"

COMMON = ("--kappa", 100, "--epsilon", 0.02, "--max-length", 12)


@pytest.mark.parametrize(
    "target",
    [["asked_model:ask", "--alphabet", "01"], ["asked_model:model"], ["asked_model:target"]],
    ids=["function", "model", "pdfa"],
)
def test_the_whole_road(black_boxes: Path, target: list[str]) -> None:
    outcome = run_json(
        "learn", *target, *COMMON, "--oracle", "pac", "--delta", 0.01, "--seed", 1,
        "--max-seconds", 600, "--store", "answers.db", "--model-id", "my-model-v1",
        "-o", "out.json",
    )  # fmt: skip
    assert outcome["certificate"]["kind"] == "pac"
    assert outcome["certificate"]["epsilon"] == 0.02
    equivalence = Quantization(100)
    assert distinguish(load("target.json"), load("out.json"), equivalence=equivalence) is None
    again = run_json(
        "learn", *target, *COMMON, "--oracle", "pac", "--seed", 1, "--max-seconds", 900,
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
        (["--oracle", "w", "--extra-states", 0], "tested"),
        (["--oracle", "wp"], "tested"),
        (["--oracle", "random-wp", "--walks-per-state", 2], "tested"),
        (["--oracle", "mixed", "--walks-per-state", 2], "pac"),
        (["--sampler", "model"], "pac"),
        (["--sampler", "hypothesis", "--sampler", "uniform"], "pac"),
        (["--sampler", "corpus.txt"], "pac"),
        (["--max-states", 3], "stopped"),
        (["--max-words", 10], "stopped"),
    ],
)
def test_oracles_and_bounds(black_boxes: Path, options: list[object], kind: str) -> None:
    (black_boxes / "corpus.txt").write_text("0110\n\n1\n000111\n")
    common = ("--kappa", 10, "--max-length", 8)
    outcome = run_json("learn", "asked_model:ask", "--alphabet", "01", *common, *options)
    assert outcome["certificate"]["kind"] == kind


def test_the_file_of_a_pdfa_may_be_a_black_box(black_boxes: Path) -> None:
    outcome = run_json("learn", "target.json", "--oracle", "pac", *COMMON)
    assert outcome["certificate"]["kind"] == "pac"


def test_models_that_a_file_makes(black_boxes: Path) -> None:
    outcome = run_json("learn", "torch:asked_model.py:make_model", *COMMON)
    assert outcome["certificate"]["kind"] == "exact"  # what the file makes is an automaton


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
    black_boxes: Path, constraint: list[object], wrapped: Callable[[PDFA], LanguageModel]
) -> None:
    if "--guide" in constraint:
        need_module("interegular")
    run("learn", "target.json", *COMMON, *constraint, "-o", "out.json")
    learnt, model = load("out.json"), wrapped(load("target.json"))
    words = learnt.sample(50, max_length=12, seed=1).words[:20]
    rows = ask_words(model, learnt.alphabet.encode_words(words))
    assert rows.undefined is None or not rows.undefined.any()
    assert np.abs(rows.to_dense() - learnt.next_distributions(words)).max() < 0.01


def test_constraints_do_not_share_answers(black_boxes: Path) -> None:
    common = ("learn", "asked_model:ask", "--alphabet", "01", *COMMON)
    kept = ("--store", "answers.db", "--model-id", "m")
    first = run_json(*common, *kept, "--top-k", 2)
    other = run_json(*common, *kept, "--top-k", 1)
    again = run_json(*common, *kept, "--top-k", 2)
    assert first["statistics"]["words"] > 0 < other["statistics"]["words"]
    assert other["statistics"]["stored_words"] == again["statistics"]["words"] == 0


def test_what_a_module_prints_is_no_part_of_the_output(black_boxes: Path) -> None:
    function = "def ask(words):\n    print(words)\n    return [[0.5, 0.5]] * len(words)\n"
    (black_boxes / "loud.py").write_text(f"print('hello')\n\n{function}")
    assert run_json("learn", "loud:ask", "--alphabet", "a", "--max-length", 3)["states"] == 1


@pytest.mark.parametrize("option", ["-o", "--tree", "--sampler"])
def test_nothing_that_is_needed_is_overwritten(option: str, black_boxes: Path) -> None:
    (black_boxes / "words.json").write_text("01\n")
    target = ["asked_model:ask", "--alphabet", "01"]
    if option == "--sampler":
        error = error_of("learn", *target, "--sampler", "words.json", "-o", "words.json")
    else:
        file = "answers.svg" if option == "--tree" else "answers.json"
        kept = ["--store", file, "--model-id", "m"]
        error = error_of("learn", *target, *kept, option, file)
    assert "has to be a file of its own" in error


def test_answers_may_be_rounded(black_boxes: Path) -> None:
    plain = run_json("learn", "target.json", "--kappa", 10)
    rounded = run_json("learn", "target.json", "--kappa", 10, "--decimals", 1)
    assert rounded["states"] <= plain["states"]


def test_a_bound_is_told(black_boxes: Path) -> None:
    text = run("learn", "target.json", "--max-words", 5, "-o", "out.json").stdout
    assert "max_words = 5 was reached" in " ".join(text.replace("│", " ").split())
    assert len(load("out.json")) >= 1


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


@pytest.mark.usefixtures("black_boxes")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sun,rain", "not by commas: write 'sun rain'"),
        ("a,b", "if the comma itself is a symbol, 'a , b'"),
        ("sunrain", "'n' is there twice; symbols are characters side by side, as in ab, or"),
        ("", "alphabet"),
    ],
)
def test_alphabets_that_are_not_what_was_meant(given: str, message: str) -> None:
    assert message in error_of("learn", "asked_model:ask", "--alphabet", given)


def test_a_reference_makes_learning_cheaper(black_boxes: Path) -> None:
    run("random", 60, "--seed", 1, "-o", "old.json")
    options = ("--reference", "old.json", "-o", "new.json")
    again = run_json("learn", "old.json", *options)
    assert 5 * again["statistics"]["words"] < run_json("learn", "old.json")["statistics"]["words"]
    assert again["certificate"]["reference"]["changes"]["transitions"] == 0
    assert again["notes"][0].startswith("since the reference: 0 changed rows")
    assert "missing.json" in error_of("learn", "old.json", "--reference", "missing.json")
