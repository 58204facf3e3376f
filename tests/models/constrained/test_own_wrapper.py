"""Wrappers that users write: one method, and all else as with those of the package."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import PDFA, FunctionModel, LanguageModel, Quantization, Temperature, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.models import AutomatonModel, Wrapper
from pdfalearn.rows import Rows
from pdfalearn.testing import check_model
from tests.models.constrained.inside import RecordingModel, RowsModel, SparseModel, rows_after

Floats = NDArray[np.float64]
TARGET = random_pdfa(6, 3, zero_probability=0.3, seed=4)
PARTIAL = random_pdfa(6, 3, zero_probability=0.3, undefined=True, seed=4)


class Floor(Wrapper):
    """A wrapper that leaves everything at least some probability."""

    def __init__(self, model: PDFA | LanguageModel, floor: float) -> None:
        super().__init__(model)
        self.floor = floor
        self.parameters = repr(floor)

    def change(self, probabilities: Floats) -> Floats:
        return np.maximum(probabilities, self.floor)


@pytest.mark.parametrize("inside", [RecordingModel, AutomatonModel, SparseModel])
def test_rows_of_every_form_are_changed(inside: Callable[[PDFA], LanguageModel]) -> None:
    model = Floor(inside(TARGET), 0.1)
    words = [(), (0,), (1,), (2,), (0, 1), (1, 1, 2)]
    rows, before = rows_after(model, *words), rows_after(inside(TARGET), *words)
    expected = np.maximum(before.to_dense(), 0.1)
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(rows.to_dense(), expected)
    check_model(model)


@pytest.mark.parametrize("inside", [AutomatonModel, SparseModel])
def test_what_is_impossible_stays_so(inside: Callable[[PDFA], LanguageModel]) -> None:
    words = list(product(range(3), repeat=3))
    rows, before = (rows_after(m, *words) for m in (Floor(inside(PARTIAL), 0.1), inside(PARTIAL)))
    assert rows.undefined is not None
    assert before.undefined is not None
    assert rows.undefined.tolist() == before.undefined.tolist()
    check_model(Floor(inside(PARTIAL), 0.1))


def test_it_is_learnt_as_any_other_model() -> None:
    model = Temperature(Floor(TARGET, 0.01), 0.5)
    result = learn(model, equivalence=Quantization(50))
    assert len(result.pdfa) == 6
    assert result.certificate.kind == "pac"  # its change is not known to the exact oracle


def test_fingerprints() -> None:
    assert Floor(TARGET, 0.1).fingerprint == Floor(TARGET, 0.1).fingerprint
    assert Floor(TARGET, 0.1).fingerprint != Floor(TARGET, 0.2).fingerprint
    without = Floor(TARGET, 0.1)
    without.parameters = None
    assert without.fingerprint is None
    assert Temperature(without, 1).fingerprint is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda table: table * np.nan, r"word \(\): nothing is left of it, or .* NaN or negative"),
        (lambda table: table - 0.5, r"word \(\): nothing is left of it, or .* NaN or negative"),
        (lambda table: table * 0, r"word \(\): nothing is left of it"),
        (lambda table: table / 0, r"word \(\): nothing is left of it"),
        (lambda table: table[:, 1:], r"change returned an array of shape \(1, 3\), not \(1, 4\)"),
        (lambda table: table.sum(), r"change returned an array of shape \(\), not \(1, 4\)"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_a_distribution_is_refused(change: Any, complaint: str) -> None:
    model = type("Own", (Wrapper,), {"change": lambda self, table: change(table)})
    for inside in (TARGET, RecordingModel(TARGET)):
        with pytest.raises(ModelError, match=complaint):
            rows_after(model(inside), ())


def test_a_change_that_looks_at_other_rows_is_noticed() -> None:
    class Mean(Wrapper):
        def change(self, probabilities: Floats) -> Floats:
            changed: Floats = probabilities + probabilities.mean(axis=0)
            return changed

    with pytest.raises(ModelError, match="must not depend on the other words of a batch"):
        check_model(Mean(RecordingModel(TARGET)))


def test_rows_that_leave_something_open_are_refused() -> None:
    rows = Rows.sparse(4, [0, 2], [0, 2], [0.5, 0.25], rest=[0.25])
    with pytest.raises(ModelError, match=r"leaves open .* let the model list every symbol"):
        rows_after(Floor(RowsModel(rows), 0.1), ())


def test_no_method() -> None:
    with pytest.raises(NotImplementedError, match="Wrapper has no method change"):
        rows_after(Wrapper(FunctionModel(lambda words: [[1.0, 0.0]] * len(words), "a")), ())
