"""Models whose answers are estimates: figures do not flatter, and the true size is the best."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.distilling.black_boxes import BlackBox, NoisyAnswers, random_target
from pdfalearn import Budget, Frontier, distill
from pdfalearn.distilling.noise import _estimate_noise
from pdfalearn.metrics.comparing import directed_divergence
from tests.support import mostly_slow

TARGET = random_target(12, 2, seed=5)
DRAWS = 5_000


def noisy(seed: int, symbols: int = 4_000) -> Frontier:
    model = NoisyAnswers(TARGET, DRAWS, seed)
    sizes = [4, 12, 40, 180]
    return distill(model, budget=Budget(max_symbols=symbols), sizes=sizes, seed=seed)


@pytest.mark.parametrize("seed", mostly_slow(range(4)))
def test_noise_is_not_learnt(seed: int) -> None:
    frontier = noisy(seed)
    certificate = frontier.certificate
    assert certificate.kind == "unsteady"
    assert "asked again" in str(certificate)
    assert "is subtracted" in str(certificate)
    assert len(frontier.best) == 12
    for point in frontier:
        true = directed_divergence(TARGET, point.pdfa).per_symbol
        assert point.low <= true <= point.high
    # On the words that were learnt from, the noise of the answers is a part of the divergence.
    point = frontier.point(12)
    assert point.training_divergence == pytest.approx(2 / 2 / DRAWS, rel=0.3)
    assert point.divergence < point.training_divergence / 2


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
    held: list[bool] = []
    for seed in range(6):
        model = NoisyAnswers(TARGET, DRAWS, seed) if is_noisy else BlackBox(TARGET)
        budget = Budget(max_symbols=600)
        for point in distill(model, budget=budget, sizes=[1, 2, 4], seed=seed):
            true = directed_divergence(TARGET, point.pdfa).per_symbol
            held.append(point.low <= true + 1e-9 and true <= point.high)
    assert len(held) == 18
    assert np.mean(held) >= 0.8
