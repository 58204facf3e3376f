"""Models that answer a little differently from one batch to the next."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import PDFA, Budget, Exact, FunctionModel, Quantization, learn
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.equivalence import Equivalence, Rounded
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ExactOracle, PACOracle
from pdfalearn.results.certificates import Certificate
from pdfalearn.results.signs import EndlessLearningWarning
from pdfalearn.rows import Rows
from pdfalearn.samplers import UniformWords
from pdfalearn.testing import stability
from pdfalearn.words import Words
from tests.learners.checks import assert_is_quotient
from tests.models.hooked import HookedModel
from tests.models.watched import WatchedModel

TARGET = random_pdfa(60, 3, seed=5)
NOISE = 3e-8


class Noisy:
    """Adds a little to the first symbol's probability that depends on the size of the batch."""

    def __init__(self, target: PDFA, noise: float = NOISE) -> None:
        self._target = target
        self._noise = noise
        self.sizes: list[int] = []

    def __call__(self, words: Sequence[tuple[object, ...]]) -> NDArray[np.float64]:
        self.sizes.append(len(words))
        rows = self._target.next_distributions(words).copy()
        shift = self._noise * np.sin(len(words))
        rows[:, 0] += shift
        rows[:, 1] -= shift
        return rows


def noisy(target: PDFA, noise: float = NOISE) -> FunctionModel:
    return FunctionModel(Noisy(target, noise), target.alphabet)


def test_noise_within_classes_does_no_harm_and_is_reported() -> None:
    equivalence = Quantization(7)
    result = learn(
        noisy(TARGET), equivalence=equivalence, oracle=ExactOracle(TARGET, equivalence=equivalence)
    )
    assert_is_quotient(result.pdfa, TARGET, equivalence)
    assert 0 < result.statistics.largest_difference <= 2 * NOISE


ON_BOUNDARIES = PDFA(
    alphabet="ab",
    transitions=[[1, 0], [0, 1]],
    probabilities=[[0.2, 0.4, 0.4], [0.4, 0.3, 0.3]],
)


class Silent:
    """An oracle that never finds anything."""

    certificate = Certificate("tested", "nothing was tried")

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        return Words.of([])


def flipping(words: Sequence[tuple[object, ...]]) -> NDArray[np.float64]:
    """Answer a little below the boundaries in batches of three words and more."""
    rows = ON_BOUNDARIES.next_distributions(words).copy()
    return rows if len(words) < 3 else rows + np.array([-1e-7, 1e-7, 0.0])


@pytest.mark.parametrize("learner", ["quant", "quant-paper"])
def test_an_answer_that_changes_its_class_is_certified_with_the_remedy(learner: str) -> None:
    model = FunctionModel(flipping, "ab")
    certificate = learn(
        model, equivalence=Quantization(10), oracle=Silent(), learner=learner
    ).certificate
    assert certificate.kind == "unsteady"
    for part in ("answers differently", "another kappa", "Rounded(by, decimals=6)", "float64"):
        assert part in certificate.statement
    assert certificate.details["difference"] == pytest.approx(1e-7)
    for equivalence in (Quantization(7), Rounded(Quantization(10), decimals=6)):
        result = learn(model, equivalence=equivalence, oracle=Silent(), learner=learner)
        assert result.statistics.largest_difference == pytest.approx(1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["quant", "quant-paper"])
@pytest.mark.parametrize("equivalence", [Exact(), Quantization(20)], ids=repr)
def test_a_model_of_chance_is_found_out_on_the_way(equivalence: Equivalence, learner: str) -> None:
    random = np.random.default_rng(1)

    def chance(words: Sequence[tuple[object, ...]]) -> NDArray[np.float64]:
        return random.dirichlet([5.0, 5.0, 5.0], len(words))

    pac = PACOracle(epsilon=0.05, delta=0.05, sampler=UniformWords(max_length=10))
    bound = Budget(max_words=20_000)  # without an audit nothing else would end it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EndlessLearningWarning)
        result = learn(
            FunctionModel(chance, "ab"),
            equivalence=equivalence,
            oracle=pac,
            learner=learner,
            budget=bound,
        )
    assert result.certificate.kind == "unsteady"
    assert "answers differently" in result.certificate.statement
    assert result.statistics.words < 20_000
    assert result.pdfa.probability("ab") >= 0


def test_words_that_are_undefined_the_second_time() -> None:
    target = random_pdfa(15, distributions=3, seed=1)
    rows = target.probabilities.copy()
    rows[:, 1] = 0
    rows /= rows.sum(axis=1, keepdims=True)
    target = PDFA(alphabet="ab", transitions=target.transitions, probabilities=rows)

    class Forgetful(HookedModel):
        calls = 0

        def open(self) -> LanguageModel:  # type: ignore[override]
            self.calls += 1
            return super().open()

        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            again = self.calls > 1
            undefined = np.array([again and codes[-1:] == [0] for codes in batch.words])
            return Rows.dense(inner.answer(batch).to_dense(), undefined=undefined)

    oracle = ExactOracle(target, equivalence=Quantization(20))
    model = WatchedModel(Forgetful(target), capacity=3)
    certificate = learn(model, equivalence=Quantization(20), oracle=oracle).certificate
    assert certificate.kind == "unsteady"
    assert "then undefined" in certificate.statement


def test_rounding_checks_its_arguments() -> None:
    with pytest.raises(InputError, match="decimals 0"):
        Rounded(Exact(), decimals=0)
    with pytest.raises(InputError, match="not an equivalence"):
        Rounded("10", decimals=3)  # type: ignore[arg-type]


def test_probabilities_near_boundaries_are_counted() -> None:
    result = learn(ON_BOUNDARIES, equivalence=Quantization(10))
    assert result.near_boundary(1e-12) == 6
    shifted = PDFA(
        alphabet="ab",
        transitions=[[0, 0]],
        probabilities=[[0.30001, 0.35, 0.34999]],
    )
    result = learn(shifted, equivalence=Quantization(10))
    assert result.near_boundary(1e-4) == 1
    assert result.near_boundary(1e-6) == 0
    assert result.near_boundary(0.1) == 3
    rounded = learn(shifted, equivalence=Rounded(Quantization(10), decimals=4))
    assert rounded.near_boundary(1e-4) == 1
    with pytest.raises(InputError, match="no boundaries"):
        learn(shifted, equivalence=Exact()).near_boundary(0.1)
    with pytest.raises(InputError, match="distance"):
        result.near_boundary(-1)


@pytest.mark.parametrize("kappa", [2, 3, 10, 1000])
def test_distances_from_boundaries(kappa: int) -> None:
    values = np.random.default_rng(kappa).random(500)
    boundaries = np.arange(1, kappa) / kappa
    expected = np.abs(values[:, None] - boundaries).min(axis=1)
    assert np.allclose(Quantization(kappa).boundary_distances(values), expected, atol=1e-15)


def test_stability_finds_what_batches_change() -> None:
    assert stability(AutomatonModel(TARGET)).largest_difference == 0.0
    function = Noisy(TARGET, 1e-6)  # so little that all answers are distributions
    found = stability(FunctionModel(function, TARGET.alphabet), count=20, seed=3)
    assert max(function.sizes) > 10 > min(function.sizes)
    shifts = [1e-6 * np.sin(size) for size in function.sizes]
    expected = max(abs(shifts[0] - shift) for shift in shifts)
    assert found.largest_difference == pytest.approx(expected)
    assert found.words == 20
    named = stability(noisy(figure_3()), words=["01", "", "1"])
    assert named.words == 3
    assert named.word in {("0", "1"), (), ("1",)}


def test_stability_of_a_model_with_small_capacity() -> None:
    model = WatchedModel(AutomatonModel(TARGET), capacity=3)
    assert stability(model, max_length=5).largest_difference == 0.0
    assert not model.open_count


def test_stability_checks_its_arguments() -> None:
    with pytest.raises(InputError, match="no words"):
        stability(AutomatonModel(TARGET), words=[])
    with pytest.raises(InputError, match="count 0"):
        stability(AutomatonModel(TARGET), count=0)
