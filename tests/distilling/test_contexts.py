"""Automata of contexts, against sets of suffixes and plain means."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.distilling import contexts
from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.machines import Machine
from tests.distilling.trees import PlainTree, Word, random_tree, state_after, trees
from tests.support import examples

MARK = -1
"""Stands before the first symbol of every word."""
PRIOR_WEIGHT = 0.2
"""As if this many words had shown the row of the context one symbol shorter."""


@pytest.fixture(autouse=True, scope="module")
def _prior_weight() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contexts, "_PRIOR_WEIGHT", PRIOR_WEIGHT)
        yield


def marked(word: Word) -> Word:
    return (MARK, *word)


def suffixes(word: Word) -> list[Word]:
    return [word[begin:] for begin in range(len(word) + 1)]


def contexts_of(machine: Machine, tree: PlainTree) -> dict[Word, int]:
    """Find out which state each chosen context has: no two contexts have the same row."""
    rows = {context: mean_row(tree, context) for context in all_contexts(tree)}
    found = {
        context: state
        for state, row in enumerate(machine.rows)
        for context, mean in rows.items()
        if np.allclose(mean, row, rtol=1e-10, atol=0)
    }
    assert sorted(found.values()) == list(range(len(machine.rows)))
    return found


def mean_row(tree: PlainTree, context: Word) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the mean answer after a context, drawn to that of one without its first symbol."""
    mine = [word for word in tree.words if context in suffixes(marked(word))]
    weights = np.array([tree.weights[word] for word in mine])
    sums = weights @ np.array([tree.answers[word] for word in mine])
    if not context:
        return np.asarray(sums / weights.sum())
    drawn_to = PRIOR_WEIGHT * mean_row(tree, context[1:])
    return np.asarray((sums + drawn_to) / (weights.sum() + PRIOR_WEIGHT))


def all_contexts(tree: PlainTree, longest: int = 11) -> set[Word]:
    ends = (end for word in tree.words for end in suffixes(marked(word)))
    return {end for end in ends if len(end) <= longest}


@examples(30)
@given(trees(25))
def test_with_room_for_all_every_word_is_its_own_context(tree: PlainTree) -> None:
    machine = Contexts(tree.evidence(), 10**6).machine(10**6)
    words = [word for word in tree.words if len(word) < 11]
    assert len(machine.rows) == len(all_contexts(tree))
    assert len({state_after(machine, word) for word in words}) == len(words)
    for word in words:
        row = machine.rows[state_after(machine, word)]
        assert row == pytest.approx(mean_row(tree, marked(word)))


@examples(30)
@given(trees(30), st.integers(1, 12))
def test_so_many_at_most_each_with_a_distribution(tree: PlainTree, most: int) -> None:
    machine = Contexts(tree.evidence(), most).machine(most)
    assert len(machine.rows) == min(most, len(all_contexts(tree)))
    assert machine.rows.sum(axis=1) == pytest.approx(np.ones(len(machine.rows)))
    assert machine.transitions.min(initial=0) >= 0
    assert machine.transitions.max(initial=0) < len(machine.rows)


@pytest.mark.parametrize("most", [1, 2, 4, 9, 15])
@pytest.mark.parametrize("seed", range(2))
def test_the_state_after_any_word_is_its_longest_suffix(seed: int, most: int) -> None:
    tree = random_tree(seed, 2, 60, zeros=False)
    machine = Contexts(tree.evidence(), most).machine(most)
    found = contexts_of(machine, tree)
    for length in range(7):
        for word in product(range(2), repeat=length):  # most of them were never seen
            known = [end for end in suffixes(marked(word)) if end in found]
            assert state_after(machine, word) == found[max(known, key=len)]


@pytest.mark.parametrize("seed", range(2))
def test_suffixes_and_prefixes_of_contexts_are_contexts(seed: int) -> None:
    tree = random_tree(seed, 2, 60, zeros=False)
    chosen = contexts_of(Contexts(tree.evidence(), 12).machine(12), tree).keys()
    assert len(chosen) == 12
    assert {context[1:] for context in chosen if context} <= chosen
    assert {context[:-1] for context in chosen if len(context) > 1} <= chosen


def test_a_context_that_brings_more_comes_first() -> None:
    def row(word: Word) -> list[float]:
        return [0.1, 0.8, 0.1] if word[-1:] == (0,) else [0.1, 0.1, 0.8]

    words: list[Word] = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]
    tree = PlainTree(2, dict.fromkeys(words, 4.0), {word: row(word) for word in words})
    machine = Contexts(tree.evidence(), 3).machine(3)
    assert len(machine.rows) == 3  # nothing, the beginning, and 0
    after_zero = {state_after(machine, word) for word in words if word[-1:] == (0,)}
    assert len(after_zero) == 1
    assert machine.rows[after_zero.pop(), 1] > 0.7
