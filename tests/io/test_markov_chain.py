"""Markov chains that AALpy loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given

from pdfalearn import PDFA, save
from pdfalearn.errors import InputError
from tests.io.samples import odd_pdfas
from tests.strategies import all_words, pdfas
from tests.support import examples, need_module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chains")


def chain_of(pdfa: PDFA, folder: Path) -> Any:
    """The chain as AALpy has read it."""
    need_module("aalpy")
    from aalpy.utils import load_automaton_from_file

    path = folder / "chain.mc.dot"
    save(pdfa, path)
    return load_automaton_from_file(path, "mc")


def probability_in(chain: Any, outputs: list[str]) -> float:
    """The probability that the chain begins with these outputs."""
    state, product = chain.initial_state, 1.0
    for output in outputs:
        found = [(after, share) for after, share in state.transitions if after.output == output]
        assert len(found) <= 1, "outputs tell successors apart"
        if not found:
            return 0.0
        state, share = found[0]
        product *= share
    return product


@examples(60)
@given(pdfa=pdfas(max_states=4))
def test_aalpy_gives_every_word_its_probability(pdfa: PDFA, folder: Path) -> None:
    chain = chain_of(pdfa, folder)
    assert chain.initial_state.output == "<start>"
    for word in all_words("".join(map(str, pdfa.alphabet)), 3):
        ours = pdfa.probability(word)
        assert probability_in(chain, [*word, "$"]) == pytest.approx(ours, rel=1e-15)


@examples(80)
@given(pdfa=odd_pdfas())
def test_any_symbols(pdfa: PDFA, folder: Path) -> None:
    texts = [str(symbol) for symbol in (*pdfa.alphabet, pdfa.terminal)]
    if len(set(texts)) < len(texts):
        with pytest.raises(InputError, match="are both written"):
            save(pdfa, folder / "chain.mc.dot")
        return
    chain = chain_of(pdfa, folder)
    expected = [state for state in pdfa.probabilities[pdfa.initial].tolist() if state]
    assert sorted(share for _, share in chain.initial_state.transitions) == sorted(expected)
    outputs = {after.output for after, _ in chain.initial_state.transitions}
    names = {"" if text == "%" else unquote(text, errors="surrogatepass") for text in outputs}
    assert names <= set(texts)
    assert len(names) == len(expected)


@pytest.mark.parametrize(
    "symbol", ["->", "a -> b", "__start0", "__start0 -> q", '"', "{a}", "a\nb", "label", "[x]", ""]
)
def test_symbols_that_could_be_taken_for_something_else(symbol: str, tmp_path: Path) -> None:
    pdfa = PDFA(alphabet=[symbol], transitions=[[0]], probabilities=[[0.25, 0.75]])
    chain = chain_of(pdfa, tmp_path)
    assert len(chain.states) == 3
    (output,) = {state.output for state in chain.states} - {"$", "<start>"}
    assert output == "%" if not symbol else unquote(output) == symbol
    assert probability_in(chain, [output, output, "$"]) == 0.75 * 0.75 * 0.25
