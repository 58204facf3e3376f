from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pdfalearn import PDFA, save
from pdfalearn.errors import InputError
from tests.io.samples import ENDINGS


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        (1.5, "1.5"),
        (True, "True"),
        (("a", 1), r"\('a', 1\)"),
        (2**63, "9223372036854775808"),
        (10**5000, r"\(an integer of 16610 bits\)"),
        ("\ud83d\ude00", r"'\\ud83d\\ude00'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_symbols_that_files_cannot_hold(
    symbol: Any, shown: str, ending: str, tmp_path: Path
) -> None:
    for alphabet, terminal in (([symbol], "$"), (["a"], symbol)):
        pdfa = PDFA(
            alphabet=alphabet, transitions=[[0]], probabilities=[[0.5, 0.5]], terminal=terminal
        )
        with pytest.raises(InputError, match=f"^symbol {shown} cannot be in a file: only strings"):
            save(pdfa, tmp_path / f"odd{ending}")
    assert list(tmp_path.iterdir()) == []
