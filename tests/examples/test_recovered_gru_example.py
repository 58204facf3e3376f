from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.networks import needed_torch

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "distilling.md"


def cells(line: str) -> list[str]:
    return line.strip("| ").split(" | ")


@pytest.mark.slow
def test_the_grammar_comes_out_of_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    needed_torch()
    from examples.recovered_gru import KAPPAS, TITLES, grammar, main

    main()
    table, _, transitions = capsys.readouterr().out.partition("\n\n")
    titles, _, *rows = map(cells, table.splitlines())
    assert titles == TITLES
    states = {row[0]: int(row[1].replace(",", "")) for row in rows}
    assert all(states[f"learnt, κ = {kappa}"] > 100 for kappa in KAPPAS)
    assert states["distilled, the knee"] == len(grammar()) == 4
    by_states = {int(row[1]): float(row[3]) for row in rows if row[0].startswith("distilled")}
    assert by_states[4] < 0.002 < 0.01 < by_states[3] < by_states[1]
    assert all(int(row[2].replace(",", "")) <= 4000 for row in rows)
    for line in transitions.splitlines()[1:]:
        true, found = line[:24].split(), line[24:].split()
        assert true[:3] == found[:3]
        assert abs(float(true[3]) - float(found[3])) < 0.03
    # The figures of another machine differ in their last digits.
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert f"| {' | '.join(titles)} |" in lines
    names = [row[0] for row in map(cells, lines) if row[0].startswith(("learnt, κ", "distilled"))]
    assert names == [row[0] for row in rows]
