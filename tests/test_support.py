"""What is missing is skipped visibly, and is a failure where nothing may be skipped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import need_module, need_program

NEEDS = pytest.mark.parametrize("need", [need_module, need_program])


@NEEDS
def test_what_is_missing_is_skipped(
    need: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PDFALEARN_NO_SKIPS", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no_such_thing is not installed"):
        need("no_such_thing")


@NEEDS
def test_what_is_missing_fails_where_nothing_may_be_skipped(
    need: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PDFALEARN_NO_SKIPS", "1")
    with pytest.raises(pytest.fail.Exception, match="no_such_thing is not installed"):
        need("no_such_thing")


def test_a_module_that_is_there_is_imported() -> None:
    assert need_module("json").dumps([1]) == "[1]"
