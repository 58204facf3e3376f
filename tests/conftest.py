"""Settings of all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# No deadlines: the machine may be busy. In CI a run must give the same result twice.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, max_examples=5)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where PDFALEARN_QUICK is 1, keep one case of every test."""
    if os.environ.get("PDFALEARN_QUICK") != "1":
        return
    firsts = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
    kept = [item for item in items if firsts[item.nodeid.partition("[")[0]] is item]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


@pytest.fixture(autouse=True, scope="session")
def _interrupts() -> Iterator[None]:
    """Let interrupts come through, to the tests and to the programs that they start.

    A shell without job control makes what it starts in the background ignore them, and all
    programs that are started from there do the same.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
