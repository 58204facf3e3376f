"""Models whose answers are estimates: figures do not flatter, and the true size is the best."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.distilling.black_boxes import BlackBox, NoisyAnswers, random_target
from pdfalearn import Budget, Frontier, distill
from pdfalearn.distilling.noise import _estimate_noise
from pdfalearn.metrics.comparing import directed_divergence

TARGET = random_target(12, 2, seed=5)
DRAWS = 5_000


def noisy(seed: int, symbols: int = 4_000) -> Frontier:
    model = NoisyAnswers(TARGET, DRAWS, seed)
    sizes = [4, 12, 40, 180]
    return distill(model, budget=Budget(max_symbols=symbols), sizes=sizes, seed=seed)


@pytest.mark.slow
def test_noise_is_mostly_not_learnt() -> None:
    """One seed in four or so takes a larger automaton all the same."""
    sizes, held = [], []
    for seed in range(4):
        frontier = noisy(seed)
        certificate = frontier.certificate
        assert certificate.kind == "unsteady"
        assert "asked again" in str(certificate)
        assert "is subtracted" in str(certificate)
        sizes.append(len(frontier.best))
        for point in frontier:
            true = directed_divergence(TARGET, point.pdfa).per_symbol
            held.append(point.low <= true <= point.high)
        if sizes[-1] == 12:  # on the words that were learnt from, noise is a part of the divergence
            point = frontier.point(12)
            assert point.training_divergence == pytest.approx(2 / 2 / DRAWS, rel=0.3)
            assert point.divergence < point.training_divergence
    assert sizes.count(12) >= 3
    assert np.mean(held) >= 0.8


def test_budgets_hold_for_noisy_models() -> None:
    details = noisy(1, 500).certificate.details["otherwise"]["details"]  # type: ignore[index]
    assert details["symbols_asked"] <= 500
    assert details["asked_again"] > 0


def test_steady_models_are_asked_little_again() -> None:
    frontier = distill(BlackBox(TARGET), budget=Budget(max_symbols=500), sizes=[12], audit=3)
    details = frontier.certificate.details
    assert "noise" not in details
    assert int(str(details["audited_words"])) <= 3 + 2


def test_the_noise_of_answers() -> None:
    random = np.random.default_rng(1)
    first, second = random.dirichlet([300.0, 500.0, 200.0], (2, 400))
    noise, error = _estimate_noise(first, second)
    assert error < 0.1 * noise
    # Half the sum of variances over probabilities: (symbols - 1) / 2 / draws.
    assert noise == pytest.approx(2 / 2 / 1001, abs=3 * error)
    assert _estimate_noise(first[:1], second[:1]) == (0.0, 0.0)


@pytest.mark.parametrize("is_noisy", [False, True])
def test_intervals_cover_the_truth(is_noisy: bool) -> None:
    # Of a noisy model only a fifth of the budget is for asking held-out words again.
    held, symbols = [], 4_000 if is_noisy else 600
    for seed in range(6):
        model = NoisyAnswers(TARGET, DRAWS, seed) if is_noisy else BlackBox(TARGET)
        budget = Budget(max_symbols=symbols)
        for point in distill(model, budget=budget, sizes=[1, 2, 4], seed=seed):
            true = directed_divergence(TARGET, point.pdfa).per_symbol
            held.append(point.low <= true + 1e-9 and true <= point.high)
    assert len(held) == 18
    assert np.mean(held) >= 0.8
