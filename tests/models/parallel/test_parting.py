"""How batches are parted, and how their rows are put together again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Replicas
from pdfalearn.models import QueryCost
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words, open_model
from pdfalearn.models.parallel import part_count, split_evenly
from pdfalearn.words import Words
from tests.models.parallel import makers

costs_of_words = st.lists(st.floats(0.1, 50), min_size=1, max_size=40).map(np.array)


@given(costs_of_words, st.integers(1, 9))
def test_parts_are_in_order_and_differ_by_a_word_at_most(costs: np.ndarray, parts: int) -> None:
    found = split_evenly(costs, parts)
    assert (np.diff(found) >= 0).all()
    assert found.min() >= 0
    assert found.max() < parts
    loads = np.bincount(found, costs, parts)
    assert loads.max() <= costs.sum() / parts + costs.max() * (1 + 1e-9)


@given(costs_of_words, st.floats(0, 100), st.integers(1, 9))
def test_every_part_costs_four_calls(costs: np.ndarray, call: float, copies: int) -> None:
    parts = part_count(costs, QueryCost(call=call, word=1), copies)
    assert 1 <= parts <= min(copies, len(costs))
    assert parts == 1 or costs.sum() / parts >= 4 * call
    assert parts in (copies, len(costs)) or costs.sum() / (parts + 1) < 4 * call


@pytest.mark.slow
def test_the_cost_of_a_call_decides_how_many_copies_are_asked(tmp_path: Path) -> None:
    for size, copies in ((39, 1), (40, 2)):
        make = makers.Noted(tmp_path / str(size))
        with Replicas(make, 3) as model:
            ask_words(model, some_words(size))
        assert len(set(asked(tmp_path / str(size)).values())) == copies


@pytest.mark.slow
@pytest.mark.parametrize("copies", [2, 3])
def test_an_audit_asks_another_copy(tmp_path: Path, copies: int) -> None:
    words, ends = some_words(100), (0, 5, 20, 21, 100)  # batches for one copy and for all
    with Replicas(makers.Noted(tmp_path / "asked"), copies) as model:
        with closing(open_model(model)) as opened:
            for begin, end in pairwise(ends):
                opened.answer(Batch.of(words.part(begin, end)))
            first = asked(tmp_path / "asked")
            (tmp_path / "asked").unlink()
            ask_words(model, words)
        again = asked(tmp_path / "asked")
    assert first.keys() == again.keys()
    assert len(set(first.values())) == copies
    assert all(first[word] != again[word] for word in first)


def some_words(count: int) -> Words:
    """Return words of seven symbols, all different."""
    return Words.of([[code >> place & 1 for place in range(7)] for code in range(count)])


def asked(file: Path) -> dict[str, int]:
    """Return which process was asked for each word."""
    lines = [line.split() for line in file.read_text().splitlines()]
    return {word: int(pid) for pid, word in lines}


@pytest.mark.slow
@pytest.mark.parametrize("make", [makers.sparse, makers.keeping, makers.holes])
def test_parts_are_put_together_in_order(make: Callable[[], object]) -> None:
    random = np.random.default_rng(3)
    words = [random.integers(0, 3, random.integers(0, 7)).tolist() for _ in range(200)]
    batch = Batch.of(words)
    with Replicas(make, 3) as model:
        for rows in (np.arange(batch.count), random.permutation(batch.count)[:50]):
            part = batch.select(np.sort(rows))
            for _ in range(3):  # the copies change places
                found = model.answer(part)
                expected = ask_words(makers.as_model_of(make), part.words)
                assert np.array_equal(found.to_dense(), expected.to_dense())
                assert np.array_equal(found.undefined, expected.undefined)  # type: ignore[arg-type]
