"""How many probabilities are near a boundary, whatever is kept of their distances."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from pdfalearn import Exact, Quantization, Tolerance
from pdfalearn.equivalence import Rounded
from pdfalearn.errors import InputError
from pdfalearn.results.signs import POWERS_OF_TEN, BoundaryDistances


def distances_of(kappa: int, rows: np.ndarray) -> BoundaryDistances:
    parts = [rows[begin : begin + 21] for begin in range(0, len(rows), 21)]
    found = BoundaryDistances.of(Quantization(kappa), parts)
    assert found is not None
    return found


@pytest.mark.parametrize("kappa", [1, 2, 10, 1000, 10**6])
@pytest.mark.parametrize("decimals", [2, 16])
def test_every_answer_is_that_of_all_distances(kappa: int, decimals: int) -> None:
    rows = np.random.default_rng(kappa).random((400, 3)).round(decimals)
    distances = distances_of(kappa, rows)
    truth = Quantization(kappa).boundary_distances(rows)
    for distance in POWERS_OF_TEN:
        assert distances.within(distance) == np.count_nonzero(truth <= distance)
    with pytest.raises(InputError, match=r"distance 0\.5 is not a power of ten"):
        distances.within(0.5)


def test_only_quantization_has_boundaries() -> None:
    rows = np.array([[0.5, 0.5]])
    for equivalence in (Exact(), Tolerance(0.1), Rounded(Exact(), 3)):
        assert BoundaryDistances.of(equivalence, rows) is None
    rounded = BoundaryDistances.of(Rounded(Rounded(Quantization(2), 6), 3), rows)
    assert rounded is not None
    assert rounded.within(1e-15) == 2


@pytest.mark.slow
def test_many_rows_are_looked_at_a_part_at_a_time() -> None:
    rows = np.broadcast_to(np.random.default_rng(0).random(2**16), (400, 2**16))
    tracemalloc.start()
    distances = BoundaryDistances.of(
        Quantization(1000), (rows[place, None] for place in range(400))
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert distances is not None
    assert distances.within(1) == rows.size
    assert peak < 40 * 2**20
