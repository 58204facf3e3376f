"""Clark and Thollard's algorithm: the same automata as plain Python, and its own promises."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.passive import clark_thollard
from tests.passive.plain_merging import Word, shortlex

SYMBOLS = 2


def learn_graph(words: list[Word], mu: float, minimum: int) -> dict[Word, dict[int, Word]]:
    """Return the graph: of every state, by its access word, where its symbols lead."""
    graph: dict[Word, dict[int, Word]] = {(): {}}
    multisets: dict[Word, Counter[Word]] = {(): Counter(words)}
    while True:
        candidates: dict[Word, Counter[Word]] = {}
        for word in words:
            state: Word = ()
            for place, symbol in enumerate(word):
                if symbol not in graph[state]:
                    suffixes = candidates.setdefault((*state, symbol), Counter())
                    suffixes[word[place + 1 :]] += 1
                    break
                state = graph[state][symbol]
        if not candidates:
            return graph
        best = min(candidates, key=lambda w: (-candidates[w].total(), *shortlex(w)))
        found = candidates[best]
        if found.total() < minimum:
            return graph
        near = (
            state for state in sorted(graph, key=shortlex) if gap(multisets[state], found) <= mu / 2
        )
        target = next(near, best)
        graph[best[:-1]][best[-1]] = target
        if target == best:
            graph[best], multisets[best] = {}, found


def gap(left: Counter[Word], right: Counter[Word]) -> float:
    return max(
        abs(left[word] / left.total() - right[word] / right.total()) for word in {*left, *right}
    )


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, SYMBOLS - 1), max_size=5).map(tuple), min_size=1, max_size=40),
    st.sampled_from([0.05, 0.3, 0.7]),
    st.integers(1, 8),
)
def test_the_graph_is_that_of_plain_python(words: list[Word], mu: float, minimum: int) -> None:
    graph = learn_graph(words, mu, minimum)
    pdfa = clark_thollard(words, mu=mu, minimum=minimum, alphabet=range(SYMBOLS))
    order = sorted(graph, key=shortlex)
    ground = len(order)
    expected = [
        [order.index(graph[state][s]) if s in graph[state] else ground for s in range(SYMBOLS)]
        for state in order
    ]
    np.testing.assert_array_equal(expected, pdfa.transitions[:ground])
    assert len(pdfa) == ground + any(ground in row for row in expected)
    if len(pdfa) > ground:
        assert (pdfa.transitions[ground] == ground).all()


def test_rows_are_shares_with_the_least_probability_of_the_paper() -> None:
    words = [tuple("ab"[i % 2] * (i % 3)) for i in range(60)]
    pdfa = clark_thollard(words, mu=0.1, minimum=100, epsilon=0.2, length=3)
    least = 0.2 / (4 * 4 * 3)
    counts = [pdfa.alphabet.encode(word).tolist() for word in words]
    first = np.bincount([word[0] + 1 if word else 0 for word in counts], minlength=3) / 60
    np.testing.assert_allclose(pdfa.probabilities[0], first * (1 - 3 * least) + least)
    assert len(pdfa) == 2


def test_states_that_can_be_told_apart_are_found() -> None:
    target = random_pdfa(5, 2, seed=0)
    words = target.sample(20_000, seed=1).words
    found = clark_thollard(words, mu=0.1, minimum=300, alphabet=target.alphabet)
    assert np.array_equal(found.transitions, target.transitions)


def test_the_number_of_words_of_the_proof_is_far_from_practice() -> None:
    words = random_pdfa(4, 2, seed=1).sample(1_000, seed=1).words
    found = clark_thollard(words, mu=0.1, states=4, alphabet="01")
    assert len(found) == 2  # the initial state and the ground


def test_a_minimum_or_a_number_of_states_is_needed() -> None:
    with pytest.raises(InputError, match="give one"):
        clark_thollard(["a"], mu=0.1)
    with pytest.raises(InputError, match="mu"):
        clark_thollard(["a"], mu=0, minimum=1)
