"""What wrappers answer over small and over large alphabets, from dense and from sparse rows."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from pdfalearn import PDFA, FunctionModel, LanguageModel
from pdfalearn.languages import DFA
from pdfalearn.models import AutomatonModel
from pdfalearn.models.constrained import wrapper
from pdfalearn.models.constrained.wrapper import Wrapper
from pdfalearn.rows import Rows, SharedRows
from tests.models.constrained.direct import (
    Best,
    Constraint,
    Guide,
    Heat,
    Nucleus,
    filtered,
    wrapped,
)
from tests.models.constrained.inside import RecordingModel, SparseModel, may_follow, rows_after


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


FORMS: dict[str, Callable[[PDFA], LanguageModel]] = {
    "dense": RecordingModel,
    "shared": AutomatonModel,
    "sparse": SparseModel,
}


@pytest.mark.parametrize("symbols", [4, 64, 65])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("at_once", [2**20, 100])
def test_rows_and_what_is_possible(
    symbols: int, form: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrapper, "CELLS_AT_ONCE", at_once)
    held = guide(symbols)
    stacks: list[list[Constraint]] = [
        [Best(3)],
        [Nucleus("0.6")],
        [Heat(0.5)],
        [held],
        [held, Best(2)],
        [Nucleus("0.9"), held],
    ]
    for pdfa, chosen in product(from_every_state(target(symbols, seed=1)), stacks):
        if something_is_left(pdfa, chosen):
            check(wrapped(FORMS[form](pdfa), chosen), pdfa, chosen)


def from_every_state(pdfa: PDFA) -> list[PDFA]:
    """The same automaton, begun in each of its states."""
    parts = {"alphabet": pdfa.alphabet, "transitions": pdfa.transitions}
    return [
        PDFA(**parts, probabilities=pdfa.probabilities, initial=state)  # type: ignore[arg-type]
        for state in range(len(pdfa))
    ]


def test_what_lists_enough_is_as_good_as_dense() -> None:
    stacks: list[list[Constraint]] = [[Best(3)], [Nucleus("0.3")], [Best(2), Heat(0.5)]]
    for pdfa, chosen in product(from_every_state(target(90, seed=1)), stacks):
        assert rows_after(SparseModel(pdfa, 8), ()).is_open.all()
        dense, sparse = (
            rows_after(wrapped(model, chosen), ()).to_dense()
            for model in (AutomatonModel(pdfa), SparseModel(pdfa, 8))
        )
        assert np.array_equal(dense, sparse)


def check(model: LanguageModel, pdfa: PDFA, chosen: list[Constraint]) -> None:
    """Compare the row of the initial state with what exact arithmetic leaves of it."""
    key = [0] * sum(isinstance(constraint, Guide) for constraint in chosen)
    row, defined = filtered(pdfa, (pdfa.initial, *key), chosen)
    rows = rows_after(model, ())
    assert np.allclose(rows.to_dense()[0], [float(value) for value in row], atol=1e-15)
    if len(defined) > 64 and not isinstance(chosen[-1], Heat):
        assert rows.is_sparse or isinstance(rows, SharedRows)
    assert may_follow(rows)[0] == set(np.flatnonzero(defined).tolist())
    excluded = [(symbol,) for symbol, is_defined in enumerate(defined) if not is_defined]
    if excluded:
        after = rows_after(model, *excluded)
        assert after.undefined is not None
        assert after.undefined.all()


def something_is_left(pdfa: PDFA, chosen: list[Constraint]) -> bool:
    held = [constraint for constraint in chosen if isinstance(constraint, Guide)]
    if not held:
        return True
    keeps = held[0].dfa.transitions[0] >= 0
    row = pdfa.probabilities[pdfa.initial].tolist()
    if not isinstance(chosen[0], Guide):
        row, _ = filtered(pdfa, (pdfa.initial,), chosen[:1])
    return bool(row[0] > 0 or any(np.array(row[1:])[keeps] > 0))


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
    assert isinstance(model, Wrapper)
    tracemalloc.start()
    found = model.change_rows(rows, np.zeros(COUNT, dtype=np.int64))
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
        assert isinstance(model, Wrapper)
        tracemalloc.start()
        model.change_rows(Rows.dense(table), np.zeros(100, dtype=np.int64))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100 * 2**20
