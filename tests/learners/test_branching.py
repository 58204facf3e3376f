"""Traces as a tree of inner nodes: following classes leads to the right child."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.results.trees import ArcLabel, TreeNode, hang_children, numbered_nodes

KEYS: list[ArcLabel] = [(0,), (1,), (2,), None]
"""The last one is that of class -1."""


@given(
    st.integers(1, 5).flatmap(
        lambda length: st.lists(
            st.tuples(*[st.integers(-1, 2)] * length), min_size=1, max_size=12, unique=True
        )
    )
)
def test_following_classes_leads_to_the_child(traces: list[tuple[int, ...]]) -> None:
    top, suffix = TreeNode(), tuple("abcde")[: len(traces[0])]
    leaves = [TreeNode(access_word=(place,)) for place in range(len(traces))]
    hang_children(top, suffix, leaves, traces, KEYS)
    inner = [node.suffix for node, _, _ in numbered_nodes(top) if node.suffix is not None]
    assert len(inner) <= max(1, len(traces) - 1)
    assert all(suffix[: len(prefix)] == prefix for prefix in inner)
    for leaf, trace in zip(leaves, traces, strict=True):
        node = top
        while node.suffix is not None:
            node = node.children[KEYS[trace[len(node.suffix) - 1]]]
        assert node is leaf


def test_a_class_after_the_whole_suffix() -> None:
    top, leaves = TreeNode(), [TreeNode(access_word=("a",)), TreeNode(access_word=("b",))]
    hang_children(top, ("a", "b"), leaves, [(2,), (-1,)], KEYS)
    assert top == TreeNode(suffix=("a", "b"), children={(2,): leaves[0], None: leaves[1]})
