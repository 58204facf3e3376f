"""Evaluation over all words, against linear algebra, enumeration and drawn words."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pdfalearn import PDFA, Quantization, Tolerance, evaluate
from pdfalearn.chains import systems, walks
from pdfalearn.datasets import chain, figure_1, random_pdfa
from pdfalearn.equivalence import Equivalence
from pdfalearn.errors import InputError
from pdfalearn.metrics import evaluate_exactly
from tests.metrics import slow
from tests.metrics.test_evaluate import RELATIONS, reordered
from tests.strategies import pdfas

State = tuple[int, int | None]


def visits_of(target: PDFA, candidate: PDFA, possible: bool = False) -> dict[State, float]:
    """Solve for the expected visits of all pairs by elimination; only along possible symbols."""
    states: list[State] = [(target.initial, candidate.initial)]
    moves: list[tuple[State, State, float]] = []
    for left, right in states:
        for code, symbol in enumerate(target.alphabet.symbols):
            probability = float(target.probabilities[left, code + 1])
            other = candidate.alphabet.index(symbol)
            said = 0.0 if right is None else float(candidate.probabilities[right, other + 1])
            if probability == 0 or (possible and said == 0):
                continue
            successor = -1 if right is None else int(candidate.transitions[right, other])
            reached = (int(target.transitions[left, code]), None if successor < 0 else successor)
            moves.append(((left, right), reached, probability))
            if reached not in states:
                states.append(reached)
    system = np.eye(len(states))
    for state, reached, probability in moves:
        system[states.index(reached), states.index(state)] -= probability
    visits = np.linalg.solve(system, np.eye(len(states))[0])
    return dict(zip(states, visits.tolist(), strict=True))


def ends_surely(pdfa: PDFA) -> bool:
    """Whether each reachable state may come to an end, by plain search."""
    reached: set[int] = {pdfa.initial}
    ending: set[int] = set()
    successors = {
        state: {int(s) for s in pdfa.transitions[state][pdfa.probabilities[state, 1:] > 0]}
        for state in range(len(pdfa))
    }
    for _ in range(len(pdfa)):
        reached |= {s for state in reached for s in successors[state]}
        ending |= {q for q in successors if pdfa.probabilities[q, 0] > 0 or successors[q] & ending}
    return reached <= ending


@given(
    pdfas(max_states=5, alphabet="abc"),
    pdfas(max_states=5, alphabet="abc"),
    st.permutations("abc").map("".join),
    RELATIONS,
    st.integers(1, 4),
)
def test_as_by_elimination(
    target: PDFA, candidate: PDFA, order: str, equivalence: Equivalence | Tolerance, k: int
) -> None:
    assume(ends_surely(target))
    candidate = reordered(candidate, order)
    result = evaluate_exactly(target, candidate, equivalence=equivalence, k=k)
    visits = visits_of(target, candidate)
    columns = [0, *(candidate.alphabet.index(symbol) + 1 for symbol in "abc")]
    rows = {
        (q, r): (
            target.probabilities[q].tolist(),
            None if r is None else candidate.probabilities[r, columns].tolist(),
        )
        for q, r in visits
    }
    ends = {pair: weight * rows[pair][0][0] for pair, weight in visits.items()}
    for means, weights in ((result.over_prefixes, visits), (result.over_words, ends)):
        total = sum(weights.values())
        figures = {
            pair: (
                slow.word_error(*rows[pair]),
                slow.ndcg(*rows[pair], k),
                slow.different(*rows[pair], equivalence),
                slow.l1(*rows[pair]),
                slow.kl(*rows[pair]),
                float(math.isinf(slow.kl(*rows[pair]))),
            )
            for pair, weight in weights.items()
            if weight > 0
        }
        expected = [
            sum(weights[pair] * figure[i] for pair, figure in figures.items()) / total
            for i in range(6)
        ]
        assert list(vars(means).values()) == pytest.approx(expected, abs=1e-9)
    assert result.mean_length == pytest.approx(sum(visits.values()) - 1)
    assert result.words is None
    assert result.log_probability_error is None
    possible = visits_of(target, candidate, possible=True)
    kept = sum(
        weight * target.probabilities[q, 0]
        for (q, r), weight in possible.items()
        if r is not None and candidate.probabilities[r, 0] > 0
    )
    assert result.one_sided_words == pytest.approx(1 - kept, abs=1e-9)
    for perplexity, said in ((result.target_perplexity, 0), (result.perplexity, 1)):
        total = sum(
            weight * p * (math.log(q) if q else -math.inf)
            for pair, weight in visits.items()
            if weight > 0
            for p, q in zip(rows[pair][0], rows[pair][said] or [0.0] * 4, strict=True)
            if p > 0
        )
        assert perplexity == pytest.approx(math.exp(-total / sum(visits.values())))


def test_drawn_words_tend_to_it() -> None:
    target = random_pdfa(40, 3, distributions=5, seed=1)
    candidate = random_pdfa(30, 3, distributions=5, seed=2)
    equivalence, count = Quantization(3), 40_000
    exact, drawn = (
        evaluate_exactly(target, candidate, equivalence=equivalence),
        evaluate(target, candidate, equivalence=equivalence, count=count, seed=7),
    )
    for name in ("over_prefixes", "over_words"):
        for field, value in vars(getattr(exact, name)).items():
            assert getattr(getattr(drawn, name), field) == pytest.approx(value, abs=0.02), field
    for field in ("mean_length", "target_perplexity", "perplexity", "kl_of_words"):
        assert getattr(drawn, field) == pytest.approx(getattr(exact, field), rel=0.03), field
    logs = [
        pdfa.log_probabilities(target.sample(count, seed=7).words) for pdfa in (target, candidate)
    ]
    differences = logs[0] - logs[1]
    error = float(differences.std()) / math.sqrt(count)
    assert float(differences.mean()) == pytest.approx(exact.kl_of_words, abs=4 * error)


@pytest.mark.parametrize("stop", [1e-3, 1e-6])
def test_long_words_are_solved_for(stop: float) -> None:
    target = PDFA(alphabet="a", transitions=[[1], [0]], probabilities=[[stop, 1 - stop]] * 2)
    result = evaluate_exactly(target, figure_1())
    assert result.mean_length == pytest.approx((1 - stop) / stop, rel=1e-8)
    # The first state of the candidate never ends; all later ones end in one half of the cases.
    assert result.over_prefixes.l1 == pytest.approx(stop * 2 * stop + (1 - stop) * (1 - 2 * stop))
    assert result.one_sided_words == pytest.approx(stop)


def test_chains_and_random_automata_whose_words_are_long() -> None:
    for pdfa in (chain(300, reset=True), random_pdfa(500, seed=3)):
        rows = pdfa.probabilities.copy()
        rows[:, 0] *= 1e-3
        rows /= rows.sum(axis=1, keepdims=True)
        target = PDFA(alphabet=pdfa.alphabet, transitions=pdfa.transitions, probabilities=rows)
        expected = sum(visits_of(target, target).values()) - 1
        result = evaluate_exactly(target, target)
        assert result.mean_length == pytest.approx(expected, rel=1e-7)
        assert result.over_prefixes.ndcg == 1.0
        assert result.perplexity == pytest.approx(result.target_perplexity)


@pytest.mark.slow
def test_a_cycle_with_words_of_a_thousand_million_symbols(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size, stop = 60, 1e-9
    onwards = [[(state + 1) % size] for state in range(size)]
    target = PDFA(alphabet="a", transitions=onwards, probabilities=[[stop, 1 - stop]] * size)
    assert evaluate_exactly(target, target).mean_length == pytest.approx(1 / stop, rel=1e-6)
    size = 3000
    onwards = [[(state + 1) % size] for state in range(size)]
    target = PDFA(alphabet="a", transitions=onwards, probabilities=[[stop, 1 - stop]] * size)
    assert evaluate_exactly(target, target).mean_length == pytest.approx(1 / stop, rel=1e-6)
    monkeypatch.setattr(systems, "MOST_ELIMINATED", 0)
    monkeypatch.setattr(systems, "_MOST_DIRECT", 0)
    monkeypatch.setattr(systems, "_MOST_WORK", 2**27)
    with pytest.raises(InputError, match="too long for an exact answer; draw words"):
        evaluate_exactly(target, target)


def test_words_that_never_end_are_refused() -> None:
    rows = [[0.5, 0.25, 0.25], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    target = PDFA(alphabet="ab", transitions=[[0, 1], [2, -1], [2, -1]], probabilities=rows)
    with pytest.raises(InputError, match=r"after the word \('b', 'a'\) the target never ends"):
        evaluate_exactly(target, target)
    assert evaluate_exactly(figure_1(), figure_1()).over_words.kl == 0


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "MOST_PAIRS", 100)
    with pytest.raises(InputError, match="more than 100 pairs of states"):
        evaluate_exactly(random_pdfa(60, seed=1), random_pdfa(60, seed=2))
    with pytest.raises(InputError, match="alphabets differ"):
        evaluate_exactly(figure_1(), random_pdfa(3, seed=1))
