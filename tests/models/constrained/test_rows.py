"""What top-k, top-p and temperature make of rows; bad arguments, and what is not a row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pdfalearn import PDFA, FunctionModel, Guided, LanguageModel, Temperature, TopK, TopP
from pdfalearn.errors import InputError, ModelError
from pdfalearn.languages import DFA
from pdfalearn.models import AutomatonModel
from tests.models.constrained.inside import WRAPPINGS, first_row, model_of, rows_after


@pytest.mark.parametrize(
    ("k", "row", "kept"),
    [
        (1, [0.2, 0.5, 0.3], [1]),
        (2, [0.2, 0.5, 0.3], [1, 2]),
        (2, [0.25, 0.25, 0.25, 0.25], [0, 1]),
        (2, [0.2, 0.2, 0.4, 0.2], [0, 2]),
        (3, [0.1, 0.3, 0.1, 0.4, 0.1], [0, 1, 3]),
        (3, [0.0, 0.5, 0.0, 0.5], [1, 3]),
        (9, [0.5, 0.0, 0.5], [0, 2]),
    ],
)
def test_top_k_keeps_the_most_probable(k: int, row: list[float], kept: list[int]) -> None:
    found = first_row(TopK(model_of(row), k))
    assert found.nonzero()[0].tolist() == kept
    assert np.allclose(found[kept], np.array(row)[kept] / sum(row[i] for i in kept))


@pytest.mark.parametrize(
    ("p", "row", "kept"),
    [
        (0.5, [0.2, 0.5, 0.3], [1]),
        (0.51, [0.2, 0.5, 0.3], [1, 2]),
        (0.9, [0.1, 0.2, 0.7], [1, 2]),
        (0.8, [0.1, 0.7, 0.1, 0.1], [0, 1]),
        (0.3, [0.1] * 8 + [0.2], [0, 8]),
        (1e-15, [0.5, 0.5], [0]),
        (1, [0.5, 0.0, 0.5], [0, 2]),
        (1, [0.3, 1e-9, 0.7 - 1e-9], [0, 1, 2]),
    ],
)
def test_top_p_keeps_the_fewest_that_are_enough(
    p: float, row: list[float], kept: list[int]
) -> None:
    found = first_row(TopP(model_of(row), p))
    assert found.nonzero()[0].tolist() == kept
    assert np.allclose(found[kept], np.array(row)[kept] / sum(row[i] for i in kept))


@pytest.mark.parametrize("temperature", [0.1, 0.7, 1.0, 3.0])
def test_temperature_is_a_power(temperature: float) -> None:
    row = np.array([0.2, 0.5, 0.0, 0.3])
    powers = row ** (1 / temperature)
    found = first_row(Temperature(model_of(row.tolist()), temperature))
    assert np.allclose(found, powers / powers.sum(), rtol=1e-13)


@pytest.mark.parametrize(
    ("temperature", "expected"), [(1e-6, [0, 0.5, 0, 0.5]), (1e6, [1 / 3, 1 / 3, 0, 1 / 3])]
)
def test_extreme_temperatures(temperature: float, expected: list[float]) -> None:
    found = first_row(Temperature(model_of([0.2, 0.4, 0.0, 0.4]), temperature))
    assert np.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: TopK(model_of([0.5, 0.5]), 0), "k 0 is not an integer from 1"),
        (lambda: TopK(model_of([0.5, 0.5]), 1.5), "k 1.5 is not an integer"),  # type: ignore[arg-type]
        (lambda: TopP(model_of([0.5, 0.5]), 0), "p is 0, and nothing has that mass"),
        (lambda: TopP(model_of([0.5, 0.5]), 1.1), "p 1.1 is not a number from 0 to 1"),
        (lambda: TopP(model_of([0.5, 0.5]), float("nan")), "p nan is not a number from 0 to 1"),
        (lambda: Temperature(model_of([0.5, 0.5]), 0), "temperature 0 is not a number from 1e-06"),
        (lambda: Temperature(model_of([0.5, 0.5]), "1"), "temperature '1' is not a number"),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments_are_refused(make: Callable[[], LanguageModel], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make()


def test_wrong_shapes_later_on_are_refused_too() -> None:
    model = TopK(
        FunctionModel(lambda words: [[0.3, 0.4, 0.3][: 3 - len(w)] for w in words], "ab"), 2
    )
    with pytest.raises(ModelError, match=r"the word \('a',\): .*has shape \(1, 2\), not \(1, 3\)"):
        rows_after(model, (0, 0))


def test_identities_tell_wrappers_apart() -> None:
    target = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.2, 0.3, 0.5]])
    inside = AutomatonModel(target)
    models = [
        inside,
        *(wrap(inside) for wrap in WRAPPINGS.values()),
        TopK(inside, 1),
        TopP(inside, 0.8),
        Temperature(inside, 2.0),
        TopK(TopP(inside, 0.9), 2),
        TopP(TopK(inside, 2), 0.9),
        Guided(target, DFA(alphabet="ab", transitions=[[0, 0]], accepting=[True])),
    ]
    fingerprints = [model.fingerprint for model in models]
    assert None not in fingerprints
    assert len(set(fingerprints)) == len(fingerprints)
    assert TopK(target, 2).fingerprint == TopK(inside, 2).fingerprint
    assert all(wrap(model_of([0.2, 0.3, 0.5])).fingerprint is None for wrap in WRAPPINGS.values())
