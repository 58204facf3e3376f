"""The benchmark of the metrics runs, at tiny sizes."""

from __future__ import annotations

import pytest

from benchmarks import metrics


@pytest.mark.slow
def test_every_row_is_measured() -> None:
    assert metrics.on_drawn_words(20, 3, 0.5, 50)[:4] == ["drawn words", 20, 3, 50]
    assert metrics.over_all_words(20, 3, 0.02)[:3] == ["all words", 20, 3]
    assert metrics.on_rows(3, 100)[5] == 100
