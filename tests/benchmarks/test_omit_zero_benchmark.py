"""The benchmark of Omit-Zero runs, at tiny sizes, and its judge sees what is wrong."""

from __future__ import annotations

import pytest

from benchmarks import omit_zero


@pytest.mark.slow
def test_the_table_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["omit_zero", "20"])
    monkeypatch.setattr(omit_zero, "TARGETS_A_SIZE", 2)
    omit_zero.main()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "2 targets a size, 10 symbols, 90% zeros, κ=10."
    assert [line.split(" | ")[1] for line in printed[4:]] == list(omit_zero.WAYS)


def test_another_automaton_is_not_the_quotient() -> None:
    target = omit_zero.draw_target(20, 0)
    with pytest.raises(AssertionError, match="not the quotient"):
        omit_zero.measure(lambda pdfa: omit_zero.with_zeros(pdfa), target)
