"""The benchmark of networks runs, at a tiny size."""

from __future__ import annotations

import pytest

from tests.models.networks import needed_torch


@pytest.mark.slow
def test_steps_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    needed_torch()
    from benchmarks import networks

    monkeypatch.setattr(networks, "MOST_STATES", 10)
    timed = networks.network(8)
    result, total = networks.learnt(timed, 5)
    assert len(result.pdfa) == 10
    assert sum(timed.sizes) >= result.statistics.symbols
    assert 0 < timed.seconds < total
    assert timed.bare_seconds() > 0
    room, states, *_ = networks.in_memory(8, 5, 10**4)
    assert (room, states) == (83, 10)  # a word takes its state and 16 bytes
