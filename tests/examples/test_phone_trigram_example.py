from __future__ import annotations

from pathlib import Path

import pytest

from examples.phone_trigram import main
from tests.support import need_module

PAGE = Path(__file__).parents[2] / "docs" / "gallery" / "phones.md"


@pytest.mark.slow
def test_it_prints_the_figures_of_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    need_module("pocketsphinx")
    main()
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 11
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for line in printed:
        assert line in lines, "run python -m examples.phone_trigram and put its figures in the page"
