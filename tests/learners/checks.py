"""What must hold of everything that is learnt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from pdfalearn import PDFA, quotient
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.learners.protocol import Learner
from pdfalearn.results import Progress
from pdfalearn.results.trees import ArcLabel, TreeNode, Word

Path = dict[Word, ArcLabel]
"""The arcs from the root to a leaf: distinguishing suffix and label."""


def assert_is_quotient(learnt: PDFA, target: PDFA, equivalence: Equivalence) -> None:
    """Quotients are numbered breadth first: they are isomorphic iff their tables are equal."""
    expected, found = (
        quotient(target, equivalence=equivalence),
        quotient(learnt, equivalence=equivalence),
    )
    assert len(learnt) == len(expected)
    assert found.transitions.tolist() == expected.transitions.tolist()
    assert np.array_equal(
        equivalence.keys(found.probabilities), equivalence.keys(expected.probabilities)
    )


def untimed(progress: Progress) -> Progress:
    """Leave out what differs from run to run."""
    seconds: dict[str, Any] = {name: 0.0 for name in vars(progress) if name.endswith("seconds")}
    return replace(progress, **seconds)


def leaves(node: TreeNode, path: Path | None = None) -> Iterator[tuple[TreeNode, Path]]:
    """Yield every leaf with the arcs that lead to it."""
    path = path or {}
    if node.suffix is None:
        yield node, path
    for label, child in node.children.items():
        assert node.suffix is not None
        yield from leaves(child, {**path, node.suffix: label})


def shape(node: TreeNode) -> tuple[int, int]:
    """Return the depth of a tree and the number of its inner nodes."""
    if node.suffix is None:
        return 0, 0
    shapes = [shape(child) for child in node.children.values()]
    return 1 + max(depth for depth, _ in shapes), 1 + sum(inner for _, inner in shapes)


def label_after(target: PDFA, word: Word, equivalence: Equivalence) -> ArcLabel:
    """Return the key of the target's class after a word; None where it is undefined."""
    row = target.next_distribution(word)
    return None if row is None else tuple(equivalence.keys(row[None])[0].tolist())


def assert_tree_is_sound(learner: Learner, smallest: PDFA, equivalence: Equivalence) -> None:
    """Check the invariants of §3 against the quotient of the target."""
    alphabet, kept = smallest.alphabet, learner.findings().tree
    assert kept is not None
    access_words = learner.findings().access_words.decoded(alphabet)
    tree = kept.to_nodes(alphabet, access_words, np.empty((0, len(alphabet) + 1)))
    found = list(leaves(tree))
    words = [leaf.access_word for leaf, _ in found if leaf.access_word is not None]
    assert tree.suffix == ()
    assert () in words
    assert sorted(words) == sorted(access_words)
    assert len(words) == len(found) == learner.size == len(learner.hypothesis()) <= len(smallest)
    states = [smallest.state_after(word) for word in words]
    assert None not in states
    assert len(set(states)) == len(states)
    for (leaf, path), word in zip(found, words, strict=True):
        assert leaf.distribution is not None
        row = np.array([leaf.distribution])
        assert tuple(equivalence.keys(row)[0].tolist()) == label_after(smallest, word, equivalence)
        for suffix, label in path.items():
            assert label == label_after(smallest, word + suffix, equivalence)
    for (_, left), (_, right) in combinations(found, 2):
        assert any(left[suffix] != right[suffix] for suffix in left.keys() & right.keys())
    findings = learner.findings()
    held, shown = (findings.tree_depth, findings.inner_nodes), shape(tree)
    if learner.observations.query_cost.prefix == 0:  # a suffix may be shown as several nodes
        assert held[0] <= shown[0]
        assert held[1] <= shown[1]
    else:
        assert held == shown
