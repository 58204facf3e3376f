"""Long work is asked for in batches that end: so progress moves, and Ctrl-C stops in between."""

from __future__ import annotations

from collections.abc import Hashable

from pdfalearn import Exact, FunctionModel, learn
from pdfalearn.oracles import AllWordsOracle
from pdfalearn.results import Progress


def test_progress_moves_within_one_long_question() -> None:
    sizes: list[int] = []
    news: list[Progress] = []

    def fair(words: list[tuple[Hashable, ...]]) -> list[list[float]]:
        sizes.append(len(words))
        return [[0.5, 0.25, 0.25]] * len(words)

    oracle = AllWordsOracle(max_length=14)
    learn(FunctionModel(fair, "ab"), equivalence=Exact(), oracle=oracle, progress=news.append)
    assert sum(sizes) >= 2**15 - 1
    assert max(sizes) <= 2**13
    assert len(news) >= 4
