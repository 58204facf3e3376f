"""Copies give the same answers, automata and statistics as one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import (
    Budget,
    LanguageModel,
    Quantization,
    Replicas,
    Result,
    Temperature,
    TopK,
    distill,
    learn,
)
from pdfalearn.models.automaton import as_model
from pdfalearn.models.opened import ask_words
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import UniformWords
from pdfalearn.testing import check_model
from pdfalearn.words import Words
from tests.models.parallel import makers
from tests.support import need_module

MAKERS: list[Callable[[], Any]] = [
    makers.holes,
    makers.function,
    makers.sparse,
    makers.keeping,
    makers.cramped,
    makers.top,
    makers.network,
]


def learnt(model: LanguageModel, max_words: int = 2000) -> Result:
    pac = PACOracle(epsilon=0.05, delta=0.05, sampler=UniformWords(max_length=10), seed=1)
    return learn(
        model, equivalence=Quantization(20), oracle=pac, budget=Budget(max_words=max_words)
    )


def assert_same(one: Result, other: Result) -> None:
    assert np.array_equal(one.pdfa.transitions, other.pdfa.transitions)
    assert np.allclose(one.pdfa.probabilities, other.pdfa.probabilities, rtol=0, atol=1e-12)
    assert one.pdfa.alphabet == other.pdfa.alphabet
    for name in ("words", "symbols", "distributions", "cost", "equivalence_queries"):
        assert getattr(one.statistics, name) == getattr(other.statistics, name), name
    assert list(one.statistics.batches) == list(other.statistics.batches)
    assert one.statistics.audited_words == other.statistics.audited_words
    assert one.certificate.details.get("outside") == other.certificate.details.get("outside")


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_one_two_or_three_copies_are_as_one(make: Callable[[], Any]) -> None:
    if make is makers.network:
        need_module("torch")
    one = as_model(make())
    expected = learnt(one)
    random = np.random.default_rng(1)
    words = Words.of([random.integers(0, 3, random.integers(0, 9)).tolist() for _ in range(60)])
    rows = ask_words(one, words)
    for count in (1, 2, 3) if make in (makers.holes, makers.cramped, makers.sparse) else (2,):
        with Replicas(make, count) as model:
            assert model.alphabet == one.alphabet
            assert model.fingerprint == one.fingerprint
            assert model.cost == one.cost
            assert_same(expected, learnt(model))
            again = ask_words(model, words)
            assert np.allclose(rows.to_dense(), again.to_dense(), rtol=0, atol=1e-12)
            for name in ("undefined", "outside", "rest", "ceiling"):
                before, after = getattr(rows, name), getattr(again, name)
                assert (before is None) == (after is None), name
                assert before is None or np.allclose(before, after, equal_nan=True), name
            if count == 2:
                check_model(model, words=200)


@pytest.mark.slow
def test_distilling_copies_is_as_distilling_one() -> None:
    with Replicas(makers.function, 2) as model:
        one, other = (
            distill(each, budget=Budget(max_words=300), seed=1)
            for each in (makers.function(), model)
        )
    assert [len(point.pdfa) for point in one] == [len(point.pdfa) for point in other]
    for left, right in zip(one, other, strict=True):
        assert np.array_equal(left.pdfa.probabilities, right.pdfa.probabilities)


@pytest.mark.slow
def test_a_function_may_be_named() -> None:
    with Replicas("tests.models.parallel.makers:automaton", 1) as model:
        assert_same(learnt(as_model(makers.automaton())), learnt(model))


@pytest.mark.slow
def test_wrapped_copies_are_as_one_wrapped_model() -> None:
    with Replicas(makers.function, 2) as model:
        expected, found = (
            learnt(Temperature(TopK(inner, 3), 0.8)) for inner in (makers.function(), model)
        )
        assert_same(expected, found)
        assert len(Temperature(model, 0.8).answers_by_copy([0, 1])) == 2


@pytest.mark.slow
def test_a_plain_script_can_use_copies(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from pdfalearn import FunctionModel\n"
        "def make():\n"
        "    return FunctionModel(lambda words: [[0.5, 0.5]] * len(words), 'a')\n"
    )
    script = tmp_path / "script.py"
    script.write_text(
        "import mine\n"
        "from pdfalearn import Replicas, learn\n"
        "print('begun')\n"
        "with Replicas(mine.make, 2) as model:\n"
        "    print(len(learn(model).pdfa))\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "begun\n1\n", done.stderr
