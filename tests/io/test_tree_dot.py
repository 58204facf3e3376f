from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pdfalearn import save
from pdfalearn.errors import InputError
from pdfalearn.io.tree_files import (
    MOST_LEAVES,
    MOST_LEAVES_DOWNWARDS,
    render_tree,
    tree_to_dot,
)
from pdfalearn.results.trees import TreeNode
from tests.io.sample_trees import FIGURE_3, deep, leaf, star
from tests.support import need_program
from tests.viewing.picture_samples import SIGNATURES, texts_of


def test_figure_3_as_in_the_paper() -> None:
    text = tree_to_dot(FIGURE_3)
    nodes = dict(re.findall(r'^ *(\d+) \[label="([^"]*)"', text, re.MULTILINE))
    arcs = re.findall(r'^ *(\d+) -> (\d+) \[label=" ([^"]*) "', text, re.MULTILINE)
    assert {(nodes[a], label, nodes[b]) for a, b, label in arcs} == {
        ("λ", "(0, 5, 5)", r"λ\n(0, 0.5, 0.5)"),
        ("λ", "(1, 3, 6)", "1"),
        ("λ", "(1, 6, 3)", r"1\n(0.1, 0.6, 0.3)"),
        ("1", "(1, 3, 6)", r"0\n(0.1, 0.3, 0.6)"),
        ("1", "(1, 6, 3)", r"01\n(0.1, 0.3, 0.6)"),
    }


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_pictures_are_saved(kind: str, tmp_path: Path) -> None:
    need_program("dot")
    save(FIGURE_3, tmp_path / f"tree.{kind}")
    assert (tmp_path / f"tree.{kind}").read_bytes().startswith(SIGNATURES[kind])


def test_symbols_of_several_characters_have_spaces_between_them() -> None:
    assert r'"up a\n(0.25, 0.75)"' in tree_to_dot(
        TreeNode(suffix=(), children={(): leaf("up", "a")})
    )
    assert r'"ba\n(0.25, 0.75)"' in tree_to_dot(TreeNode(suffix=(), children={(): leaf("b", "a")}))


@pytest.mark.parametrize(
    ("symbol", "shown"), [('"', '"'), ("\\", "\\"), ("&lt;", "&lt;"), ("\n", r"'\n'"), ("", "''")]
)
def test_symbols_are_seen_as_they_are(symbol: str, shown: str) -> None:
    need_program("dot")
    tree = TreeNode(suffix=(symbol,), children={(1,): leaf(symbol)})
    assert [text.strip() for text in texts_of(render_tree(tree, "svg").decode())] == [
        shown,
        shown,
        "(0.25, 0.75)",
        "(1)",
    ]


def test_long_words_and_wide_distributions_are_cut() -> None:
    wide = TreeNode(access_word=("a",) * 1000, distribution=(0.01,) * 100)
    text = tree_to_dot(TreeNode(suffix=("b",) * 1000, children={tuple(range(100)): wide}))
    assert f'"{"b" * 15}…985 more"' in text
    assert f'"{"a" * 15}…985 more\\n(' in text
    assert '" (0, 1, 2, 3, 4, 5, 6, …93 more) "' in text


def test_large_intervals_are_whole_and_probabilities_short() -> None:
    tree = TreeNode(suffix=(), children={(1234567, 1 / 3): leaf()})
    assert '" (1234567, 0.3333) "' in tree_to_dot(tree)


def test_trees_of_many_leaves_grow_to_the_right() -> None:
    assert "rankdir=TB" in tree_to_dot(star(MOST_LEAVES_DOWNWARDS))
    assert "rankdir=LR" in tree_to_dot(star(MOST_LEAVES_DOWNWARDS + 1))


@pytest.mark.parametrize("make", [star, deep])
def test_pictures_of_many_leaves_are_refused(
    make: Callable[[int], TreeNode], tmp_path: Path
) -> None:
    tree = make(MOST_LEAVES + 1)
    with pytest.raises(InputError, match=r"^a picture of 301 leaves won't help; learn at a smal"):
        save(tree, tmp_path / "tree.svg")
    save(tree, tmp_path / "tree.dot")
    assert [path.name for path in tmp_path.iterdir()] == ["tree.dot"]


def test_pictures_of_many_leaves_are_drawn_up_to_the_limit() -> None:
    need_program("dot")
    assert render_tree(star(MOST_LEAVES), "svg").count(b"<polygon") > MOST_LEAVES
