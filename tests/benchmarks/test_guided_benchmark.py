"""The benchmark of guided models runs, at tiny sizes."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial

import pytest

from benchmarks import guided
from pdfalearn.models import AutomatonModel


@pytest.mark.slow
def test_a_table_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def at_once(job: Callable[..., object], *arguments: object) -> object:
        return job(*arguments)

    cases = {
        "guided": partial(guided.guided, AutomatonModel, 3, 4, 2),
        "function": partial(guided.guided, guided.as_function, 3, 4, 2),
        "top-k": partial(guided.top_k, guided.as_function, 6),
    }
    monkeypatch.setattr(guided, "CASES", cases)
    monkeypatch.setattr(guided, "SYMBOLS", 50)
    monkeypatch.setattr(guided, "SUPPORT", 4)
    monkeypatch.setattr(guided, "in_a_process", at_once)
    monkeypatch.setattr(gc, "collect", lambda: 0)  # slow beside all that tests leave behind
    guided.main()
    title, empty, header, rule, *rows = capsys.readouterr().out.strip().splitlines()
    assert title.startswith("An alphabet of 50 symbols, 4 at most")
    assert not empty
    assert [row.split(" | ")[0] for row in rows] == [f"| {name}" for name in cases]
    assert {line.count("|") for line in (header, rule, *rows)} == {header.count("|")}
