"""The observation table against the target's own last-symbol probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Tolerance
from pdfalearn.datasets import figure_3
from pdfalearn.learners.table_learner import UNDEFINED_CELL, ObservationTable
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from tests.strategies import all_words, pdfas


def table_of(target: PDFA) -> ObservationTable:
    return ObservationTable(ObservationTree(AutomatonModel(target), Tolerance(0.1)))


def node_of(table: ObservationTable, word: str) -> int:
    node = 0
    for code in table.observations.model.alphabet.encode(word).tolist():
        node = table.observations.nodes.step_one(node, code)
    return node


def assert_cells(table: ObservationTable, target: PDFA) -> None:
    """Check every cell, and that undefined words are not prefixes."""
    suffixes = [table.suffix(number) for number in range(table.width)]
    for place, node in enumerate(table.nodes.tolist()):
        prefix = table.observations.word(node)
        for number, suffix in enumerate(suffixes):
            cell = table.rows[place, number]
            if target.state_after((*prefix, *suffix[:-1])) is None:
                assert cell == UNDEFINED_CELL
            else:
                assert cell == target.last_symbol_probability((*prefix, *suffix))
    assert (table.rows[-1] == UNDEFINED_CELL).all()


@given(st.data())
def test_cells_are_last_symbol_probabilities(data: st.DataObject) -> None:
    target = data.draw(pdfas(alphabet="ab"))
    table = table_of(target)
    words = data.draw(st.lists(st.sampled_from(all_words("ab", 4)), min_size=1))
    for _ in range(data.draw(st.integers(1, 3))):
        nodes = np.array([node_of(table, word) for word in words])
        places = table.add_prefixes(nodes)
        assert places.tolist() == [
            -1 if target.state_after(word) is None else table.nodes.tolist().index(node)
            for word, node in zip(words, nodes.tolist(), strict=True)
        ]
        symbol, old = st.integers(0, 1), st.integers(0, table.width - 1)
        new = data.draw(st.lists(st.tuples(symbol, old), min_size=1, max_size=3, unique=True))
        expected = [(("a", "b")[code], *table.suffix(number)) for code, number in new]
        table.add_suffixes(new)
        assert [table.suffix(table.width - len(new) + i) for i in range(len(new))] == expected
        assert_cells(table, target)
        words = data.draw(st.lists(st.sampled_from(all_words("ab", 6)), min_size=1))


def test_the_first_suffixes_are_the_symbols_and_the_terminal() -> None:
    table = table_of(figure_3())
    assert [table.suffix(number) for number in range(table.width)] == [("$",), ("0",), ("1",)]
    (place,) = table.add_prefixes(np.array([0])).tolist()
    assert table.distributions[place].tolist() == [0, 0.5, 0.5]
    assert table.successors(np.array([place])).tolist() == [[1, 2]]
    assert len(table) == 3


def test_equal_rows_have_equal_numbers() -> None:
    table = table_of(figure_3())
    table.add_prefixes(np.array([node_of(table, word) for word in ("", "0", "1", "01", "11")]))
    empty, zero, one, zero_one, one_one, undefined = table.numbers().tolist()
    assert zero == zero_one != one == one_one != empty != zero
    assert undefined == -1


@pytest.mark.slow
def test_many_prefixes_and_suffixes_fit() -> None:
    target = figure_3()
    table = table_of(target)
    table.add_prefixes(np.array([node_of(table, word) for word in all_words("01", 8)]))
    for number in range(9):
        table.add_suffixes([(number % 2, number)])
    assert (len(table), table.width) == (511, 12)
    assert_cells(table, target)
