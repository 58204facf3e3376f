"""The benchmarks of corpora: n-grams and gaps against plain loops, tables at tiny settings."""

from __future__ import annotations

import doctest
import gzip
from collections import Counter, defaultdict
from importlib import import_module
from itertools import product
from math import inf, log2
from pathlib import Path

import numpy as np
import pytest

from benchmarks.corpora import coverage, growth, named_corpora, pautomac, sizes, structure
from benchmarks.corpora.kept_results import KeptResults
from benchmarks.corpora.ngrams import predict_by_ngrams
from benchmarks.corpora.rivals import (
    RIVALS,
    learn_smoothly,
    limit_processor,
    mean_loss,
    split_words,
    try_settings,
)
from pdfalearn import PDFA, distill
from pdfalearn.datasets import reber
from pdfalearn.words import Words
from tests.support import need_module


@pytest.mark.parametrize("name", ["kept_results", "ngrams"])
def test_examples_run(name: str) -> None:
    assert doctest.testmod(import_module(f"benchmarks.corpora.{name}")).failed == 0


class PlainNgrams:
    """Witten-Bell n-grams by dictionaries."""

    def __init__(self, words: list[list[int]], width: int, order: int) -> None:
        self._order, self._width = order, width
        self._counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for word in words:
            padded = [-1] * (order - 1) + word + [width]
            for place in range(order - 1, len(padded)):
                for length in range(order):
                    self._counts[tuple(padded[place - length : place])][padded[place]] += 1

    def share(self, context: tuple[int, ...], column: int) -> float:
        shorter = self.share(context[1:], column) if context else 1 / (self._width + 1)
        counts = self._counts[context]
        if not counts:
            return shorter
        return (counts[column] + len(counts) * shorter) / (counts.total() + len(counts))

    def probability(self, word: list[int]) -> float:
        padded = [-1] * (self._order - 1) + word + [self._width]
        first = self._order - 1
        places = range(first, len(padded))
        contexts = [tuple(padded[place - first : place]) for place in places]
        shares = [self.share(c, padded[p]) for c, p in zip(contexts, places, strict=True)]
        return float(np.prod(shares))


@pytest.mark.parametrize("seed", range(5))
def test_ngrams_are_those_of_plain_loops(seed: int) -> None:
    random = np.random.default_rng(seed)
    width = int(random.integers(1, 5))
    words = [random.integers(0, width, random.integers(0, 9)).tolist() for _ in range(40)]
    found = predict_by_ngrams(Words.of(words[:25]), Words.of(words[25:]), width, range(1, 6))
    for order, logarithms in found.items():
        plain = PlainNgrams(words[:25], width, order)
        expected = [plain.probability(word) for word in words[25:]]
        assert np.allclose(np.exp(logarithms), expected)


def test_ngrams_sum_to_one_over_all_words() -> None:
    words = Words.of([(0, 1), (1, 1, 1), (0,), ()])
    every = [word for length in range(13) for word in product((0, 1), repeat=length)]
    found = predict_by_ngrams(words, Words.of(every), 2, range(2, 4))
    assert all(0.95 < np.exp(values).sum() <= 1 for values in found.values())


def write_problem(folder: Path, count: int) -> None:
    """Write words of Reber's grammar as a problem."""
    target = reber()
    codes = target.alphabet.encode_words
    train = target.sample(count, seed=1).words
    test = list(dict.fromkeys(target.sample(60, seed=2).words))
    for kind, words in (("train", train), ("test", test)):
        lines = [f"{len(word)} {' '.join(map(str, word))}" for word in codes(words)]
        text = "\n".join([f"{len(words)} {len(target.alphabet)}", *lines, ""])
        (folder / f"7.{kind}.gz").write_bytes(gzip.compress(text.encode()))
    values = [f"{target.probability(word)!r}" for word in test]
    solution = "\n".join([str(len(test)), *values, ""])
    (folder / "7.solution.gz").write_bytes(gzip.compress(solution.encode()))


def test_gap_is_that_of_the_competition(tmp_path: Path) -> None:
    write_problem(tmp_path, 50)
    problem = pautomac.read_problem(7, tmp_path)
    p = problem.solution / problem.solution.sum()
    raw = np.linspace(1, 2, len(p)) * problem.solution
    q = raw / raw.sum()

    def score(model: np.ndarray) -> float:
        return float(2 ** -sum(a * log2(b) for a, b in zip(p, model, strict=True)))

    assert problem.find_gap(np.log(raw)) == pytest.approx(score(q) - score(p))
    assert problem.find_gap(np.log(problem.solution)) == pytest.approx(0, abs=1e-12)


def test_geometric_mean_has_a_floor() -> None:
    assert pautomac.geometric_mean([1e-9, 0.1]) == pytest.approx(0.01)


@pytest.mark.slow
def test_learners_run_on_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need_module("aalpy")
    write_problem(tmp_path, 100)
    results = tmp_path / "results.jsonl"
    kept = KeptResults(results)
    for name in (*pautomac.LEARNERS, *RIVALS):
        kept.compute(f"7 {name}", pautomac.run_learner, name, 7, tmp_path)
    written = results.read_text()
    options = ["--problems", "7", "--data", str(tmp_path), "--results", str(results)]
    pautomac.main(options)
    shown = capsys.readouterr().out
    assert results.read_text() == written  # nothing was run again
    assert "| MDI |" in shown
    assert "| 6-gram |" in shown
    assert "Worse than the best n-gram: none" in shown
    assert pautomac.run_learner("ours", 7, tmp_path)["gap"] < 0.2


def test_rivals_choose_on_words_held_out() -> None:
    words = reber().alphabet.encode_words(reber().sample(400, seed=1).words)
    width = len(reber().alphabet)
    rest, held_out = split_words(words, 0.25, seed=1)
    assert sorted(map(tuple, [*rest, *held_out])) == sorted(map(tuple, words))
    assert len(held_out) == 100
    rival = RIVALS["ALERGIA"]
    found = list(try_settings(rival, words, width, seconds=60))
    assert [each.parameter for each in found] == list(rival.grid)
    best = min(found, key=lambda each: each.loss)
    pdfa = learn_smoothly(rival, words, width, best)
    assert (pdfa.probabilities > 0).all()
    assert 0 < mean_loss(pdfa, words) < inf


def test_a_parameter_that_takes_too_long_is_the_last() -> None:
    def learn(words: object, width: int, parameter: float) -> PDFA:
        while parameter > 1:
            pass
        return PDFA(alphabet=range(width), transitions=[[0]], probabilities=[[0.5, 0.5]])

    rival = RIVALS["MDI"]._replace(learn=learn, grid=(1, 2, 1))
    assert len(list(try_settings(rival, Words.of([(0,)] * 20), 1, seconds=0.02))) == 1
    with limit_processor(0.02):
        pass
    with pytest.raises(TimeoutError), limit_processor(0.02):
        learn([], 1, 2)


@pytest.mark.slow
def test_sizes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(named_corpora.CORPORA, "tiny", lambda: reber().sample(200, seed=1).words)
    ours = sizes.measure_points("tiny", "ours")
    theirs = sizes.measure_points("tiny", "MDI")
    assert sum(point["best"] for point in ours) == 1
    pairs = sizes.compare_points(ours, theirs)
    assert [pair[0]["states"] for pair in pairs] == sorted({one["states"] for one in theirs})
    assert all(beside is None or beside["states"] <= point["states"] for point, beside in pairs)


@pytest.mark.slow
def test_growth_writes_as_many_symbols(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    growth.write_words(growth.make_target(), 500, path)
    assert 500 <= len(path.read_text().split()) < 3_000
    found = growth.distill_file(path)
    assert found["states"] >= 1
    assert 0 < found["divergence"] < 3


def test_truth_is_that_of_many_words() -> None:
    target = reber()
    frontier = distill(target.sample(100, seed=1).words, sizes=(2,))
    measured = coverage.measure_point(target, frontier.point(2))
    many = target.alphabet.encode_words(target.sample(20_000, seed=2).words)
    coded = PDFA(
        alphabet=range(len(target.alphabet)),
        transitions=frontier.point(2).pdfa.transitions,
        probabilities=frontier.point(2).pdfa.probabilities,
    )
    assert measured["true"] == pytest.approx(mean_loss(coded, many), rel=0.01)


def test_coverage_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    point = {"states": 2, "true": 1.0, "value": 1.1, "low": 0.9, "high": 1.3}
    runs = [dict.fromkeys(("best", "2", "8"), point | {"true": true}) for true in (0.5, 1, 1, 2)]
    coverage.print_coverage("some", runs)
    first, *others = capsys.readouterr().out.splitlines()
    assert first == "| some | best | 4 | 0.5 | 0.25 | 0.25 | 0.025 | 0.2 | 2 |"
    assert len(others) == len(coverage.FIXED)


@pytest.mark.slow
def test_structure_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--seeds", "1", "--words", "300", "--targets", "reber", "--learners", "ours", "MDI"]
    structure.main(options)
    shown = capsys.readouterr().out
    assert "| Reber | ours | 1 of 1" in shown
    assert "ALERGIA" not in shown
