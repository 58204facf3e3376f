"""`learn` and `distill` of a function that only draws, named as an object of a Python file."""

from __future__ import annotations

from pathlib import Path

import pytest

import pdfalearn
from tests.cli.program import error_of, one_error, run, run_json

SHOP = """
import os
import random
import signal

from pdfalearn.results import Sample
from pdfalearn.sampled import Samples

source = random.Random(1)
calls = 0


def go_on(prefix):  # after an a comes a b, and the other way round; half of all words end
    word = []
    while source.random() < 0.5:
        word.append("b" if [*prefix, *word][-1:] == ["a"] else "a")
    return word


def draw(prefix, count):
    return [go_on(prefix) for _ in range(count)]


def interrupted(prefix, count):
    global calls
    calls += 1
    if calls == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return draw(prefix, count)


def broken(prefix, count):
    raise ValueError("no connection")


samples = Samples(draw, "ab")
slow = Samples(interrupted, "ab", most=50)
failing = Samples(broken, "ab")
other = Samples(draw, "ab")
named = Samples(draw, "ab", fingerprint="v2")
short = Samples(lambda prefix, count: ["a"], "ab")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(SHOP)
    return tmp_path


def test_samples_are_learnt_and_go_on_from_the_store() -> None:
    command = ("learn", "shop.py:samples", "--max-words", 3000, "--store", "drawn.jsonl")
    found = run_json(*command, "--gap", 0.2, "--alpha", 0.01, "-o", "learnt.json")
    certificate = found["certificate"]
    assert found["states"] == len(pdfalearn.load("learnt.json")) == 2
    assert (certificate["kind"], certificate["gap"], certificate["alpha"]) == ("tested", 0.2, 0.01)
    again = run_json(*command, "--gap", 0.2, "--alpha", 0.01)
    assert again["statistics"]["words"] == 0
    assert again["statistics"]["stored_words"] == found["statistics"]["words"] > 0
    assert "learnt within 0.2" in run(*command, "--gap", 0.2).stdout


def test_a_store_is_of_one_name() -> None:
    for command, count in (("learn", "--max-words"), ("distill", "--words")):
        options = (count, 100, "--store", f"{command}.jsonl")
        run(command, "shop.py:samples", *options)
        other = error_of(command, "shop.py:other", *options)
        assert "not a store of samples of 'shop.py:other' over the alphabet ('a', 'b')" in other
        run(command, "shop.py:other", *options, "--model-id", "shop.py:samples")
        assert "samples of 'v2'" in error_of(command, "shop.py:named", *options)
        assert "of 'v3'" in error_of(command, "shop.py:named", *options, "--model-id", "v3")


def test_samples_are_distilled() -> None:
    options = ("--words", 400, "--states", "1,2", "--store", "drawn.jsonl", "--held-out", 0.2)
    found = run_json("distill", "shop.py:samples", *options, "-o", "best.zip")
    assert found["best"] == 2
    assert found["certificate"]["held_out_words"] == 80
    assert pdfalearn.load("best.zip").is_of_words


def test_after_ctrl_c_draws_and_what_was_learnt_are_kept(folder: Path) -> None:
    command = ("learn", "shop.py:slow", "--max-words", 800, "--store", "drawn.jsonl")
    error = run(*command, "-o", "learnt.json", exit_code=130).stderr
    assert error.startswith("interrupted: learnt.json holds the hypothesis so far, of 2 states")
    assert "drawn.jsonl holds all answers: start again to go on" in error
    # The call that was interrupted had not returned.
    assert len((folder / "drawn.jsonl").read_text().splitlines()) == 1 + 2
    assert len(pdfalearn.load("learnt.json")) == 2
    assert run_json(*command)["statistics"]["stored_words"] == 100


def test_bad_input() -> None:
    learn = ("learn", "shop.py:samples")
    for option in (("--kappa", 10), ("--alphabet", "ab"), ("--max-symbols", 9), ("--oracle", "w")):
        assert f"{option[0]} is for models that tell" in error_of(*learn, *option)
    assert "need --max-words" in error_of(*learn)
    assert "--learner is for models that tell" in error_of(*learn, "--learner", "quant-paper")
    for name, end in (("--alpha", 0), ("--gap", 1)):
        assert "not in the range 0<x<1" in error_of(*learn, "--max-words", 100, name, end)
    pdfalearn.save(pdfalearn.datasets.figure_3(), "target.json")
    assert "--gap is for Samples" in error_of("learn", "target.json", "--gap", 0.1)
    assert "need --words" in error_of("distill", "shop.py:samples")
    assert "--symbols is not for Samples" in error_of("distill", "shop.py:samples", "--symbols", 9)
    failed = error_of("learn", "shop.py:failing", "--max-words", 100)
    assert failed.startswith("shop.py:failing failed with ValueError: no connection, line ")
    assert "returned 1 continuations" in error_of("learn", "shop.py:short", "--max-words", 100)
    message = error_of("evaluate", "shop.py:samples", "target.json")
    assert message.endswith("'pdfalearn learn' and 'pdfalearn distill' take it")
    (Path("other.jsonl")).write_text("a text")
    stored = run(*learn, "--max-words", 100, "--store", "other.jsonl", exit_code=2)
    assert "not a store of samples" in one_error(stored.stderr)
