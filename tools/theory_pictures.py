"""Draw the pictures of docs/explanation/theory.md: ``python -m tools.theory_pictures``.

It needs Graphviz's program dot.
"""

from __future__ import annotations

from pathlib import Path

from pdfalearn import Quantization, learn, save
from pdfalearn.datasets import figure_1, figure_2, figure_3

_FOLDER = Path(__file__).parents[1] / "docs" / "explanation"


def main() -> None:
    """Write every picture beside the page."""
    save(figure_1(), _FOLDER / "one-loop.svg")
    first, second = figure_2()
    save(first, _FOLDER / "same-function-a.svg")
    save(second, _FOLDER / "same-function-b.svg")
    save(figure_3(), _FOLDER / "four-states.svg")
    tree = learn(figure_3(), equivalence=Quantization(10)).tree
    assert tree is not None  # noqa: S101
    save(tree, _FOLDER / "four-states-tree.svg")


if __name__ == "__main__":
    main()
