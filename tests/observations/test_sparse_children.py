"""Children of large alphabets: all at once or one by one, they are found again."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn.observations.nodes import NodeTable


@pytest.mark.slow
def test_children_are_found_again_however_they_were_made() -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        width = int(random.choice([33, 40, 1000]))
        table = NodeTable(width)
        child_of: dict[tuple[int, int], int] = {}
        for _ in range(12):
            nodes = np.unique(random.integers(table.size, size=4))
            if random.random() < 0.5:
                symbols = np.tile(np.arange(width), len(nodes))
                parents, found = np.repeat(nodes, width), table.successors(nodes)
            else:
                parents = random.choice(nodes, 30)
                symbols = random.integers(width, size=30)
                found = table.step(parents, symbols)
            for parent, symbol, child in zip(
                parents.tolist(), symbols.tolist(), found.tolist(), strict=True
            ):
                assert child_of.setdefault((parent, symbol), child) == child
                assert (table.parent[child], table.last_symbol[child]) == (parent, symbol)
                assert table.step_one(parent, symbol) == child
        assert sorted(child_of.values()) == list(range(1, table.size))
