"""Arguments of a wrong type or range give our own error, whatever they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pdfalearn import PDFA, Alphabet, Quantization, Tolerance, distinguish
from pdfalearn.datasets import chain, combination_lock, figure_1, figure_3, random_pdfa, tomita
from pdfalearn.errors import InputError

PDFA_3: Any = figure_3()
CALLS: dict[str, Callable[[], object]] = {
    "huge tolerance": lambda: Tolerance(10**400),
    "tolerance as text": lambda: Tolerance("0.5"),  # type: ignore[arg-type]
    "text as probabilities": lambda: Quantization(10).intervals("x"),
    "negative seed": lambda: random_pdfa(5, seed=-1),
    "no seed": lambda: random_pdfa(5, seed=None),  # type: ignore[arg-type]
    "text as seed": lambda: random_pdfa(5, seed="a"),  # type: ignore[arg-type]
    "text as share": lambda: random_pdfa(5, zero_probability="x", seed=0),  # type: ignore[arg-type]
    "lock without seed": lambda: combination_lock(3, seed=None),  # type: ignore[arg-type]
    "lock of half a symbol": lambda: combination_lock(3, 2.5),  # type: ignore[arg-type]
    "chain of half a state": lambda: chain(2.5),  # type: ignore[arg-type]
    "epsilon as text": lambda: figure_1("x"),  # type: ignore[arg-type]
    "Tomita grammar 1.0": lambda: tomita(1.0),  # type: ignore[arg-type]
    "count as text": lambda: PDFA_3.sample("3", 0),
    "seed as text": lambda: PDFA_3.sample(3, "0"),
    "half a length": lambda: PDFA_3.sample(3, 0, 2.5),
    "number as word": lambda: PDFA_3.last_symbol_probability(5),
    "generator as word": lambda: PDFA_3.probability(c for c in "01"),
    "set as word": lambda: PDFA_3.probability({"0", "1"}),
    "array of no dimension as word": lambda: PDFA_3.probability(np.array("0")),
    "table as word": lambda: PDFA_3.probability(np.array([["0"]])),
    "number as batch": lambda: PDFA_3.word_probabilities(5),
    "string as batch": lambda: PDFA_3.last_symbol_probabilities("01"),
    "one state for two": lambda: distinguish(PDFA_3, PDFA_3, equivalence=Quantization(2), states=0),  # type: ignore[arg-type]
    "a pair of one": lambda: distinguish(PDFA_3, PDFA_3, equivalence=Quantization(2), states=(0,)),  # type: ignore[arg-type]
    "complex probabilities": lambda: PDFA(
        alphabet="a", transitions=[[0]], probabilities=[[0.5 + 1j, 0.5]]
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_bad_arguments_are_refused(call: str) -> None:
    with pytest.raises(InputError):
        CALLS[call]()


def test_small_numpy_integers_count_as_integers() -> None:
    assert len(random_pdfa(np.int8(100), np.int8(2), seed=1)) == len(random_pdfa(100, 2, seed=1))  # type: ignore[arg-type]
    assert len(chain(np.int8(127))) == 127  # type: ignore[arg-type]


def test_numpy_symbols_become_plain_ones() -> None:
    alphabet = Alphabet(np.arange(2))
    assert [type(symbol) for symbol in alphabet] == [int, int]
    assert ["a"] not in alphabet
