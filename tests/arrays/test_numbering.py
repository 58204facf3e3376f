"""Numbers for integers and for rows: equal numbers iff equal, whatever the sizes of batches."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn.arrays import numbering
from pdfalearn.arrays.numbering import IntMap, RowNumbers
from tests.support import mostly_slow

SIZES = [0, 1, 5, 23, 24, 100, 1023, 1024, 5000]
KINDS = ["few", "many", "negative", "far apart", "one after the other"]


def some_keys(random: np.random.Generator, kind: str, count: int) -> NDArray[np.int64]:
    match kind:
        case "few":
            return random.integers(0, 300, count)
        case "many":
            return random.integers(0, 2**62, count)
        case "negative":
            return random.integers(-(10**4), 10**4, count)
        case "far apart":
            return random.integers(0, 1000, count) << 52
        case _:
            start = int(random.integers(0, 10**5))
            return np.arange(start, start + count)


class Expected:
    """What numbers have been given, and that they fit together."""

    def __init__(self) -> None:
        self._number_of: dict[object, int] = {}

    def check(self, keys: list[object], numbers: list[int], size: int) -> None:
        known = len(self._number_of)
        for key, number in zip(keys, numbers, strict=True):
            assert self._number_of.setdefault(key, number) == number
        given = sorted(self._number_of.values())[known:]
        assert given == list(range(known, size))

    def is_in_order(self) -> bool:
        """Whether keys were numbered as they first came."""
        return list(self._number_of.values()) == list(range(len(self._number_of)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_integers(kind: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    numbers, expected = IntMap(), Expected()
    for _ in range(40):
        keys = some_keys(random, kind, int(random.choice(SIZES)))
        if random.random() < 0.3 and len(keys):
            found = [numbers.get_or_add_one(key) for key in keys.tolist()]
        else:
            found = numbers.get_or_add(keys).tolist()
        expected.check(keys.tolist(), found, len(numbers))
    assert expected.is_in_order()


def test_tens_of_thousands_of_integers_one_by_one() -> None:
    numbers = IntMap()
    for key in range(70_000):
        assert numbers.get_or_add_one(key * 7919) == key
    assert numbers.get_or_add(np.arange(70_000) * 7919).tolist() == list(range(70_000))


def some_rows(random: np.random.Generator, width: int, count: int) -> NDArray[np.float64]:
    return random.integers(0, 12, (count, width)) / 11


def check_rows(random: np.random.Generator, width: int) -> None:
    numbers, expected = RowNumbers(), Expected()
    for _ in range(12):
        rows = some_rows(random, width, int(random.choice(SIZES)))
        found = numbers.get_or_add(rows).tolist()
        expected.check(list(map(tuple, rows.tolist())), found, numbers.size)
        assert numbers.get(rows).tolist() == found
        assert (numbers.get(rows + 2) == -1).all()


@pytest.mark.parametrize("width", mostly_slow([1, 2, 3, 7, 100], 2))
def test_rows(width: int) -> None:
    for seed in range(4):
        check_rows(np.random.default_rng(seed), width)


@pytest.mark.parametrize("width", [2, 3])
def test_rows_whose_hashes_collide(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def few_hashes(words: NDArray[np.uint64]) -> NDArray[np.int64]:
        hashes: NDArray[np.int64] = (words.sum(axis=1) % np.uint64(50)).astype(np.int64)
        return hashes

    monkeypatch.setattr(numbering, "row_hashes", few_hashes)
    monkeypatch.setattr(numbering, "_SMALL_ROWS", 100)
    random = np.random.default_rng(1)
    numbers, expected = RowNumbers(), Expected()
    for count in (3, 60, 1, 200, 30, 300):
        rows = some_rows(random, width, count)
        found = numbers.get_or_add(rows).tolist()
        expected.check(list(map(tuple, rows.tolist())), found, numbers.size)
        assert numbers.get(rows).tolist() == found
        assert (numbers.get(rows + 2) == -1).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32])
def test_rows_of_small_integers(dtype: type[np.generic]) -> None:
    random = np.random.default_rng(2)
    numbers, expected = RowNumbers(), Expected()
    for count in (10, 9000, 5):
        rows = random.integers(0, 9, (count, 3)).astype(dtype)
        expected.check(
            list(map(tuple, rows.tolist())), numbers.get_or_add(rows).tolist(), numbers.size
        )
