"""Models of PAutomaC that are written and read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from pdfalearn import PDFA, load, save
from pdfalearn.datasets import figure_3
from pdfalearn.io.pautomac import symbol_numbers
from tests.io.foreign import PAUTOMAC
from tests.io.samples import load_bytes, odd_pdfas
from tests.strategies import pdfas
from tests.support import examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pautomac")


def assert_comes_back(pdfa: PDFA, folder: Path) -> None:
    save(pdfa, folder / "1.pautomac_model.txt")
    loaded = load(folder / "1.pautomac_model.txt")
    assert loaded.alphabet.symbols == tuple(map(str, symbol_numbers(pdfa.alphabet)))
    assert np.array_equal(loaded.transitions, pdfa.transitions)
    assert loaded.initial == pdfa.initial
    # What is written is a share of 1 - F, which is known to the last bit of 1 only.
    assert np.allclose(loaded.probabilities, pdfa.probabilities, rtol=1e-15, atol=3e-16)


@examples(100)
@given(pdfa=pdfas())
def test_states_symbols_and_probabilities_come_back(pdfa: PDFA, folder: Path) -> None:
    assert_comes_back(pdfa, folder)


@examples(100)
@given(pdfa=odd_pdfas())
def test_any_symbols_and_probabilities(pdfa: PDFA, folder: Path) -> None:
    assert_comes_back(pdfa, folder)


def test_numbers_of_symbols_are_kept(tmp_path: Path) -> None:
    pdfa = load_bytes(PAUTOMAC.encode(), ".pautomac", tmp_path)
    save(pdfa, tmp_path / "again.pautomac")
    assert load(tmp_path / "again.pautomac") == pdfa
    assert load(tmp_path / "again.pautomac").alphabet.symbols == ("0", "3")


def test_the_text(tmp_path: Path) -> None:
    save(figure_3(), tmp_path / "x.pautomac")
    lines = (tmp_path / "x.pautomac").read_text().splitlines()
    assert lines[:4] == ["I: (state)", "\t(0) 1.0", "F: (state)", "\t(1) 0.1"]
    assert "\t(1,1,3) 1.0" in lines
