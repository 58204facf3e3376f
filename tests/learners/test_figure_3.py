"""The classification tree of the paper's Figure 3."""

from __future__ import annotations

import pytest

from pdfalearn import Quantization, learn
from pdfalearn.datasets import figure_3
from pdfalearn.learning.loop import LEARNERS
from tests.learners.checks import leaves


@pytest.mark.parametrize("name", LEARNERS)
def test_the_tree_of_figure_3(name: str) -> None:
    result = learn(figure_3(), equivalence=Quantization(10), learner=name)
    tree = result.tree
    assert (result.statistics.tree_depth, result.statistics.inner_nodes) == (2, 2)
    assert tree.suffix == ()
    assert set(tree.children) == {(0, 5, 5), (1, 6, 3), (1, 3, 6)}
    (inner,) = [child for child in tree.children.values() if child.suffix is not None]
    assert inner.suffix == ("1",)
    assert set(inner.children) == {(1, 6, 3), (1, 3, 6)}
    assert all(child.suffix is None for child in inner.children.values())
    assert {leaf.access_word for leaf, _ in leaves(tree)} == set(result.access_words)
    assert sorted(leaf.distribution or () for leaf, _ in leaves(tree)) == [
        (0.0, 0.5, 0.5),
        (0.1, 0.3, 0.6),
        (0.1, 0.3, 0.6),
        (0.1, 0.6, 0.3),
    ]
