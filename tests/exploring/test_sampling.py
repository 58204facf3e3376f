"""Samples among matches have the exact distribution, and estimates cover what they claim."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pdfalearn import PDFA, Budget, FunctionModel, explore, probability, sample
from pdfalearn.analysis import condition
from pdfalearn.errors import InputError
from pdfalearn.exploring import ExplorationInterrupted, Step
from pdfalearn.exploring.sampling import _walk
from tests.exploring.cases import Partial, random_target
from tests.support import need_module


@pytest.fixture(autouse=True)
def _regular_expressions() -> None:
    need_module("interegular")


def slow_target() -> PDFA:
    """Return an automaton whose words are long, so that much stays open."""
    rows = [[0.05, 0.55, 0.4], [0.1, 0.3, 0.6]]
    return PDFA(alphabet="ab", transitions=[[1, 0], [0, 1]], probabilities=rows)


@pytest.mark.slow
@pytest.mark.parametrize("calls", [2, 8])
@pytest.mark.parametrize("match", ["whole", "begins"])
def test_samples_are_those_of_the_conditional_distribution(calls: int, match: str) -> None:
    from scipy.stats import chisquare

    pdfa, language = slow_target(), "a?b.{0,3}" if match == "whole" else ".{2}(a|bb)a"
    asked = explore(pdfa, language, match=match, gap=0, batch=2, budget=Budget(max_words=calls))  # type: ignore[arg-type]
    frontier = asked._run.frontier
    frontier._most_open = 3  # so that there are tails to draw from
    frontier._prune()
    assert asked.more(budget=Budget(max_words=1)).open["unlikely"] > 0 or calls == 2
    count = 10_000
    drawn = asked.sample(count, seed=3)
    counts = Counter(map(tuple, drawn.words))
    if match == "whole":
        exact = condition(pdfa, language)
        chances = {word: exact.probability(word) for word in counts}
    else:  # a beginning, however the word goes on, cut where it is sure to match
        whole = probability(pdfa, f"({language}).*")
        chances = {
            word: probability(pdfa, "".join(map(str, word)) + ".*") / whole for word in counts
        }
    assert sum(chances.values()) == pytest.approx(1, abs=0.01)
    likely = [word for word in counts if chances[word] * count > 10]
    seen = [counts[word] for word in likely]
    expected = [chances[word] * count for word in likely]
    seen.append(count - sum(seen) + 1)
    expected.append(max(0.0, count - sum(expected)) + 1)
    scale = sum(seen) / sum(expected)
    assert chisquare(seen, np.array(expected) * scale).pvalue > 1e-4


@pytest.mark.slow
def test_estimates_cover_what_they_claim() -> None:
    pdfa = slow_target()
    known = probability(pdfa, "(..)*")
    covered, narrower, runs = 0, 0, 60
    for seed in range(runs):
        asked = explore(pdfa, "(..)*", gap=0, batch=2, budget=Budget(max_words=3))
        bounds = asked.estimate(calls=60, confidence=0.9, seed=seed)
        covered += bounds.low <= known <= bounds.high
        narrower += bounds.high - bounds.low < asked.high - asked.low
        assert bounds.confidence == 0.9 or bounds.low - 1e-9 <= known <= bounds.high + 1e-9
    assert covered >= 0.8 * runs  # .9 are expected, and fewer than .8 once in a hundred times
    assert narrower > 0.9 * runs


def test_estimates_keep_what_is_certain() -> None:
    rows = [[0.01, 0.33, 0.33, 0.33]]
    pdfa = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=rows)
    languages = {"a": "a", "rare": "(.*)abcabc"}  # most stays open, but not of the first
    asked = explore(pdfa, languages, match="begins", gap=0, batch=9, budget=Budget(max_words=60))
    known = asked.estimate("a", calls=10)
    assert (round(known.low, 9), round(known.high, 9), known.confidence) == (0.33, 0.33, 1.0)
    for name in (None, "rare"):
        certain = asked._bound(asked._run.labels_of(name))
        bounds = asked.estimate(name, calls=50, seed=1)
        assert certain[0] - 1e-9 <= bounds.low <= bounds.high <= certain[1] + 1e-9


@pytest.mark.filterwarnings("error")
def test_what_is_left_of_a_tail_by_rounding_is_open() -> None:
    asked = explore(slow_target(), "(..)*", gap=0, batch=2, budget=Budget(max_words=1))
    frontier, event = asked._run.frontier, asked._run.labels_of(None)
    asked._run.open()
    node = frontier.items.parents[:1]  # all that follows it is open by itself
    settings = node, np.ones(1, dtype=bool), np.random.default_rng(1)
    assert _walk(frontier, *settings).labels.tolist() == [frontier.reading.control]
    ends = _walk(frontier, *settings, event=event)
    assert (ends.labels.tolist(), ends.values.tolist(), ends.weights.tolist()) == ([-1], [0], [1])


def test_what_cannot_be_drawn() -> None:
    pdfa = random_target(np.random.default_rng(1))
    asked = explore(Partial(pdfa, 1), "a.*", budget=Budget(max_words=5))
    with pytest.raises(InputError, match="did not tell all"):
        asked.sample(1)
    never = explore(pdfa, "a{60}", budget=Budget(max_words=5))
    with pytest.raises(InputError, match="0 of 1 answers"):
        never.sample(1, budget=Budget(max_words=50))
    with pytest.raises(InputError, match="of 1000 answers"):
        explore(pdfa, "a.*b", gap=0.5).sample(1000, budget=Budget(max_seconds=0))
    with pytest.raises(InputError, match="samples of a language"):
        sample(pdfa, 1, budget=Budget(max_words=1))


def test_samples_have_a_budget_and_progress() -> None:
    def stop(step: Step) -> None:
        seen.append(step.calls)
        if len(seen) > 12:
            raise KeyboardInterrupt

    seen: list[int] = []
    pdfa = random_target(np.random.default_rng(1))
    asked = explore(pdfa, "a.*b", gap=0, batch=1, budget=Budget(max_words=4), progress=stop)
    before = len(seen)
    with pytest.raises(ExplorationInterrupted) as caught:
        asked.sample(1000)
    assert len(seen) > before
    assert seen == sorted(seen)
    assert caught.value.exploration is asked
    told: list[Step] = []
    words = sample(pdfa, 9, "a.*b", seed=1, budget=Budget(max_words=5000), progress=told.append)
    assert told[-1].calls <= 5000
    assert words.words == sample(pdfa, 9, "a.*b", seed=1).words


def test_where_every_answer_matches_its_first_symbol_is_drawn() -> None:
    coin = FunctionModel(lambda words: [[0.2, 0.5, 0.3]] * len(words), "ht")
    draws = explore(coin, [""], match="begins").sample(2000, seed=1)
    for word, share in (((), 0.2), (("h",), 0.5), (("t",), 0.3)):
        assert draws.words.count(word) / 2000 == pytest.approx(share, abs=0.05)
    assert draws.are_whole == [word == () for word in draws.words]
