"""The classification tree in arrays: arcs one by one and many at once, and where paths part."""

from __future__ import annotations

import numpy as np

from pdfalearn.learners.classification_tree import (
    LEAF,
    ROOT,
    UNDEFINED_LEAF,
    ClassificationTree,
)
from pdfalearn.observations.tree import UNDEFINED


def test_a_new_tree_has_the_leaf_of_undefined_words() -> None:
    tree = ClassificationTree()
    assert tree.child(ROOT, UNDEFINED) == UNDEFINED_LEAF
    assert tree.size == 2
    assert tree.suffix_of[ROOT] == 0
    assert tree.suffix_of[UNDEFINED_LEAF] == LEAF
    assert tree.state_of[UNDEFINED_LEAF] == -1


def test_arcs_agree_one_by_one_and_at_once() -> None:
    random = np.random.default_rng(1)
    tree = ClassificationTree()
    child_of = {(ROOT, UNDEFINED): UNDEFINED_LEAF}
    for _ in range(40):
        count = int(random.choice([1, 10, 100, 2000]))
        nodes = random.integers(0, min(tree.size, 500), count)
        labels = random.integers(-1, 30, count)
        pairs = list(zip(nodes.tolist(), labels.tolist(), strict=True))
        if random.random() < 0.5:
            children = tree.children(nodes, labels).tolist()
        else:
            children = [tree.child(*pair) for pair in pairs]
        for pair, child in zip(pairs, children, strict=True):
            assert child_of.setdefault(pair, child) == child
            assert (tree.parent_of[child], tree.label_of[child]) == pair
            assert tree.depth_of[child] == tree.depth_of[pair[0]] + 1
            assert tree.suffix_of[child] == LEAF
    assert sorted(child_of.values()) == list(range(1, tree.size))


def test_paths_part_at_the_least_common_ancestor() -> None:
    tree = ClassificationTree()
    left = tree.child(ROOT, 4)
    right = tree.child(ROOT, 7)
    lower = tree.child(left, 5)
    lowest = tree.child(lower, 6)
    beside = tree.child(lower, UNDEFINED)
    lefts, rights, expected = zip(
        (lowest, beside, lower),
        (beside, lowest, lower),
        (lowest, right, ROOT),
        (right, lowest, ROOT),
        (right, UNDEFINED_LEAF, ROOT),
        (tree.child(left, 9), lowest, left),
        (lowest, lowest, lowest),
        (left, lowest, left),
        strict=True,
    )
    assert tree.meetings(np.array(lefts), np.array(rights)).tolist() == list(expected)
