"""Knees, intervals and measures on held-out words, against the textbook and `evaluate`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as students_t

from pdfalearn import PDFA, Exact, evaluate
from pdfalearn.alphabet import Word
from pdfalearn.datasets import random_pdfa
from pdfalearn.distilling.estimates import HeldOut, estimate_mean
from pdfalearn.distilling.sampling import Positions, add_words
from pdfalearn.distilling.searching import default_sizes
from pdfalearn.learners import ObservationTree
from pdfalearn.models.automaton import as_model
from pdfalearn.results.recommendations import knee, not_worse, smallest_good, standard_error
from tests.support import examples


def plain_error(losses: list[float], lengths: list[float]) -> float:
    """The ratio estimator's standard error, as sampling theory has it."""
    count = len(losses)
    ratio = sum(losses) / sum(lengths)
    mean_length = sum(lengths) / count
    pairs = zip(losses, lengths, strict=True)
    variance = sum((loss - ratio * length) ** 2 for loss, length in pairs) / (count - 1)
    return math.sqrt(variance / count) / mean_length


@examples(30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=5, max_size=30))
def test_intervals_are_those_of_the_textbook(words: list[tuple[int, int]]) -> None:
    losses, lengths = [float(loss) for loss, _ in words], [float(length) for _, length in words]
    error = plain_error(losses, lengths)
    assert standard_error(np.array(losses), np.array(lengths)) == pytest.approx(error, abs=1e-12)
    found = estimate_mean(np.array(losses), np.array(lengths))
    mean, quantile = sum(losses) / sum(lengths), float(students_t.ppf(0.975, len(words) - 1))
    assert found.mean == pytest.approx(mean)
    if mean < 1e-6:
        return
    surplus = [loss - mean * length for loss, length in zip(losses, lengths, strict=True)]
    worst = surplus.index(max(surplus))  # counts twice
    error = plain_error([*losses, losses[worst]], [*lengths, lengths[worst]])
    assert math.log(mean / found.low) == pytest.approx(quantile * error / mean, rel=1e-6)
    assert math.log(found.high / mean) == pytest.approx(quantile * error / mean, rel=1e-6)


def test_one_word_says_nothing_about_the_error() -> None:
    assert estimate_mean(np.ones(1), np.ones(1)).high == math.inf


def test_intervals_cover_the_mean() -> None:
    random = np.random.default_rng(1)
    covered, runs, mean = 0, 300, 0.3
    for _ in range(runs):
        lengths = random.geometric(0.2, 200).astype(float)
        losses = np.array([random.exponential(mean, int(length)).sum() for length in lengths])
        found = estimate_mean(losses, lengths)
        covered += found.low <= mean <= found.high
    assert 0.91 < covered / runs < 0.99


@examples(30)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_smallest_that_is_not_worse_by_an_error(seed: int, automata: int) -> None:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 9, 20).astype(float)
    losses = random.exponential(1, (automata, 20)) + random.exponential(1, 20)
    best: list[float] = min(losses.tolist(), key=sum)
    plain_lengths: list[float] = lengths.tolist()

    def is_good(these: list[float]) -> bool:
        worse = [this - other for this, other in zip(these, best, strict=True)]
        mean, error = sum(worse) / sum(plain_lengths), plain_error(worse, plain_lengths)
        return mean <= max(error, 1e-9)

    expected = next(place for place, these in enumerate(losses.tolist()) if is_good(these))
    assert smallest_good(losses, lengths) == expected


@examples(30)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_those_that_no_smaller_one_beats(seed: int, automata: int) -> None:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 9, 20).astype(float)
    losses = random.exponential(1, (automata, 20)) * random.uniform(0.5, 2, (automata, 1))
    expected = []
    for place, these in enumerate(losses.tolist()):
        best: list[float] = min(losses[: max(place, 1)].tolist(), key=sum)
        worse = [this - other for this, other in zip(these, best, strict=True)]
        mean, error = sum(worse) / float(lengths.sum()), plain_error(worse, lengths.tolist())
        expected.append(mean <= max(2 * error, 1e-9))
    assert not_worse(losses, lengths).tolist() == expected


def plain_knee(states: list[int], losses: list[float]) -> int | None:
    def least(size: float) -> float:
        pairs = zip(states, losses, strict=True)
        return math.log(max(1e-12, min(loss for other, loss in pairs if other <= size)))

    bends = {}
    for size in states[1:-1]:
        below, above = min(size - 1, size / 1.2), max(size + 1, size * 1.2)
        if states[0] <= below and above <= states[-1]:
            bends[size] = least(below) - 2 * least(size) + least(above)
    best = max(bends, key=lambda size: bends[size], default=None)
    if best is None or bends[best] <= 0.4:
        return None
    high, low = least(min(best - 1, best / 1.2)), least(best)
    return next(size for size in states if least(size) <= low + 0.25 * (high - low))


@examples(30)
@given(st.data(), st.integers(20, 400))
def test_the_knee_is_where_the_curve_bends_most(data: st.DataObject, nodes: int) -> None:
    sizes = default_sizes(nodes, 2)
    loss = st.floats(1e-6, 1)
    losses = data.draw(st.lists(loss, min_size=len(sizes), max_size=len(sizes)))
    assert knee(sizes, losses) == plain_knee(sizes, losses)


@pytest.mark.parametrize(
    ("losses", "place"),
    [
        ([1, 0.9, 0.8, 0.001, 0.001, 0.001], 4),
        ([1, 0.5, 0.25, 0.125, 0.0625, 0.03], None),
        ([0, 0, 0, 0, 0, 0], None),
        ([1, 0, 0, 0, 0, 0], 2),
    ],
)
def test_knees(losses: list[float], place: int | None) -> None:
    assert knee([1, 2, 3, 4, 5, 6], losses) == place


def test_a_knee_where_the_curve_goes_on_falling() -> None:
    before = [0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.0154]
    after = [0.00159, 0.00149, 0.0014, 0.00133, 0.00127]
    assert knee(range(1, 17), [*before, *after]) == 12


def test_too_few_sizes_have_no_knee() -> None:
    assert knee([3], [1.0]) is None
    assert knee([1, 2], [1.0, 0.0]) is None


def held_out(target: PDFA, words: list[Word]) -> HeldOut:
    with ObservationTree(as_model(target), Exact()) as observations:
        batch = target.alphabet.encode_words(words)
        observations.ask_path(batch)
        return HeldOut(add_words(Positions(), batch, observations), observations)


@pytest.mark.parametrize("symbols", [1, 3, 80])
@pytest.mark.parametrize("seed", range(2))
def test_held_out_words_are_measured_as_evaluate_does(seed: int, symbols: int) -> None:
    target = random_pdfa(30, symbols, seed=seed)
    candidate = random_pdfa(10, symbols, seed=seed + 100)
    words = list[Word](target.sample(100, seed=seed).words)
    held = held_out(target, words)
    measured = held.measure(candidate)
    expected = evaluate(target, candidate, words)
    prefixes = expected.over_prefixes
    assert held.lengths.tolist() == [len(word) + 1 for word in words]
    assert measured.l1 == pytest.approx(prefixes.l1)
    assert measured.word_error_rate == pytest.approx(prefixes.word_error_rate)
    assert measured.losses.sum() / held.lengths.sum() == pytest.approx(prefixes.kl)
    assert measured.losses.sum() > 0
    assert measured.infinite.sum() == 0
    assert measured.cross_entropy - held.entropy == pytest.approx(prefixes.kl)


@pytest.mark.parametrize("seed", range(2))
def test_infinite_divergences_are_counted(seed: int) -> None:
    target = random_pdfa(20, 3, seed=seed)
    other = random_pdfa(20, 3, zero_probability=0.3, undefined=True, seed=seed + 50)
    words = list[Word](target.sample(30, seed=seed, max_length=10).words)
    measured = held_out(target, words).measure(other)
    infinite, finite = 0, []
    for place, word in enumerate(words):
        prefixes = [word[:end] for end in range(len(word) + 1)]
        divergences = [evaluate(target, other, [prefix]).over_words.kl for prefix in prefixes]
        finite += [value for value in divergences if value < math.inf]
        infinite += sum(value == math.inf for value in divergences)
        mine = sum(value for value in divergences if value < math.inf)
        assert measured.losses[place] == pytest.approx(mine, abs=1e-9)
    assert 0 < infinite == measured.infinite.sum()
    assert measured.losses.sum() == pytest.approx(sum(finite))
    assert measured.l1 == pytest.approx(evaluate(target, other, words).over_prefixes.l1)
