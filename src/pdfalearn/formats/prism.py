"""PDFA as programs in PRISM's language, which PRISM and Storm read.

The program has two variables: ``state``, whose last value says that the word has ended, and
``symbol``, the number of the last symbol, 0 before the first. Its labels are ``end`` and, for every
symbol, ``last_…``; the reward ``steps`` counts symbols and the terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from pdfalearn.errors import InputError
from pdfalearn.formats._symbol_texts import identifier, symbol_texts
from pdfalearn.pdfa import PDFA

MOST_STATES = 1000
"""Larger automata are refused: a program is parsed term by term."""


def write(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA of at most ``MOST_STATES`` states."""
    if len(pdfa) > MOST_STATES:
        raise InputError(
            f"a PRISM program of {len(pdfa):,} states is too long to be parsed (at most "
            f"{MOST_STATES:,}); save as .drn, which Storm reads at any size"
        )
    names, _ = symbol_texts(pdfa.alphabet, identifier)
    stream.write("".join(_lines(pdfa, names)).encode())


def _lines(pdfa: PDFA, names: list[str]) -> Iterator[str]:
    end = len(pdfa)
    yield "dtmc\n\nmodule pdfa\n"
    yield f"  state : [0..{end}] init {pdfa.initial}; // {end}: the word has ended\n"
    yield f"  symbol : [0..{len(names)}] init 0; // the last one; 0: none yet\n"
    rows = zip(pdfa.transitions.tolist(), pdfa.probabilities.tolist(), strict=True)
    for state, (successors, probabilities) in enumerate(rows):
        yield f"  [] state={state} -> {' + '.join(_terms(end, successors, probabilities))};\n"
    yield f"  [] state={end} -> 1.0:(state'={end});\nendmodule\n\n"
    yield f'label "end" = state={end};\n'
    for number, (symbol, name) in enumerate(zip(pdfa.alphabet, names, strict=True), start=1):
        yield f'label "last_{name}" = symbol={number}; // {json.dumps(str(symbol))}\n'
    yield f'\nrewards "steps"\n  state<{end} : 1;\nendrewards\n'


def _terms(end: int, successors: list[int], probabilities: list[float]) -> Iterator[str]:
    stop, *others = probabilities
    if stop:
        yield f"{stop!r}:(state'={end})"
    for symbol, (successor, probability) in enumerate(zip(successors, others, strict=True), 1):
        if probability:
            yield f"{probability!r}:(state'={successor})&(symbol'={symbol})"
