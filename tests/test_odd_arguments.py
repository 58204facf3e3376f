"""Every public function with every odd argument: an answer, or our own error in one line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from traceback import extract_tb
from typing import Any

import numpy as np
import pytest

import pdfalearn as pl
from pdfalearn import analysis, datasets, languages, metrics, models, oracles, samplers
from pdfalearn.errors import InputError, MissingExtraError

PDFA_3: Any = datasets.figure_3()


class Odd:
    """Nothing that anybody could use."""

    def __repr__(self) -> str:
        return "odd"


def odd_values() -> Iterator[object]:
    """Make all odd arguments anew, as some can be used up."""
    yield from (None, True, 0, -1, 5, 2.5, -0.5, float("nan"), float("inf"), 1j, 10**400, "", "a")
    yield from (
        "\ud800",
        "\x00",
        b"ab",
        "0" * 5000,
        [],
        {},
        set(),
        (),
        [[]],
        [None],
        [5],
        ["\ud800"],
    )
    yield from ({"a": 1}, {1: 2}, [[1, 2], [3]], [0.5, 0.5], range(3), Ellipsis, NotImplemented)
    yield from (int, object(), Odd(), Odd, len, lambda: None, (c for c in "01"), iter([]))
    yield from (np.array(3), np.array(0.5), np.array("x"), np.array(None), np.zeros((2, 0)))
    yield from (
        np.zeros((2, 2)),
        np.array(["x"]),
        np.float32(0.5),
        np.datetime64("2020"),
        np.ma.masked,
    )
    yield from (PDFA_3, pl.Quantization(5), pl.Alphabet("01"), pl.Budget(), datasets)


CALLS: dict[str, Callable[[Any], object]] = {
    "Alphabet": pl.Alphabet,
    "Alphabet terminal": lambda x: pl.Alphabet("ab", x),
    "PDFA alphabet": lambda x: pl.PDFA(alphabet=x, transitions=[[0]], probabilities=[[0.5, 0.5]]),
    "PDFA transitions": lambda x: pl.PDFA(alphabet="a", transitions=x, probabilities=[[0.5, 0.5]]),
    "PDFA probabilities": lambda x: pl.PDFA(alphabet="a", transitions=[[0]], probabilities=x),
    "PDFA initial": lambda x: pl.PDFA(
        alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]], initial=x
    ),
    "PDFA.probability": PDFA_3.probability,
    "PDFA.word_probabilities": PDFA_3.word_probabilities,
    "PDFA.sample count": lambda x: PDFA_3.sample(min(x, 9) if isinstance(x, int) else x, 0),
    "PDFA.sample seed": lambda x: PDFA_3.sample(2, x),
    "Quantization": pl.Quantization,
    "Tolerance": pl.Tolerance,
    "quotient": lambda x: pl.quotient(x, equivalence=pl.Quantization(5)),
    "quotient equivalence": lambda x: pl.quotient(PDFA_3, equivalence=x),
    "distinguish": lambda x: pl.distinguish(x, PDFA_3, equivalence=pl.Quantization(5)),
    "distinguish equivalence": lambda x: pl.distinguish(PDFA_3, PDFA_3, equivalence=x),
    "distinguish states": lambda x: pl.distinguish(
        PDFA_3, PDFA_3, equivalence=pl.Quantization(5), states=x
    ),
    "divergence": lambda x: pl.divergence(PDFA_3, x),
    "compare": lambda x: pl.compare(x, PDFA_3),
    "compare count": lambda x: pl.compare(PDFA_3, PDFA_3, count=x),
    "probability": lambda x: pl.probability(x, "0*"),
    "probability language": lambda x: pl.probability(PDFA_3, x),
    "probability given": lambda x: pl.probability(PDFA_3, "0*", given=x),
    "condition": lambda x: analysis.condition(PDFA_3, x),
    "most_likely": lambda x: list(pl.most_likely(PDFA_3, 3, language=x)),
    "most_likely count": lambda x: next(pl.most_likely(PDFA_3, x), None),
    "length": analysis.length,
    "quantile": lambda x: analysis.length(PDFA_3).quantile(x),
    "distribution": lambda x: analysis.length(PDFA_3).distribution(x),
    "entropy": analysis.entropy,
    "expected_visits": analysis.expected_visits,
    "expected_count": lambda x: analysis.expected_count(PDFA_3, x),
    "distances": lambda x: analysis.distances(PDFA_3, x),
    "distances most_pairs": lambda x: analysis.distances(PDFA_3, PDFA_3, most_pairs=x),
    "differences": lambda x: analysis.differences(x, PDFA_3),
    "differences count": lambda x: analysis.differences(PDFA_3, datasets.figure_1(), count=x),
    "score": lambda x: pl.score(PDFA_3, x),
    "evaluate": lambda x: pl.evaluate(PDFA_3, PDFA_3, x),
    "evaluate equivalence": lambda x: pl.evaluate(PDFA_3, PDFA_3, ["0"], equivalence=x),
    "evaluate k": lambda x: pl.evaluate(PDFA_3, PDFA_3, ["0"], k=x),
    "evaluate_exactly": lambda x: metrics.evaluate_exactly(PDFA_3, x),
    "Corpus": pl.Corpus,
    "learn": lambda x: pl.learn(x, budget=pl.Budget(max_words=9)),
    "learn equivalence": lambda x: pl.learn(PDFA_3, equivalence=x),
    "learn oracle": lambda x: pl.learn(PDFA_3, oracle=x),
    "learn learner": lambda x: pl.learn(PDFA_3, learner=x),
    "learn budget": lambda x: pl.learn(PDFA_3, budget=x),
    "learn progress": lambda x: pl.learn(PDFA_3, progress=x),
    "learn audit": lambda x: pl.learn(PDFA_3, audit=x),
    "learn seed": lambda x: pl.learn(PDFA_3, seed=x),
    "Budget max_words": lambda x: pl.Budget(max_words=x),
    "Budget max_seconds": lambda x: pl.Budget(max_seconds=x),
    "sweep kappas": lambda x: pl.sweep(PDFA_3, kappas=x),
    "FunctionModel": lambda x: pl.learn(
        pl.FunctionModel(lambda word: x, "ab"), budget=pl.Budget(max_words=9)
    ),
    "FunctionModel alphabet": lambda x: pl.FunctionModel(lambda word: [1, 0], x),
    "FunctionModel function": lambda x: pl.FunctionModel(x, "ab"),
    "ProgramModel": lambda x: pl.ProgramModel(["false"], x),
    "ProgramModel timeout": lambda x: pl.ProgramModel(["false"], "ab", timeout=x),
    "Replicas": lambda x: pl.Replicas(x, 1),
    "Replicas count": lambda x: pl.Replicas("nowhere:nothing", None if isinstance(x, int) else x),
    "Replicas scheduler": lambda x: pl.Replicas("nowhere:nothing", scheduler=x),
    "Replicas timeout": lambda x: pl.Replicas("nowhere:nothing", 1, timeout=x),
    "Temperature": lambda x: models.Temperature(PDFA_3, x),
    "Temperature model": lambda x: models.Temperature(x, 0.5),
    "TopK": lambda x: models.TopK(PDFA_3, x),
    "TopP": lambda x: models.TopP(PDFA_3, x),
    "Guided": lambda x: models.Guided(PDFA_3, x),
    "QueryCost": lambda x: models.QueryCost(word=x),
    "PACOracle epsilon": lambda x: oracles.PACOracle(
        epsilon=x, delta=0.1, sampler=samplers.UniformWords(3)
    ),
    "PACOracle sampler": lambda x: oracles.PACOracle(epsilon=0.1, delta=0.1, sampler=x),
    "ExactOracle": lambda x: oracles.ExactOracle(x, equivalence=pl.Quantization(5)),
    "AllWordsOracle": oracles.AllWordsOracle,
    "UniformWords": samplers.UniformWords,
    "regex": lambda x: languages.language_dfa(x, pl.Alphabet("01")),
    "HasLength": lambda x: pl.probability(PDFA_3, languages.HasLength(x)),
    "BeginsWith": lambda x: pl.probability(PDFA_3, languages.BeginsWith(x)),
    "Contains": lambda x: pl.probability(PDFA_3, languages.Contains(x)),
    "Not": lambda x: pl.probability(PDFA_3, languages.Not(x)),
    "random_pdfa": lambda x: datasets.random_pdfa(
        -1 if isinstance(x, int) and x > 99 else x, seed=1
    ),
    "figure_1": datasets.figure_1,
    "load": pl.load,
    "view": lambda x: pl.view(x),
    "draw": lambda x: pl.draw(x),
}


# These call what they are given.
CALLED = {"learn", "learn learner", "learn progress", "FunctionModel function"}


@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments_are_answered_or_refused(name: str) -> None:
    wrong = []
    for value in odd_values():
        try:
            shown = repr(value)[:60]
        except ValueError:
            shown = "a huge integer"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                CALLS[name](value)
        except (InputError, MissingExtraError, OSError):  # a text may name a file
            pass
        except Exception as error:
            frames = extract_tb(error.__traceback__)
            own = [
                f"{frame.filename}:{frame.lineno}" for frame in frames if "src" in frame.filename
            ]
            if not (callable(value) and name in CALLED):  # what fails there is the user's own
                wrong.append(f"{shown}: {error!r} {own[-1:]}"[:250])
    assert not wrong, "\n".join(wrong)
