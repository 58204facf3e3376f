"""What is learnt from samples, and whether what is promised of it holds on the target itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.samples import draw_target, hidden, judge, run_checked
from pdfalearn import PDFA, Budget, Exact, Tolerance, distill, distinguish, quotient, view
from pdfalearn.datasets import reber
from pdfalearn.errors import InputError
from pdfalearn.results import DistillingInterrupted, Sample
from pdfalearn.sampled import Samples, learn_samples
from pdfalearn.sampled.counted_tree import Test
from pdfalearn.sampled.hypothesis import weigh_words
from tests.sampled.test_samples import stopping
from tests.strategies import pdfas
from tests.support import examples

NEVER = 1e-6
TESTS: list[Test] = ["exact", "hoeffding"]


@pytest.mark.slow
@examples(30)
@given(pdfas(max_states=4), st.sampled_from(TESTS), st.integers(0, 5))
def test_what_is_promised_holds(pdfa: PDFA, test: Test, seed: int) -> None:
    target = quotient(pdfa, equivalence=Exact())
    judged = judge(target, *run_checked(target, 400, NEVER, test, seed, 6))
    assert judged.states_differ
    assert judged.near
    assert judged.samples <= 400


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_what_is_promised_of_larger_targets_holds(seed: int) -> None:
    target = draw_target(seed)
    judged = judge(target, *run_checked(target, 1500, NEVER, "exact", seed))
    assert judged.states_differ
    assert judged.near


def test_the_judge_sees_wrong_promises() -> None:
    target = PDFA(
        alphabet="ab",
        transitions=[[0, 1], [0, 1]],
        probabilities=[[0.4, 0.3, 0.3], [0.4, 0.1, 0.5]],
    )
    tree, found, _ = run_checked(target, 200, NEVER, "exact", 1)
    assert len(found.reds) == 1
    balance = weigh_words(found, 0.9, 0.01)
    assert judge(target, tree, found, balance).near
    assert not judge(target, tree, found, balance._replace(allowed=balance.allowed / 20)).near
    tree, found, balance = run_checked(target, 3000, 0.05, "exact", 1)
    assert judge(target, tree, found, balance).is_structure
    found.reds.append(found.reds[0])
    assert not judge(target, tree, found, balance).states_differ


@pytest.mark.parametrize("test", TESTS)
def test_the_structure_of_reber(test: Test) -> None:
    target = reber()
    result = learn_samples(hidden(target, 1), max_samples=4000, test=test)
    assert len(result.pdfa) == 6
    assert distinguish(result.pdfa, target, equivalence=Tolerance(0.1)) is None
    assert result.certificate.kind == "stopped"
    assert "hang in the balance" in str(result.certificate)
    assert view(result).html


def test_all_is_decided_where_that_is_easy_and_no_more_is_drawn() -> None:
    for pdfa in (
        PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]]),
        PDFA(alphabet="ab", transitions=[[-1, -1]], probabilities=[[1.0, 0, 0]]),
        PDFA(  # deterministic rows: one word
            alphabet="ab",
            transitions=[[1, -1], [-1, 2], [3, -1], [-1, -1]],
            probabilities=[[0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]],
        ),
    ):
        result = learn_samples(hidden(pdfa, 1), max_samples=50_000)
        assert result.certificate.kind == "tested"
        assert result.certificate.details["decided"] == result.certificate.details["transitions"]
        assert result.statistics.words < 30_000
        assert result.pdfa.transitions.tolist() == pdfa.transitions.tolist()


def branches(length: int) -> PDFA:
    """A word goes on with so many c; what comes then depends on the first symbol alone."""
    steps = 2 * length
    transitions = np.full((steps + 3, 3), -1)
    probabilities = np.zeros((steps + 3, 4))
    transitions[0, :2], probabilities[0, 1:3] = (1, length + 1), 0.5
    for branch in range(2):
        last = length * (branch + 1)
        for state in range(last - length + 1, last + 1):
            transitions[state, 2], probabilities[state, 3] = state + 1, 1.0
        transitions[last] = -1
        transitions[last, branch], probabilities[last] = steps + 1, 0.0
        probabilities[last, branch + 1] = 1.0
    probabilities[steps + 1 :, 0] = 1.0
    return quotient(
        PDFA(alphabet="abc", transitions=transitions, probabilities=probabilities),
        equivalence=Exact(),
    )


def test_equal_rows_and_a_long_distinguishing_suffix() -> None:
    target = branches(8)
    result = learn_samples(hidden(target, 1), max_samples=3000)
    assert len(result.pdfa) == len(target) == 18
    assert distinguish(result.pdfa, target, equivalence=Tolerance(0.1)) is None


def test_continuations_that_are_cut_after_a_symbol() -> None:
    target, random = reber(), np.random.default_rng(1)

    def draw(prefix: Sequence[object], count: int) -> Sample:
        state = target.state_after(prefix)
        drawn = random.choice(6, size=count, p=target.probabilities[state])
        words = [target.alphabet.decode([one - 1]) if one else () for one in drawn.tolist()]
        return Sample(words, drawn > 0)

    result = learn_samples(Samples(draw, target.alphabet), max_samples=20_000)
    assert len(result.pdfa) == 6
    assert distinguish(result.pdfa, target, equivalence=Tolerance(0.1)) is None


def test_where_draws_are_mute_nothing_more_is_drawn() -> None:
    random = np.random.default_rng(1)

    def draw(prefix: Sequence[object], count: int) -> Sample:
        words = ["ab"[int(one)] if not prefix else "" for one in random.random(count) < 0.5]
        return Sample([tuple(word) for word in words], np.ones(count, dtype=bool))

    result = learn_samples(Samples(draw, "ab"), max_samples=10_000)
    assert len(result.pdfa) == 1
    assert result.statistics.words < 2000
    # What is left out is told, and nothing is promised of it.
    assert result.certificate.details["left_out_words"] == 2
    assert "any suffix that could be drawn" in result.certificate.statement
    assert "divided by how likely the automaton makes" in result.certificate.statement


@pytest.mark.slow
def test_distilling_samples(tmp_path: str) -> None:
    target = reber()
    samples = hidden(target, 1)
    store = f"{tmp_path}/samples.jsonl"
    frontier = distill(samples, budget=Budget(max_words=1000), sizes=[1, 4, 6], seed=1, store=store)
    assert len(frontier.best) == 6
    assert frontier.is_of_words
    again = distill(
        stopping(samples, 0, ZeroDivisionError),
        budget=Budget(max_words=1000),
        sizes=[1, 4, 6],
        seed=1,
        store=store,
    )
    assert again.best == frontier.best
    with pytest.raises(DistillingInterrupted) as caught:
        distill(
            stopping(Samples(samples.function, samples.alphabet, most=50), 3, KeyboardInterrupt),
            budget=Budget(max_words=1000),
        )
    assert caught.value.frontier is not None
    with pytest.raises(DistillingInterrupted) as caught:
        distill(stopping(samples, 0, KeyboardInterrupt), budget=Budget(max_words=1000))
    assert caught.value.frontier is None
    for budget in (None, Budget(), Budget(max_words=10, max_states=3)):
        with pytest.raises(InputError, match="max_words"):
            distill(samples, budget=budget)
