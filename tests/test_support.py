"""What is missing is skipped visibly, and is a failure where nothing may be skipped."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings

from tests.support import examples, mostly_slow, need_module, need_program

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


def test_all_but_the_first_values_are_slow() -> None:
    for values in (["a", "b", "c"], dict.fromkeys("abc").keys()):
        first, *rest = mostly_slow(values)
        assert first == "a"
        assert rest == [pytest.param(value, marks=pytest.mark.slow) for value in "bc"]
    assert mostly_slow(range(3), 2)[:2] == [0, 1]


@pytest.mark.parametrize(("profile", "expected"), [("here", 200), ("ci", 200), ("quick", 10)])
def test_the_quick_suite_has_fewer_examples(profile: str, expected: int) -> None:
    share = settings.get_profile(profile).max_examples / settings().max_examples
    assert share * examples(200).max_examples == pytest.approx(expected)
    assert examples(1).max_examples == 1
