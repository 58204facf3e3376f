"""Sparse rows in a store: as large as what they list, and read back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn import (
    AnswerStore,
    DamagedStoreError,
    FunctionModel,
    InputError,
    Quantization,
    TopK,
    learn,
    random_pdfa,
)
from pdfalearn.alphabet import Alphabet
from pdfalearn.rows import Rows
from tests.stores.parts import new_path

WIDTH = 1001
ALPHABET = Alphabet(map(str, range(WIDTH - 1)))


@st.composite
def sparse_rows(draw: st.DrawFn) -> Rows:
    """Some rows that list a few of many columns; some leave a part of the mass open."""
    offsets, columns, values, rests = [0], [], [], []
    for _ in range(draw(st.integers(1, 5))):
        listed = sorted(draw(st.sets(st.integers(1, WIDTH - 1), max_size=6)))
        weights = draw(
            st.lists(st.integers(1, 9), min_size=len(listed) + 2, max_size=len(listed) + 2)
        )
        rest = weights[-1] if draw(st.booleans()) else 0
        total = sum(weights[:-1]) + rest
        columns += [0, *listed]
        values += [weight / total for weight in weights[:-1]]
        rests.append(rest / total)
        offsets.append(len(columns))
    return Rows.sparse(WIDTH, offsets, columns, values, rest=rests)


def assert_same(found: Rows, expected: Rows) -> None:
    assert found.is_sparse
    assert found.width == expected.width
    for name in ("offsets", "columns", "values", "rests", "ceilings"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@settings(max_examples=40)
@given(st.lists(sparse_rows(), min_size=1, max_size=3), st.booleans())
def test_rows_are_read_back_as_they_were(parts: list[Rows], is_compacted: bool) -> None:
    with new_path() as path:
        with AnswerStore(path) as store:
            writer = store.writer("model", ALPHABET)
            nodes = rows = 0
            for part in parts:
                new = np.arange(nodes, nodes + len(part))
                numbers = np.arange(rows, rows + len(part))
                writer.append(new, np.zeros(len(part)).astype(int), new + 1, numbers, part)
                nodes, rows = nodes + len(part), rows + len(part)
        with AnswerStore(path) as store:
            if is_compacted:
                store.compact()
            [segment] = store.segments("model")
            order = np.argsort(segment.nodes)
            found = segment.rows.take(segment.numbers[order].astype(np.int64))
            assert_same(found, Rows.joined(parts))
            assert store.verify().answers == rows


def test_dense_and_sparse_rows_of_one_model(tmp_path: Path) -> None:
    dense = np.zeros((1, WIDTH))
    dense[0, [0, 7]] = 0.5
    sparse = Rows.sparse(WIDTH, [0, 2], [0, 9], [0.25, 0.75])
    with AnswerStore(tmp_path / "answers.db") as store:
        writer = store.writer("model", ALPHABET)
        writer.append([0], [7], [0], [0], dense)
        writer.append([], [], [1], [1], sparse)
        rows = [row for _, row in store.answers("model")]
    assert rows[0] is not None
    assert rows[1] is not None
    assert rows[0].tolist() == dense[0].tolist()
    assert rows[1].tolist() == sparse.to_dense()[0].tolist()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (Rows.sparse(WIDTH, [0, 1], [3], [1.0]), "does not list the terminal"),
        (Rows.sparse(WIDTH, [0, 2], [0, WIDTH], [0.5, 0.5]), "column beyond"),
        (Rows.sparse(WIDTH, [0, 3], [0, 5, 5], [0.5, 0.25, 0.25]), "not ascending"),
        (Rows.sparse(WIDTH, [0, 2], [0, 5], [0.5, 0.25]), "does not sum to 1"),
        (Rows.sparse(WIDTH, [0, 2], [0, 5], [np.nan, 0.25]), "NaN"),
        (Rows.sparse(WIDTH - 1, [0, 1], [0], [1.0]), "shape"),
    ],
)
def test_bad_rows_are_refused(rows: Rows, message: str, tmp_path: Path) -> None:
    with (
        AnswerStore(tmp_path / "answers.db") as store,
        pytest.raises(InputError, match=message),
    ):
        store.writer("model", ALPHABET).append([], [], [0], [0], rows)


def test_damage_is_found(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "answers.db"
    with AnswerStore(path) as store:
        rows = Rows.sparse(WIDTH, [0, 2], [0, 9], [0.25, 0.75])
        store.writer("model", ALPHABET).append([], [], [0], [0], rows)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE batches SET listed = x'0100000000000000'")
    connection.commit()
    connection.close()
    with AnswerStore(path) as store, pytest.raises(DamagedStoreError, match="checksum"):
        list(store.segments("model"))


def test_a_run_goes_on_from_sparse_answers_and_the_file_stays_small(tmp_path: Path) -> None:
    target, by = random_pdfa(12, 600, seed=5), Quantization(1000)

    def listed(words: list[tuple[object, ...]]) -> Rows:
        table = target.next_distributions(words)
        columns = np.sort(np.argsort(-table[:, 1:], axis=1)[:, :8], axis=1) + 1
        columns = np.column_stack((np.zeros(len(words), dtype=int), columns))
        values = np.take_along_axis(table, columns, axis=1)
        rest = 1 - values.sum(axis=1)
        ceiling = np.sort(table[:, 1:], axis=1)[:, -9]
        return Rows.sparse(
            601,
            np.arange(len(words) + 1) * 9,
            columns.ravel(),
            values.ravel(),
            rest=rest,
            ceiling=ceiling,
        )

    model = TopK(FunctionModel(listed, target.alphabet, fingerprint="listed"), 5)
    dense = learn(TopK(target, 5), by=by)
    store = tmp_path / "answers.db"
    first = learn(model, by=by, store=store)
    again = learn(model, by=by, store=store)
    assert first.pdfa == again.pdfa
    assert len(first.pdfa) == len(dense.pdfa)
    assert again.statistics.words == 0
    with AnswerStore(store) as kept:
        [stored] = kept.models()
    assert stored.bytes < 400 * first.statistics.distributions
