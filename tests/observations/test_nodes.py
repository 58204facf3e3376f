"""Words as nodes, one at a time and many at once; suffixes that are kept once."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn.observations.nodes import EMPTY, UNDEFINED, NodeTable, Suffixes

ALPHABETS = pytest.mark.parametrize("symbols", [1, 3, 32, 33, 1000])


class Words:
    """A table of nodes, with the word of every node that was ever given."""

    def __init__(self, symbols: int) -> None:
        self.table = NodeTable(symbols)
        self.node_of: dict[tuple[int, ...], int] = {(): 0}

    def check(self, word: tuple[int, ...], node: int) -> None:
        assert self.node_of.setdefault(word, node) == node
        assert tuple(self.table.word(node)) == word

    def some(self, random: np.random.Generator, count: int) -> list[tuple[int, ...]]:
        known = list(self.node_of)
        return [known[place] for place in random.integers(0, len(known), count)]


@ALPHABETS
def test_steps_agree_one_by_one_and_at_once(symbols: int) -> None:
    random = np.random.default_rng(symbols)
    words = Words(symbols)
    for _ in range(60):
        before = words.some(random, int(random.integers(1, 60)))
        codes = random.integers(0, symbols, len(before))
        nodes = np.array([words.node_of[word] for word in before])
        if random.random() < 0.5:
            after = words.table.step(nodes, codes).tolist()
        else:
            pairs = zip(nodes.tolist(), codes.tolist(), strict=True)
            after = [words.table.step_one(*pair) for pair in pairs]
        for word, code, node in zip(before, codes.tolist(), after, strict=True):
            words.check((*word, code), node)
    assert len(set(words.node_of.values())) == len(words.node_of) == words.table.size


@ALPHABETS
def test_suffixes_are_followed_one_by_one_and_at_once(symbols: int) -> None:
    random = np.random.default_rng(symbols)
    words, suffixes = Words(symbols), Suffixes()
    for _ in range(40):
        before = words.some(random, int(random.integers(1, 20)))
        lengths = random.integers(0, 16, len(before)).tolist()
        tails = [tuple(random.integers(0, min(symbols, 2), n).tolist()) for n in lengths]
        nodes = np.array([words.node_of[word] for word in before])
        numbers = np.array([suffixes.add_word(tail) for tail in tails])
        if random.random() < 0.5:
            ends = words.table.descend(nodes, numbers, suffixes).tolist()
        else:
            pairs = zip(nodes.tolist(), numbers.tolist(), strict=True)
            ends = [words.table.descend_one(*pair, suffixes) for pair in pairs]
        for word, tail, end in zip(before, tails, ends, strict=True):
            words.check(word + tail, end)


@ALPHABETS
def test_successors_are_in_order(symbols: int) -> None:
    words = Words(symbols)
    table = words.table
    one = table.step_one(0, symbols - 1)
    for nodes in ([0], [one], [0, one]):
        found = table.successors(np.array(nodes)).tolist()
        expected = [[*table.word(node), code] for node in nodes for code in range(symbols)]
        assert [table.word(node) for node in found] == expected
    assert table.size == 1 + symbols + symbols


@ALPHABETS
def test_undefined_words_lead_to_themselves(symbols: int) -> None:
    table, suffixes = NodeTable(symbols), Suffixes()
    first, second = table.step_one(0, 0), table.step_one(table.step_one(0, 0), 0)
    table.mark_undefined(np.array([first, second]))
    size = table.size
    long = suffixes.add_word([0] * 20)
    for node in (first, second):
        assert table.step_one(node, 0) == node
        assert table.step(np.array([node]), np.array([0])).tolist() == [node]
        assert table.descend_one(node, long, suffixes) == node
        assert table.class_at[node] == UNDEFINED
    assert table.size == size


@ALPHABETS
def test_repetitions_are_dropped_in_order(symbols: int) -> None:
    table = NodeTable(symbols)
    nodes = [table.step_one(0, 0)]
    nodes.append(table.step_one(nodes[0], 0))
    one, two = nodes
    assert table.different(np.array([two, 0, two, one, 0, one])).tolist() == [two, 0, one]


def test_suffixes_share_their_ends() -> None:
    suffixes = Suffixes()
    whole = [suffixes.add_word([2, 1, 0, 1][begin:]) for begin in range(5)]
    assert [suffixes.word(number) for number in whole] == [[2, 1, 0, 1], [1, 0, 1], [0, 1], [1], []]
    assert [suffixes.lengths[number] for number in whole] == [4, 3, 2, 1, 0]
    assert suffixes.add_word([1, 0, 1]) == whole[1]
    assert suffixes.add(2, whole[1]) == whole[0]
    assert suffixes.add_word([]) == EMPTY
    firsts, rests, lengths = suffixes.arrays()
    assert (firsts[whole[0]], rests[whole[0]], lengths[whole[0]]) == (2, whole[1], 4)
    longer = suffixes.add_word([0, 2, 1, 0, 1])
    firsts, rests, lengths = suffixes.arrays()
    assert (firsts[longer], rests[longer], lengths[longer]) == (0, whole[0], 5)
