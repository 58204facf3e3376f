"""The benchmark of budgets runs, at a tiny size."""

from __future__ import annotations

import pytest

from benchmarks import budgets
from pdfalearn import learn
from tests.models.networks import needed_torch


def test_noise_depends_on_the_last_symbols() -> None:
    pdfa = budgets.skewed_pdfa(5, 3, 1)
    model = budgets.NoisyModel(pdfa, noise=0.0)
    assert len(learn(model).pdfa) == len(learn(pdfa).pdfa)
    noisy = budgets.NoisyModel(pdfa, noise=0.1, memory=1)
    assert 5 < len(learn(noisy).pdfa) <= 5 * 4
    assert 0 < budgets.divergence(noisy, pdfa, 50) < 0.05


def test_it_prints_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(budgets, "BUDGETS", (50, 200))
    monkeypatch.setattr(budgets, "WORDS", 20)
    budgets.main(["noisy", "--seeds", "1"])
    header, rule, *rows = capsys.readouterr().out.strip().splitlines()
    assert len(rows) == len(budgets.KAPPAS)
    assert {line.count("|") for line in (header, rule, *rows)} == {5}
    with pytest.raises(SystemExit):
        budgets.main(["nothing"])


@pytest.mark.slow
def test_networks_learn_what_they_are_trained_on() -> None:
    needed_torch()
    pdfa = budgets.skewed_pdfa(3, 4, 1)
    before, after = (budgets.trained_gru(pdfa, 1, steps=steps) for steps in (1, 100))
    errors = [budgets.divergence(pdfa, model, 100) for model in (before, after)]
    assert errors[1] < errors[0] / 4
