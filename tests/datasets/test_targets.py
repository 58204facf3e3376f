"""Random targets."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.analysis import reachable
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from tests.support import examples


def digest(pdfa: PDFA) -> str:
    arrays = pdfa.transitions.astype("<i4").tobytes() + pdfa.probabilities.astype("<f8").tobytes()
    return hashlib.sha256(arrays).hexdigest()[:16]


@examples(80)
@given(
    st.integers(1, 200),
    st.integers(1, 6),
    st.one_of(st.none(), st.integers(1, 5)),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_targets_are_as_asked(
    size: int, symbols: int, shared: int | None, zeros: float, undefined: bool, seed: int
) -> None:
    pdfa = random_pdfa(
        size,
        symbols,
        distributions=shared,
        zero_probability=zeros,
        undefined=undefined,
        seed=seed,
    )
    assert pdfa.alphabet.symbols == tuple(str(symbol) for symbol in range(symbols))
    assert reachable(pdfa).states.tolist() == list(range(len(pdfa)))
    rows = np.unique(pdfa.probabilities, axis=0)
    assert shared is None or len(rows) <= shared
    assert zeros or (pdfa.probabilities > 0).all()
    assert ((pdfa.transitions < 0) == (pdfa.probabilities[:, 1:] == 0)).all() or not undefined
    assert undefined or (pdfa.transitions >= 0).all()


def test_sizes_are_spread_around_the_nominal_one() -> None:
    for symbols in (2, 3, 8):
        sizes = [len(random_pdfa(200, symbols, seed=seed)) for seed in range(100)]
        assert abs(np.mean(sizes) - 200) < 5
        assert np.std(sizes) < 20
    assert np.std([len(random_pdfa(200, seed=seed)) for seed in range(100)]) > 1


def test_exact_sizes() -> None:
    for size in (1, 2, 10, 137):
        assert len(random_pdfa(size, exact_size=True, seed=3)) == size
    options = {"zero_probability": 0.2, "undefined": True, "exact_size": True}
    assert len(random_pdfa(40, 3, **options, seed=3)) == 40  # type: ignore[arg-type]


def test_an_exact_size_that_cannot_be_had_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pdfalearn.datasets.targets._MOST_TRIES", 50)
    with pytest.raises(InputError, match="none of 50"):
        random_pdfa(5000, zero_probability=0.99, undefined=True, exact_size=True, seed=1)


def test_one_symbol_gives_a_tail_and_a_loop() -> None:
    pdfa = random_pdfa(50, 1, seed=4)
    assert pdfa.transitions[:-1, 0].tolist() == list(range(1, 50))
    assert len({int(random_pdfa(50, 1, seed=seed).transitions[-1, 0]) for seed in range(20)}) > 5


def test_distributions_are_uniform_on_the_simplex() -> None:
    rows = random_pdfa(20_000, 3, seed=5).probabilities
    # Each coordinate of a uniform point of the simplex of four is Beta(1, 3).
    assert rows.mean(axis=0) == pytest.approx([0.25] * 4, abs=0.01)
    assert rows.var(axis=0) == pytest.approx([3 / 80] * 4, abs=0.002)
    assert (rows < 0.1).mean(axis=0) == pytest.approx([1 - 0.9**3] * 4, abs=0.015)


def test_zeros_come_as_often_as_asked() -> None:
    rows = random_pdfa(5000, 4, zero_probability=0.3, seed=6).probabilities
    assert (rows[:, 1:] == 0).mean() == pytest.approx(0.3, abs=0.02)
    assert (rows[:, 0] > 0).all()


@pytest.mark.parametrize(
    ("pdfa", "expected"),
    [
        (random_pdfa(300, seed=1), "5de3720807221f77"),
        (random_pdfa(100, 32, distributions=4, zero_probability=0.25, seed=2), "c2b9a8d57f0db946"),
        (
            random_pdfa(60, 4, zero_probability=0.5, undefined=True, exact_size=True, seed=3),
            "a4450d6a346419ea",
        ),
        (random_pdfa(40, 1, seed=4), "30af296a18300c19"),
    ],
    ids=["plain", "shared", "undefined", "unary"],
)
def test_same_seed_same_target_everywhere(pdfa: PDFA, expected: str) -> None:
    assert digest(pdfa) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "size 0"),
        ({"size": 2.5}, "size 2.5"),
        ({"size": 5, "symbols": 0}, "symbols 0"),
        ({"size": 5, "distributions": 0}, "distributions 0"),
        ({"size": 5, "zero_probability": 1.0}, "zero_probability 1.0"),
        ({"size": 5, "zero_probability": -0.1}, "zero_probability -0.1"),
    ],
)
def test_bad_parameters_are_named(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        random_pdfa(**arguments, seed=0)  # type: ignore[arg-type]
