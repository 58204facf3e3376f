"""The showcases of LLMs run on a tiny one, and hold what is learnt against all words."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import showcases
from examples import llm_bits, llm_numbers
from examples.llms import LLM, enumerated, learnt, outside, variation, words_of
from pdfalearn import Quantization, distinguish
from pdfalearn.models.opened import ask_words
from pdfalearn.oracles import AllWordsOracle
from pdfalearn.samplers import Words
from tests.cli.llms import tiny_llm
from tests.support import need_module, need_program

GUIDE = "[12]{1,2}3?"


@pytest.fixture(scope="module")
def llm() -> LLM:
    need_module("interegular")
    return LLM(*tiny_llm())


def test_every_word_is_enumerated_with_its_probability(llm: LLM) -> None:
    model = llm.guided("123", GUIDE, "a coin", ends="rest")
    tree, cost = enumerated(model)
    words = words_of(tree)
    assert {"".join(word) for word in words} == {
        first + second + last for first in "12" for second in ("", "1", "2") for last in ("", "3")
    }
    probabilities = tree.word_probabilities(words)
    assert np.isclose(probabilities.sum(), 1)
    for word, probability in zip(words, probabilities, strict=True):
        codes = [model.alphabet.index(symbol) for symbol in word]
        rows = ask_words(model, Words.of([codes[:end] for end in range(len(codes) + 1)]))
        steps = rows.to_dense()[range(len(codes) + 1), [1 + code for code in codes] + [0]]
        assert np.isclose(probability, steps.prod(), rtol=1e-4)
    assert cost.words == 7, "the empty word, and what begins with 1 or 2 and may go on"
    assert cost.tokens >= cost.words


def test_what_is_learnt_is_the_quotient_of_all_words(llm: LLM) -> None:
    model = llm.guided("123", GUIDE, "a coin", ends="rest")
    tree, _ = enumerated(model)
    result, cost = learnt(model, 100, AllWordsOracle(3))
    assert distinguish(result.pdfa, tree, equivalence=Quantization(100)) is None
    assert variation(tree, result.pdfa) < 1e-2
    assert variation(tree, tree) == pytest.approx(0, abs=1e-12)
    assert cost.words == outside(result)["distributions"] == 7


@pytest.mark.slow
def test_the_showcase_of_numbers(
    llm: LLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need_program("dot")
    monkeypatch.setattr(showcases, "smollm_in_memory", lambda: llm)
    monkeypatch.setattr(showcases, "SHOWCASES", {"numbers": (llm_numbers.show, 10.0)})
    monkeypatch.setattr(sys, "argv", ["showcases", str(tmp_path)])
    showcases.main()
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {"llm-numbers-prompt.svg", "llm-numbers-chat.svg"}
    printed = capsys.readouterr().out
    assert re.findall("^### (prompt|chat)", printed, re.MULTILINE) == ["prompt", "chat"]
    assert re.search(r"^\| enumeration \| 100 \| \d+ \| \S+ \| 1000 \| 0 \|", printed, re.MULTILINE)
    assert printed.count("| learnt, κ = 4 | ") == 2
    assert printed.count("from 1 to 100: 0.") == 2
    assert re.search(r"^\| numbers \| \S+ \| \S+ \| 10 \|$", printed, re.MULTILINE)


def test_words_that_are_cut_are_compared_by_their_beginnings(llm: LLM) -> None:
    model = llm.guided("01", f"[01]{{0,{llm_bits.ALL_TO}}}", "a coin", ends=[2])
    tree, _ = enumerated(model)
    assert llm_bits.cut_variation(tree, tree) == pytest.approx(0, abs=1e-9)
