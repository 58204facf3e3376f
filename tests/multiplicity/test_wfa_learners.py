"""Learners of weighted automata, against the target itself in rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, distill
from pdfalearn.analysis import length
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import PFA, WFA, WordProbabilities
from pdfalearn.multiplicity import (
    LearntWFA,
    RankError,
    l2_distance,
    learn_wfa,
    spectral_wfa,
    wfa_to_pdfa,
)
from pdfalearn.results import LearningInterrupted, Progress
from tests.models.test_pfa import pfas, random_pfa
from tests.multiplicity.rational import RationalWFA
from tests.multiplicity.test_weighted import wfas
from tests.strategies import all_words, pdfas
from tests.support import examples


def words_of(target: PFA | WFA | PDFA, length: int = 4) -> list[str]:
    return all_words("".join(map(str, target.alphabet)), length)


def check_learnt(learnt: LearntWFA, target: PFA | WFA | PDFA) -> None:
    words = words_of(target)
    expected = target.word_probabilities(words)
    assert learnt.wfa.word_probabilities(words) == pytest.approx(expected, abs=1e-9)
    assert learnt.equivalence_queries <= max(1, learnt.rank) + 1


@examples(30)
@given(pdfa=pdfas(max_states=6))
def test_pdfa_are_learnt_with_their_rank(pdfa: PDFA) -> None:
    try:
        learnt = learn_wfa(pdfa)
    except RankError:  # rounding grows with the lengths of words
        assert length(pdfa).mean > 30
        return
    check_learnt(learnt, pdfa)
    pfa = PFA.from_pdfa(pdfa)
    of_prefixes = WFA(
        pfa.alphabet, initial=pfa.initial, matrices=pfa.matrices, ends=np.ones(len(pfa))
    )
    assert learnt.rank == RationalWFA(of_prefixes).rank()
    assert learnt.equivalence_queries <= learnt.rank
    assert l2_distance(learnt.wfa, pdfa) < 1e-9


def test_what_never_ends_is_learnt_or_refused() -> None:
    # Words that come to the last state never end there: what rounding makes of 0 must not add up.
    moves, rows = [[0, 1, 0], [0, 0, 1]], [[0.0, 0.0, 0.92, 0.08], [0.0, 0.0, 0.0, 1.0]]
    pdfa = PDFA(alphabet="abc", transitions=moves, probabilities=rows)
    try:
        learnt = learn_wfa(pdfa)
    except RankError as error:
        assert "l2 distance inf" in str(error)  # noqa: PT017
        return
    assert l2_distance(learnt.wfa, pdfa) < 1e-12
    long = learnt.wfa.word_probabilities(["c" * 10**length for length in range(6)])
    assert np.abs(long).max() < 1e-12


@examples(30)
@given(pfa=pfas())
def test_pfa_are_learnt(pfa: PFA) -> None:
    learnt = learn_wfa(pfa)
    check_learnt(learnt, pfa)
    assert learnt.equivalence_queries <= learnt.rank


@examples(30)
@given(wfa=wfas())
def test_any_function_of_finite_rank_is_learnt(wfa: WFA) -> None:
    learnt = learn_wfa(wfa)
    check_learnt(learnt, wfa)
    assert learnt.rank == RationalWFA(wfa).rank()


@examples(20)
@given(pfa=pfas(), prefixes=st.booleans(), logs=st.booleans())
def test_functions_are_learnt_by_random_words(pfa: PFA, prefixes: bool, logs: bool) -> None:
    def tell(words: list[tuple[object, ...]]) -> np.ndarray:
        told = pfa.prefix_probabilities(words) if prefixes else pfa.word_probabilities(words)
        with np.errstate(divide="ignore"):
            return np.log(told) if logs else told

    model = WordProbabilities(tell, pfa.alphabet, prefixes=prefixes, logs=logs)
    learnt = learn_wfa(model, max_length=8, epsilon=0.05)
    check_learnt(learnt, pfa)
    assert learnt.certificate.kind == "pac"
    # Of prefixes the values of whole words are differences: these were not tested.
    what = "prefixes" if prefixes else "words"
    assert f"uniform {what} of up to 8 symbols are wrong by more than 1e-06 of their terms" in (
        learnt.certificate.statement
    )
    assert learnt.words == model.asked
    # All answers are kept: learning again asks nothing.
    learn_wfa(model, max_length=8, epsilon=0.05)
    assert learnt.words == model.asked


@examples(20)
@given(pdfa=pdfas(max_states=4, max_symbols=2))
def test_one_block_is_enough_if_it_has_the_rank(pdfa: PDFA) -> None:
    learnt = spectral_wfa(pdfa, length=4)
    check_learnt(learnt, pdfa)
    again = spectral_wfa(pdfa, words=words_of(pdfa, 4))
    assert again.wfa == learnt.wfa
    assert learnt.certificate.kind == "tested"


def test_a_block_that_is_too_small_is_not_tested() -> None:
    target = random_pdfa(20, seed=1)
    learnt = spectral_wfa(target, length=2)
    assert l2_distance(learnt.wfa, target) > 1e-3
    assert "nothing else was tested" in learnt.certificate.statement
    assert spectral_wfa(target, length=3, rank=2).rank == 2


def lock(length: int) -> PDFA:
    """Only one word leads to the state that never ends soon: its difference is deep."""
    transitions = [[place + 1, 0] if place % 2 else [0, place + 1] for place in range(length)]
    rows = [[0.5, 0.25, 0.25]] * length + [[0.25, 0.5, 0.25]]
    return PDFA(alphabet="ab", transitions=[*transitions, [length, length]], probabilities=rows)


def test_counterexamples_raise_the_rank() -> None:
    target = lock(8)
    learnt = learn_wfa(target)
    assert learnt.counterexamples
    assert learnt.equivalence_queries == len(learnt.counterexamples) + 1 <= learnt.rank == 9
    assert l2_distance(learnt.wfa, target) < 1e-12
    assert len(wfa_to_pdfa(learnt.wfa).pdfa) == 9


def hardly_two(gap: float) -> PFA:
    """Two states for good, alike but for a gap; the second singular value is about its square."""
    return PFA(
        "a",
        initial=[0.5, 0.5],
        matrices=[[[0.5, 0], [0, 0.5 + gap]]],
        ends=[0.5, 0.5 - gap],
    )


def test_near_singular_ranks_are_learnt_or_refused_and_never_wrong() -> None:
    ranks = []
    for gap in 10.0 ** -np.arange(1, 16, 0.25):
        learnt = learn_wfa(hardly_two(gap))
        assert l2_distance(learnt.wfa, hardly_two(gap)) < 1e-12
        ranks.append(learnt.rank)
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] == 2
    assert ranks[-1] == 1


def test_ranks_that_cannot_be_decided_are_refused() -> None:
    with pytest.raises(RankError, match="cannot be decided: it is at least 4"):
        learn_wfa(random_pfa(60, 2, 1, 0.0))


def test_rounded_values_need_their_error() -> None:
    target = random_pdfa(6, seed=2)

    def tell(words: list[tuple[object, ...]]) -> np.ndarray:
        exact = target.prefix_probabilities(words)
        return np.array([float(f"{one:.9g}") for one in exact])  # nine digits

    rank = learn_wfa(target).rank
    model = WordProbabilities(tell, target.alphabet, prefixes=True)
    learnt = learn_wfa(model, error=1e-8, tolerance=1e-4)
    assert learnt.rank == rank
    assert l2_distance(learnt.wfa, target) < 1e-5
    # As if all digits were right, the rank seems to be higher.
    stopped = learn_wfa(model, budget=Budget(max_states=20))
    assert stopped.rank == 20
    assert stopped.certificate.details["bound"] == "max_states"


def test_learnt_automata_are_models() -> None:
    learnt = learn_wfa(figure_3())
    assert wfa_to_pdfa(learnt.wfa).residual < 1e-9
    pfa = random_pfa(3, 2, 5, 0.0)
    wfa = learn_wfa(pfa).wfa
    words = words_of(pfa)
    assert wfa.next_distributions(words) == pytest.approx(pfa.next_distributions(words), abs=1e-9)
    assert distill(wfa, budget=Budget(max_symbols=300), sizes=[1, 2], seed=1).best is not None


def test_an_interrupt_loses_no_answer() -> None:
    target, calls = random_pdfa(8, seed=4), list[list[Any]]()

    def tell(words: list[tuple[object, ...]]) -> np.ndarray:
        calls.append(words)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return target.prefix_probabilities(words)

    model = WordProbabilities(tell, target.alphabet, prefixes=True)
    with pytest.raises(LearningInterrupted) as stopped:
        learn_wfa(model)
    salvaged = stopped.value.result
    assert isinstance(salvaged, LearntWFA)
    assert salvaged.certificate.kind == "interrupted"
    assert salvaged.wfa.word_probabilities([""]) == pytest.approx(target.word_probabilities([""]))
    learn_wfa(model)
    answered = [word for place, words in enumerate(calls) if place != 2 for word in words]
    assert len(answered) == len(set(answered))


def test_an_interrupt_before_the_first_answer_has_nothing() -> None:
    def stop(words: list[Any]) -> list[float]:
        raise KeyboardInterrupt

    with pytest.raises(LearningInterrupted) as stopped:
        learn_wfa(WordProbabilities(stop, "a", prefixes=True))
    assert stopped.value.result is None


@pytest.mark.parametrize("prefixes", [True, False])
def test_every_budget_of_words_is_kept_and_leaves_an_automaton(prefixes: bool) -> None:
    target = random_pdfa(6, seed=2)
    tell = target.prefix_probabilities if prefixes else target.word_probabilities
    whole = learn_wfa(WordProbabilities(tell, target.alphabet, prefixes=prefixes), epsilon=0.1)
    ranks = []
    for most in [*range(1, 12), *range(12, whole.words + 30, 23)]:
        model = WordProbabilities(tell, target.alphabet, prefixes=prefixes)
        learnt = learn_wfa(model, epsilon=0.1, budget=Budget(max_words=most))
        assert learnt.words == model.asked <= max(most, 3)
        assert learnt.certificate.kind == ("pac" if most >= whole.words else "stopped")
        assert len(learnt.wfa) == max(1, learnt.rank)
        if learnt.certificate.kind == "stopped":
            assert learnt.certificate.details["bound"] == "max_words"
            assert learnt.certificate.details["limit"] == most
        ranks.append(learnt.rank)
    assert ranks == sorted(ranks)
    assert ranks[-1] == whole.rank


def test_other_budgets() -> None:
    target = random_pdfa(20, seed=1)
    found = learn_wfa(target, budget=Budget(max_seconds=0))
    assert (found.certificate.details["bound"], found.rank) == ("max_seconds", 1)
    found = learn_wfa(target, budget=Budget(max_equivalence_queries=0))
    assert found.certificate.details["bound"] == "max_equivalence_queries"
    assert l2_distance(found.wfa, target) < 1e-9
    for most in range(1, 21):
        found = learn_wfa(target, budget=Budget(max_states=most))
        assert (found.rank, found.certificate.details["bound"]) == (most, "max_states")
    whole = learn_wfa(target, budget=Budget(max_states=21)).certificate
    assert whole.kind == "exact"
    assert "the l2 distance, extrapolated, is" in whole.statement


def test_progress_is_told() -> None:
    seen: list[Progress] = []
    learnt = learn_wfa(random_pdfa(20, seed=1), progress=seen.append)
    assert [one.words for one in seen] == sorted(one.words for one in seen)
    assert seen[-1].words == learnt.words
    assert seen[-1].states == learnt.rank


def test_questions_are_few() -> None:
    # Every row of a prefix and one symbol more, and the columns that are needed, and few others.
    for size in (10, 20, 40):
        learnt = learn_wfa(random_pdfa(size, exact_size=True, seed=1))
        assert learnt.words < 2.6 * learnt.rank**2
        assert learnt.equivalence_queries == 1


def bad(answer: Callable[[list[Any]], Any], *, logs: bool = False) -> WordProbabilities:
    return WordProbabilities(answer, "ab", prefixes=True, logs=logs)


BAD: dict[str, tuple[WordProbabilities, str]] = {
    "NaN": (bad(lambda words: [np.nan] * len(words)), "nan, which is not a probability"),
    "negative": (bad(lambda words: [-0.25] * len(words)), "-0.25, which is not a probability"),
    "above 1": (bad(lambda words: [1.5] * len(words)), "1.5, which is not a probability"),
    "logs": (bad(lambda words: [0.5] * len(words), logs=True), "not the logarithm"),
    "infinite log": (bad(lambda words: [np.inf] * len(words), logs=True), "not the logarithm"),
    "NaN in logs": (bad(lambda words: [np.nan] * len(words), logs=True), "not the logarithm"),
    "too few": (bad(lambda words: [1.0] * (len(words) - 1)), "not as many numbers"),
    "a table": (bad(lambda words: [[1.0]] * len(words)), "not as many numbers"),
    "texts": (bad(lambda words: ["x"] * len(words)), "not as many numbers"),
    "None": (bad(lambda words: None), "not as many numbers"),
    "not 1 at first": (bad(lambda words: [0.5] * len(words)), r"the word \(\) has the probability"),
    "growing": (
        bad(lambda words: [[1, 0.25, 0.5][min(len(w), 2)] for w in words]),
        r"'a'\) has the probability 0.5, but its prefix has less",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_answers_name_the_word(name: str) -> None:
    model, message = BAD[name]
    with pytest.raises(ModelError, match=message):
        learn_wfa(model)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: learn_wfa(cast(Any, "x")), "target is 'x'; learn from WordProbabilities"),
        (lambda: learn_wfa(figure_3(), error=0), "error 0"),
        (lambda: learn_wfa(figure_3(), tolerance=1), "tolerance 1"),
        (lambda: learn_wfa(figure_3(), budget=cast(Any, 5)), "budget is 5, not a Budget"),
        (lambda: learn_wfa(figure_3(), budget=Budget(max_symbols=5)), "has max_symbols"),
        (lambda: learn_wfa(figure_3(), progress=cast(Any, 3)), "progress 3 is not True"),
        (lambda: learn_wfa(figure_3(), delta=2), "delta"),
        (lambda: spectral_wfa(figure_3(), length=-1), "length -1"),
        (lambda: spectral_wfa(figure_3(), rank=99), "rank 99"),
        (lambda: spectral_wfa(figure_3(), words=["x"]), "'x'"),
    ],
)
def test_bad_arguments(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
