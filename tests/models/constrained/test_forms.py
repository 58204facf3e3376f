"""What wrappers answer over small and over large alphabets, from dense and from sparse rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from pdfalearn import DFA, PDFA, AutomatonModel, FunctionModel, LanguageModel
from pdfalearn.models.constrained import _blocks, _rows
from pdfalearn.models.protocol import Mask
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.models.constrained.direct import (
    Best,
    Constraint,
    Guide,
    Heat,
    Nucleus,
    filtered,
    wrapped,
)
from tests.models.constrained.sessions import SparseModel


def target(symbols: int, seed: int) -> PDFA:
    """Five states with rows of hundredths, many zeros and ties; some of them are undefined."""
    random = np.random.default_rng(seed)
    weights = random.dirichlet([0.3] * (symbols + 1), 5)
    rows = np.array([random.multinomial(100, row) for row in weights]) / 100
    transitions = random.integers(0, 5, (5, symbols))
    transitions[(rows[:, 1:] == 0) & (random.random(transitions.shape) < 0.5)] = -1
    names = [f"s{number}" for number in range(symbols)]
    return PDFA(alphabet=names, transitions=transitions, probabilities=rows)


def guide(symbols: int) -> Guide:
    """One state, every third symbol."""
    transitions = np.where(np.arange(symbols) % 3 == 0, 0, -1)
    names = [f"s{number}" for number in range(symbols)]
    return Guide(DFA(alphabet=names, transitions=[transitions], accepting=[True]))


def listed(possible: Mask | Words | None, place: int) -> list[int]:
    assert possible is not None
    if isinstance(possible, Words):
        return list(possible)[place]
    return [int(symbol) for symbol in possible[place].nonzero()[0]]


@pytest.mark.parametrize("symbols", [4, 64, 65])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("at_once", [2**20, 100])
def test_rows_and_what_is_possible(
    symbols: int, form: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (_rows, _blocks):
        monkeypatch.setattr(module, "CELLS_AT_ONCE", at_once)
    held = guide(symbols)
    stacks: list[list[Constraint]] = [
        [Best(3)],
        [Nucleus("0.6")],
        [Heat(0.5)],
        [held],
        [held, Best(2)],
        [Nucleus("0.9"), held],
    ]
    pdfa = target(symbols, seed=1)
    inside = AutomatonModel(pdfa) if form == "dense" else SparseModel(pdfa)
    for chosen in stacks:
        check(wrapped(inside, chosen), pdfa, chosen, form != "dense" or symbols > 64)


def test_what_lists_enough_is_as_good_as_dense() -> None:
    pdfa = target(90, seed=1)
    for chosen in ([Best(3)], [Nucleus("0.3")], [Best(2), Heat(0.5)]):
        dense, sparse = (
            wrapped(model, chosen).open()  # type: ignore[arg-type]
            for model in (AutomatonModel(pdfa), SparseModel(pdfa, 8))
        )
        states = np.arange(len(pdfa))
        assert SparseModel(pdfa, 8).open().read(states).is_open.all()
        rows = dense.read(states), sparse.read(states)
        assert np.array_equal(rows[0].to_dense(), rows[1].to_dense())


def check(model: LanguageModel, pdfa: PDFA, chosen: list[Constraint], is_sparse: bool) -> None:
    """Compare with what exact arithmetic leaves of every state, unless that is nothing."""
    session = model.open()
    states = np.arange(len(pdfa))
    if isinstance(chosen[0], Heat):
        is_sparse = session.read(states).is_sparse
    key = [0] * sum(isinstance(constraint, Guide) for constraint in chosen)
    full = [state for state in range(len(pdfa)) if something_is_left(pdfa, state, chosen)]
    rows = session.read(np.array(full))
    assert rows.is_sparse == is_sparse
    for place, state in enumerate(full):
        row, defined = filtered(pdfa, (state, *key), chosen)
        assert np.allclose(rows.to_dense()[place], [float(value) for value in row], atol=1e-15)
        after = session.extend(np.full(len(defined), state), single_symbols(len(defined)))
        assert (after >= 0).tolist() == defined
        possible = session.possible(np.array(full))
        if not isinstance(chosen[-1], Heat):
            assert isinstance(possible, Words) == (len(defined) > 64)
            assert set(np.flatnonzero(defined)) <= set(listed(possible, place))


def something_is_left(pdfa: PDFA, state: int, chosen: list[Constraint]) -> bool:
    held = [constraint for constraint in chosen if isinstance(constraint, Guide)]
    if not held:
        return True
    keeps = held[0].dfa.transitions[0] >= 0
    row = pdfa.probabilities[state]
    if not isinstance(chosen[0], Guide):
        row, _ = filtered(pdfa, (state,), chosen[:1])
    return bool(row[0] > 0 or any(np.array(row[1:])[keeps] > 0))


def single_symbols(symbols: int) -> Words:
    return Words(np.arange(symbols, dtype=np.int32), np.arange(symbols + 1))


WIDTH = 50_001
COUNT = 2_000


@pytest.mark.parametrize(
    "chosen",
    [[Best(2)], [Nucleus("0.5")], [Heat(2.0)], [guide(WIDTH - 1)]],
    ids=["top-k", "top-p", "temperature", "guided"],
)
def test_sparse_rows_over_a_large_alphabet_stay_small(chosen: list[Constraint]) -> None:
    columns = np.zeros((COUNT, 4), dtype=np.int32)
    columns[:, 1:] = np.sort(np.random.default_rng(1).integers(1, WIDTH // 4, (COUNT, 3))) * 3
    columns[:, 1:] += np.arange(3) * 3 + 1
    values = np.tile([0.1, 0.2, 0.3, 0.4], COUNT)
    rows = Rows.sparse(WIDTH, np.arange(0, 4 * COUNT + 1, 4), columns.ravel(), values)
    names = [f"s{number}" for number in range(WIDTH - 1)]
    model = wrapped(FunctionModel(lambda words: rows, names), chosen)
    tracemalloc.start()
    session = model.open()
    starts = np.full(COUNT, session.start())
    found = session.read(starts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * 2**20  # a table would have 800 MB
    assert np.allclose(np.add.reduceat(found.values, found.offsets[:-1]), 1)  # type: ignore[index]


@pytest.mark.slow
def test_dense_rows_over_a_large_alphabet_need_little_beside() -> None:
    table = np.random.default_rng(2).dirichlet([0.01] * WIDTH, 100)  # 40 MB
    names = [f"s{number}" for number in range(WIDTH - 1)]
    inside = FunctionModel(lambda words: Rows.dense(table), names)
    for chosen in ([Best(50)], [Nucleus("0.9")], [guide(WIDTH - 1)]):
        model = wrapped(inside, chosen)  # type: ignore[arg-type]
        session = model.open()
        starts = np.full(100, session.start())
        tracemalloc.start()
        session.read(starts)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100 * 2**20
