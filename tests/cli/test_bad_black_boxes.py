"""``pdfalearn learn`` on models and options that will not do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.black_boxes import FAILING
from tests.cli.program import error_of
from tests.support import need_module


@pytest.mark.parametrize(
    ("words", "culprit"),
    [
        (["asked_model:ask"], "--alphabet"),
        (["asked_model:nothing", "--alphabet", "01"], "has no 'nothing'"),
        (["no_such_module:ask", "--alphabet", "01"], "no module 'no_such_module'"),
        (["asked_model:number"], "number is 7, neither a .* nor a function: 'pdfalearn models'"),
        (["asked_model:a_class"], "neither a .* nor a function: name an object of the class"),
        (["asked_model:old"], "has to be a subclass of LanguageModel"),
        (["asked_model:half"], "Half has no alphabet: set it to an Alphabet"),
        (["asked_model:ask", "--alphabet", "01", "--epsilon", "5e-324"], "choose them larger"),
        (["asked_model:leaving", "--alphabet", "01"], "failed with SystemExit: 3"),
        (["torchx_model:ask", "--alphabet", "01"], "needs 'torchx'"),
        (["asked_model:model", "--alphabet", "01"], "has its own"),
        (["target.json", "--alphabet", "01"], "target.json has its own"),
        (
            ["asked_model:ask", "--alphabet", "01", "--oracle", "exact"],
            "--oracle exact needs a PDFA",
        ),
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
        (["torch:no_torch.py:make"], r"needs 'torch'.*pip install torch"),
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
def test_bad_input(black_boxes: Path, words: list[str], culprit: str) -> None:
    if "--guide" in words:
        need_module("interegular")
    (black_boxes / "empty.txt").write_text("")
    (black_boxes / "odd.txt").write_text("01\n0x1\n")
    (black_boxes / "raising.py").write_text("1 / 0\n")
    (black_boxes / "needing.py").write_text("import no_such_package\n")
    (black_boxes / "torchx_model.py").write_text("import torchx\n")
    (black_boxes / "json.py").write_text(FAILING)
    (black_boxes / "no_torch.py").write_text("raise ModuleNotFoundError(name='torch')\n")
    options = [] if "--store" not in words or "model_id" in culprit else ["--model-id", "m"]
    assert re.search(culprit, error_of("learn", *words, *options))
