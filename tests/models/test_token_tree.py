"""Trees of tokens and the passes through them, against walks from node to node."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.models._token_tree import PassPlanner, TokenTree
from tests.support import examples

PREFIXES = ((), (7,), (7, 8), (9,))
PROMPT = 2


@st.composite
def trees(draw: st.DrawFn) -> TokenTree:
    """Draw a tree some of whose nodes are kept, wherever they stand."""
    kept: list[bool] = []
    tree = TokenTree(5, lambda nodes: np.array(kept)[nodes])
    for _ in range(draw(st.integers(0, 5))):
        end = tree.size + draw(st.integers(0, 8))
        parents = [draw(st.integers(0, node - 1)) for node in range(tree.size, end)]
        tokens = draw(st.lists(st.integers(0, 9), min_size=len(parents), max_size=len(parents)))
        tree.add(np.array(parents, dtype=np.int64), np.array(tokens, dtype=np.int64))
    kept += draw(st.lists(st.booleans(), min_size=tree.size, max_size=tree.size))
    return tree


def is_kept(tree: TokenTree, node: int) -> bool:
    return bool(tree.is_kept(np.array([node]))[0])


def line(tree: TokenTree, node: int) -> list[int]:
    """Return a node and all before it."""
    nodes = []
    while node >= 0:
        nodes.append(node)
        node = int(tree.parents[node])
    return nodes


@examples(200)
@given(trees())
def test_depths_count_what_stands_before(tree: TokenTree) -> None:
    expected = [len(line(tree, node)) - 1 for node in range(tree.size)]
    assert tree.depths[: tree.size].tolist() == expected


@examples(200)
@given(trees(), st.data())
def test_passes_hold_what_is_needed_and_no_more(tree: TokenTree, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(0, tree.size - 1), min_size=1))
    nodes = np.array(sorted(chosen))
    needed = {above for node in chosen for above in line(tree, node)}
    assert tree.closure(nodes).tolist() == sorted(needed)
    new = {node for node in needed if not is_kept(tree, node)} | chosen

    step = PassPlanner(tree, PREFIXES, PROMPT).plan(nodes)
    assert step.new.tolist() == sorted(new)
    assert step.context.tolist() == sorted(needed - new)
    seen = [*(["prompt"] * PROMPT), *step.context.tolist(), *step.new.tolist()]
    behind = [(node, prefix) for node in nodes.tolist() for prefix in PREFIXES[1:]]
    texts: list[tuple[int, tuple[int, ...]]] = [(node, ()) for node in step.new.tolist()]
    for place, (node, prefix) in enumerate([*texts, *behind]):
        assert step.tokens[place] == (prefix[-1] if prefix else tree.tokens[node])
        assert step.positions[place] == PROMPT + len(line(tree, node)) - 1 + len(prefix)
        own = {"prompt", *line(tree, node)}
        wanted = [column in own for column in seen]
        wanted += [node == n and p == prefix[: len(p)] for n, p in behind]
        assert step.sees[place].tolist() == wanted
    places = [sorted(new).index(node) for node in nodes.tolist()]
    assert step.read.tolist() == places + list(range(len(new), len(new) + len(behind)))
    assert (tree._scratch[: tree.size] == -1).all()


@examples(200)
@given(trees(), st.data())
def test_new_tokens_are_counted_once(tree: TokenTree, data: st.DataObject) -> None:
    nodes = sorted(data.draw(st.sets(st.integers(0, tree.size - 1), min_size=1)))
    counted: set[int] = set()
    expected = []
    for node in nodes:
        above = line(tree, node)[1:]
        until = next((n for n, each in enumerate(above) if is_kept(tree, each)), len(above))
        mine = {node, *above[:until]} - counted
        counted |= mine
        expected.append(len(mine))
    assert tree.count_new(np.array(nodes)).tolist() == expected
