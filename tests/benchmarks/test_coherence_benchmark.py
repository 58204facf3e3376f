"""What drawn pairs of beginnings show is what `coherence` computes, but for chance."""

from __future__ import annotations

import pytest

from pdfalearn import FunctionModel
from pdfalearn.metrics import coherence
from tests.support import need_module

need_module("torch")

from benchmarks import coherence as benchmark  # noqa: E402
from benchmarks.coherence import grid, sampled, shares_of  # noqa: E402


def test_cells_lead_to_their_neighbours() -> None:
    world = grid(3, 2)
    ends = [world.next_distribution(word) for word in ("n", "ee", "eee", "sw", "sene")]
    assert [end is None for end in ends] == [True, False, True, True, False]
    assert world.states_after(["esw", "s"]).tolist() == [1, 1]


@pytest.mark.slow
def test_drawn_pairs_agree_with_the_computed_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "DRAWN", 500)
    world, column = grid(3, 3), grid(1, 3)

    def answer(words: list[tuple[object, ...]]) -> list[list[float]]:
        """It knows how far down it is, and whether the last step was to the east."""
        found = [column.next_distribution([s for s in word if s in ("n", "s")]) for word in words]
        return [
            [0.2] * 5 if row is None or word[-1:] == ("e",) else row.tolist()
            for word, row in zip(words, found, strict=True)
        ]

    model = FunctionModel(answer, world.alphabet)
    found = coherence(model, world, least=benchmark.LEAST)
    assert shares_of(found) == pytest.approx(sampled(model, world, found.suffixes, 1), abs=0.06)
    assert 0.1 < found.compression < 0.99
    assert 0.1 < found.recall < 0.99
