"""Tables that cannot fit into memory are refused before they are made."""

from __future__ import annotations

import pytest

from pdfalearn import FunctionModel, Guided, checks
from pdfalearn.errors import InputError
from tests.support import need_module


def test_the_table_of_a_regular_expression_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    need_module("interegular")
    monkeypatch.setattr(checks, "available_memory", lambda: 2**20)
    model = FunctionModel(lambda words: [], map(str, range(1000)))
    with pytest.raises(
        InputError, match=r"301 states of '1\{300\}' and 1,000 symbols need .*; use a simpler"
    ):
        Guided(model, "1{300}")
