from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.simplified_trigram import main
from tests.support import need_module

PAGE = Path(__file__).parents[2] / "docs" / "gallery" / "phones.md"
ROW = re.compile(r"^\| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


@pytest.mark.slow
def test_it_prints_the_figures_of_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    need_module("pocketsphinx")
    main()
    printed = ROW.findall(capsys.readouterr().out)
    expected = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len(printed) == 6
    assert [row[0] for row in printed] == [row[0] for row in expected]
    for (_, *values), (_, *others) in zip(printed, expected, strict=True):
        # Rounding of machines differs, and with it which of nearly equal merges comes first.
        assert list(map(float, values)) == pytest.approx(list(map(float, others)), rel=0.03)
