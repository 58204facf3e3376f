"""When two distributions count as the same."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Exact, Quantization, Tolerance, quotient
from pdfalearn.arrays import numbering
from pdfalearn.arrays.numbering import numbered_rows
from pdfalearn.equivalence import is_weakly_minimal
from pdfalearn.errors import InputError
from tests.strategies import KAPPAS


@pytest.mark.parametrize(
    ("kappa", "value", "interval"),
    [
        (100, 0.29, 29),
        (10, 0.3, 3),
        (5, 0.5, 2),
        (3000, 0.009, 27),
        (2000, 0.5005, 1001),
        (7, 1.0, 6),
        (7, 1.0000000000000002, 6),
        (7, -1e-17, 0),
        (1, 0.0, 0),
        (1, 1.0, 0),
        (2, 0.5, 1),
        (2, 0.4999, 0),
    ],
)
def test_checked_values(kappa: int, value: float, interval: int) -> None:
    assert Quantization(kappa).intervals(value) == interval


def test_a_whole_distribution() -> None:
    assert Quantization(10).intervals([0.1, 0.3, 0.6]).tolist() == [1, 3, 6]


def decimal_interval(kappa: int, text: str) -> int:
    """Decide in exact decimal arithmetic."""
    floor = (kappa * Decimal(text)).to_integral_value(ROUND_FLOOR)
    return min(kappa - 1, int(floor))


@pytest.mark.parametrize("kappa", KAPPAS)
def test_all_boundaries_and_short_decimals(kappa: int) -> None:
    boundaries = np.arange(kappa + 1) / kappa
    expected = np.minimum(np.arange(kappa + 1), kappa - 1)
    assert Quantization(kappa).intervals(boundaries).tolist() == expected.tolist()
    decimals = [f"{i / 10**5:.5f}" for i in range(0, 10**5 + 1, 7)]
    intervals = Quantization(kappa).intervals([float(text) for text in decimals])
    assert intervals.tolist() == [decimal_interval(kappa, text) for text in decimals]


@given(st.integers(1, 10**6), st.integers(0, 10**5), st.integers(0, 10**5))
def test_equal_intervals_are_within_the_tolerance(kappa: int, i: int, j: int) -> None:
    """Proposition 4 for distributions: =_κ implies a difference of at most 1/κ."""
    pair = [i / 10**5, j / 10**5]
    left, right = Quantization(kappa).intervals(pair)
    assert left != right or Tolerance(1 / kappa).similar([pair[0]], [pair[1]])


def test_tolerance_decides_as_decimals_do() -> None:
    tolerance = Tolerance(0.1)
    assert tolerance.similar([0.3, 0.7], [0.2, 0.8])
    assert tolerance.similar([0.8], [0.7])
    assert not tolerance.similar([0.3, 0.7], [0.19, 0.81])


def test_tolerance_is_not_transitive() -> None:
    tolerance = Tolerance(0.1)
    a, b, c = [0.1, 0.9], [0.2, 0.8], [0.3, 0.7]
    assert tolerance.similar(a, b)
    assert tolerance.similar(b, c)
    assert not tolerance.similar(a, c)


@pytest.mark.parametrize("kappa", [0, -1, 1.5, 1000.0, "10", None, True, 2**41])
def test_bad_kappa(kappa: object) -> None:
    with pytest.raises(InputError, match="kappa"):
        Quantization(kappa)  # type: ignore[arg-type]


@pytest.mark.parametrize("tolerance", [-0.1, 1.1, float("nan"), "x", None])
def test_bad_tolerance(tolerance: object) -> None:
    with pytest.raises(InputError, match="tolerance"):
        Tolerance(tolerance)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1.5, -0.5, float("nan"), float("inf")])
def test_intervals_refuse_what_is_no_probability(value: float) -> None:
    with pytest.raises(InputError, match="probability"):
        Quantization(10).intervals([0.5, value])


def test_numpy_integers_are_integers() -> None:
    assert Quantization(np.int64(10)) == Quantization(10)  # type: ignore[arg-type]


def test_what_needs_an_equivalence_refuses_tolerance() -> None:
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    for operation in (quotient, is_weakly_minimal):
        with pytest.raises(InputError, match="not transitive"):
            operation(pdfa, equivalence=Tolerance(0.1))  # type: ignore[arg-type]
        with pytest.raises(InputError, match="not an equivalence"):
            operation(pdfa, equivalence=10)  # type: ignore[arg-type]


def test_minus_zero_is_zero() -> None:
    classes = Exact().classes(np.array([[0.0, 1.0], [-0.0, 1.0]]))
    assert classes[0] == classes[1]


@given(
    st.integers(1, 40).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 2), min_size=width, max_size=width), min_size=1, max_size=30
        )
    ),
    st.sampled_from([np.uint8, np.uint16, np.int64]),
)
def test_numbers_are_equal_iff_rows_are(rows: list[list[int]], dtype: type[np.integer]) -> None:
    numbers = numbered_rows(np.array(rows, dtype=dtype)).tolist()
    assert sorted(set(numbers)) == list(range(len(set(map(tuple, rows)))))
    assert len(set(zip(map(tuple, rows), numbers, strict=True))) == len(set(numbers))


def test_rows_with_equal_hashes_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "_multipliers", lambda count: np.zeros(count, dtype=np.uint64))
    rows = np.array([[1, 2], [3, 4], [1, 2], [4, 3]])
    numbers = numbered_rows(rows)
    assert numbers[0] == numbers[2]
    assert len(set(numbers.tolist())) == 3
