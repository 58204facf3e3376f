"""Bounds of explorations hold at every step: the truth is known, or enumerated."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pdfalearn import Budget, explore, probability
from pdfalearn.analysis import condition
from pdfalearn.exploring.readings import TokenReading
from pdfalearn.models import AutomatonModel, LanguageModel
from tests.exploring.cases import (
    LANGUAGES,
    Partial,
    random_languages,
    random_target,
    truth,
)
from tests.support import need_module

NEARLY = 1e-9


@pytest.fixture(autouse=True)
def _regular_expressions() -> None:
    need_module("interegular")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_truth_is_inside_at_every_step(seed: int) -> None:
    random = np.random.default_rng(seed)
    pdfa, languages = random_target(random), random_languages(random)
    match = str(random.choice(["whole", "begins", "contains"]))
    told = int(random.integers(0, 3))
    model: LanguageModel = Partial(pdfa, told) if told else AutomatonModel(pdfa)
    truths = {name: truth(pdfa, pattern, match) for name, pattern in languages.items()}
    joined = "|".join(f"({pattern})" for pattern in languages.values())
    any_truth = truth(pdfa, joined, match)
    asked = explore(model, languages, match=match, gap=0, budget=Budget(max_words=1), batch=7)  # type: ignore[arg-type]
    before = -1.0
    for step in range(25):
        for name, known in truths.items():
            bounds = asked[name]
            assert bounds.low - NEARLY <= known <= bounds.high + NEARLY, (languages, name)
        assert asked.low - NEARLY <= any_truth <= asked.high + NEARLY
        assert asked.low >= before - NEARLY  # and they close only
        before = asked.low
        if step == 12:  # from now on hardly anything is kept open
            asked._run.frontier._most_open = 8
        asked = asked.more(budget=Budget(max_words=int(random.integers(1, 40))))
    if not told:
        assert asked.high - asked.low < 0.5


@pytest.mark.slow
def test_pruned_mass_comes_back() -> None:
    """What was put back into tails is opened again: nothing is lost or counted twice."""
    random = np.random.default_rng(5)
    for _ in range(15):
        pdfa, language = random_target(random), "a.{0,3}"
        asked = explore(pdfa, language, gap=0, budget=Budget(max_words=40), batch=4)
        asked._run.frontier._most_open = 4
        asked = asked.more(budget=Budget(max_words=60))
        asked._run.frontier._most_open = 10**6
        asked = asked.more(gap=1e-9, budget=Budget(max_words=3000))
        known = probability(pdfa, language)
        assert asked.low - NEARLY <= known <= asked.high + NEARLY
        assert asked.high - asked.low < 1e-3, asked


@pytest.mark.slow
def test_conditions_and_lengths() -> None:
    random = np.random.default_rng(2)
    for _ in range(30):
        pdfa = random_target(random)
        one, two = (str(name) for name in random.choice(LANGUAGES, 2, replace=False))
        if probability(pdfa, two) < 1e-6:
            continue
        asked = explore(pdfa, {"one": one, "two": two}, gap=1e-4, budget=Budget(max_words=3000))
        known = probability(pdfa, one, given=two)
        bounds = asked.given("one", "two")
        assert bounds.low - NEARLY <= known <= bounds.high + NEARLY
        most = int(random.integers(1, 5))
        cut = explore(pdfa, {"one": one}, within=most, gap=0, budget=Budget(max_words=100_000))
        short = condition(pdfa, f".{{0,{most}}}")
        known = probability(short, one) * probability(pdfa, f".{{0,{most}}}")
        assert cut.low - NEARLY <= known <= cut.high + NEARLY
        assert cut.high - cut.low < NEARLY


@pytest.mark.slow
def test_words_behind_prompts() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        pdfa = random_target(random)
        prompts = {"".join(w): w for w in product("ab", repeat=2)} | {"": (), "a": ("a",)}
        chances = {p: probability(pdfa, f"{p}.*") for p in prompts}
        prompts = {p: w for p, w in prompts.items() if chances[p] > 0}
        asked = explore(pdfa, "b.*", prompts=prompts, gap=1e-6, budget=Budget(max_words=4000))
        truths = {p: probability(pdfa, f"{p}b.*") / chances[p] for p in prompts}
        for prompt, known in truths.items():
            part = asked.behind(prompt)
            assert part.low - NEARLY <= known <= part.high + NEARLY
        mean = np.mean(list(truths.values()))
        assert asked.low - NEARLY <= mean <= asked.high + NEARLY


def test_likeliest_words_are_those_of_the_automaton() -> None:
    from pdfalearn import most_likely

    random = np.random.default_rng(4)
    for _ in range(10):
        pdfa = random_target(random)
        asked = explore(pdfa, {"all": ".*"}, gap=1e-3, budget=Budget(max_words=2000))
        expected = [one.probability for one in most_likely(pdfa, 5)]
        found = [one for one in asked.likeliest(5) if one.certified]
        assert [one.probability for one in found] == pytest.approx(expected[: len(found)])
        assert all(one.is_whole for one in found)


@pytest.mark.parametrize(
    "pattern", [r"\s*a*b?", r"\s*(1|a)*\s*", r"(?s).*b", r"a+ *\n*1.*", "b{2,}"]
)
def test_maps_of_tokens_are_what_their_bytes_do(pattern: str) -> None:
    """Runs of one byte are walked at once, and settle what their bytes one by one do."""
    random = np.random.default_rng(3)
    drawn = (bytes(random.choice(list(b"  \nab1"), random.integers(1, 9))) for _ in range(80))
    runs = [byte * count for byte in (b" ", b"b", b"\n") for count in range(1, 30)]
    tokens = *dict.fromkeys([*runs, *drawn, b" " * 9 + b"a" * 9]), None
    reading = TokenReading([pattern], tokens)
    table, decided = reading.dfa.table, reading.dfa.decided
    for begin in (decided < 0).nonzero()[0].tolist():
        after = reading.map(begin)
        live = dict(zip(after.live.tolist(), after.targets.tolist(), strict=True))
        for number, token in enumerate(tokens[:-1]):
            state, left = begin, list(token or b"")
            while left and decided[state] < 0:
                state = int(table[state, left.pop(0)])
            is_open = decided[state] < 0
            assert live.get(number) == (state if is_open else None)
            expected = reading.control + 1 if is_open else decided[state]
            assert after.settled[1 + number] == expected
        assert after.settled[len(tokens)] == reading.control
