from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Alphabet
from pdfalearn.alphabet import WordTree


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """A tree of words and some of its nodes."""
    size = draw(st.integers(1, 30))
    parents = [0, *(draw(st.integers(0, node - 1)) for node in range(1, size))]
    symbols = [0, *(draw(st.integers(0, 2)) for _ in range(1, size))]
    return parents, symbols, draw(st.lists(st.integers(0, size - 1), max_size=10))


@given(trees())
def test_the_words_are_those_of_the_nodes(tree: tuple[list[int], list[int], list[int]]) -> None:
    parents, symbols, nodes = tree
    found = WordTree.above(np.array(parents), np.array(symbols), np.array(nodes, dtype=np.int64))
    expected, needed = [], {0}
    for end in nodes:
        word, node = [], end
        while node:
            word.append("abc"[symbols[node]])
            needed.add(node)
            node = parents[node]
        expected.append(tuple(reversed(word)))
    assert found.decoded(Alphabet("abc")) == expected
    assert len(found) == len(nodes)
    assert (found.parents[1:] < np.arange(1, len(found.parents))).all()
    assert len(found.parents) == len(needed)


def test_long_words_with_long_prefixes_in_common() -> None:
    size = 20_000
    parents = np.concatenate(([0], np.arange(size), np.full(size, size)))
    symbols = np.concatenate((np.zeros(size + 1, int), np.arange(size)))
    alphabet = Alphabet(range(size))
    tree = WordTree.above(parents, symbols, np.arange(size + 1, 2 * size + 1))
    assert len(tree.parents) == 2 * size + 1
    few = WordTree(tree.parents, tree.symbols, tree.ends[[0, -1]])
    assert few.decoded(alphabet) == [(0,) * size + (code,) for code in (0, size - 1)]
