"""Graphs of networkx and tables of pandas."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given

from pdfalearn import PDFA
from pdfalearn.datasets import figure_3
from pdfalearn.errors import MissingExtraError
from tests.io.samples import odd_pdfas
from tests.strategies import pdfas
from tests.support import examples, need_module


@examples(50)
@given(pdfa=pdfas())
def test_graphs_hold_everything(pdfa: PDFA) -> None:
    need_module("networkx")
    graph = pdfa.to_networkx()
    assert graph.graph == {"initial": pdfa.initial, "terminal": "$"}
    assert [graph.nodes[q]["terminal"] for q in range(len(pdfa))] == pdfa.probabilities[
        :, 0
    ].tolist()
    edges = {(q, key): (after, data) for q, after, key, data in graph.edges(keys=True, data=True)}
    assert len(edges) == (pdfa.transitions >= 0).sum()
    for (state, symbol), (after, data) in edges.items():
        code = pdfa.alphabet.index(symbol)
        assert after == pdfa.transitions[state, code]
        assert data == {"symbol": symbol, "probability": pdfa.probabilities[state, code + 1]}


def test_networkx_finds_what_words_reach() -> None:
    networkx = need_module("networkx")
    assert networkx.descendants(figure_3().to_networkx(), 0) == {1, 2, 3}


@examples(50)
@given(pdfa=odd_pdfas())
def test_tables_hold_everything(pdfa: PDFA) -> None:
    pandas = need_module("pandas")
    frame = pdfa.to_frame()
    assert list(frame.columns) == ["state", "symbol", "probability", "successor"]
    assert len(frame) == pdfa.probabilities.size
    symbols = [pdfa.terminal, *pdfa.alphabet]
    for place, (state, symbol, probability, successor) in enumerate(frame.itertuples(index=False)):
        assert (state, symbols.index(symbol)) == divmod(place, len(symbols))
        assert probability == pdfa.probabilities.flat[place]
        after = -1 if symbol == pdfa.terminal else pdfa.transitions[state, place % len(symbols) - 1]
        assert successor == after if after >= 0 else successor is pandas.NA


@pytest.mark.parametrize(
    ("method", "package"), [("to_networkx", "networkx"), ("to_frame", "pandas")]
)
def test_a_missing_package_says_how_to_install_it(
    method: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"package {package}.*: pip install {package}$"):
        getattr(figure_3(), method)()
