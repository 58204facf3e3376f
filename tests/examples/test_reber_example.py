from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import Quantization, distinguish, load
from pdfalearn.datasets import reber
from tests.models.networks import needed_torch

PAGE = Path(__file__).parents[2] / "docs" / "gallery" / "reber.md"


@pytest.mark.slow
def test_the_grammar_comes_out_of_a_network(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    needed_torch()
    from examples.reber import main

    main(str(tmp_path / "learnt.json"))
    table = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert table.pop(1) == ["---"] * 9
    titles, truth, network, *learnt = table
    assert truth[0] == "the grammar"
    # The figures of another machine differ in their last digits.
    assert 1.7 < float(truth[-1]) < float(network[-1]) < 1.9
    assert all(1.7 < float(row[-1]) < 1.9 for row in learnt)
    grammar = [row for row in learnt if row[titles.index("as the grammar")] == "yes"]
    assert ["learnt, top 0.95", "3", "6"] in [row[:3] for row in grammar]
    learnt_grammar = load(tmp_path / "learnt.json")
    assert distinguish(learnt_grammar, reber(), equivalence=Quantization(3)) is None
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert f"| {' | '.join(titles)} |" in lines
    assert sum(line.startswith("| learnt") for line in lines) == len(learnt)
