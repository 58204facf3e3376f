"""Text files of OpenFst: weighted automata in AT&T's form, and their tables of symbols.

A line ``state successor symbol weight`` is a transition, and ``state weight`` a state in which
words may end. Weights are -ln p. The first line's state is the initial one. Symbols are
percent-encoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from pdfalearn.formats._symbol_texts import percent_encoded, symbol_texts
from pdfalearn.pdfa import PDFA


def write(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write what ``fstcompile --acceptor --isymbols=…`` reads; probability 0 is left out."""
    names, _ = symbol_texts(pdfa.alphabet, percent_encoded)
    with np.errstate(divide="ignore"):
        weights = -np.log(pdfa.probabilities) + 0.0  # no -0.0
    others = (state for state in range(len(pdfa)) if state != pdfa.initial)
    for state in (pdfa.initial, *others):
        successors, row = pdfa.transitions[state].tolist(), weights[state].tolist()
        stream.write("".join(_lines(state, names, successors, row)).encode())


def _lines(
    state: int, names: list[str], successors: list[int], weights: list[float]
) -> Iterator[str]:
    end, *rest = weights
    for name, successor, weight in zip(names, successors, rest, strict=True):
        if weight < np.inf:
            yield f"{state}\t{successor}\t{name}\t{weight!r}\n"
    if end < np.inf:
        yield f"{state}\t{end!r}\n"


def write_symbols(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write the table of symbols that goes with it; 0 is OpenFst's empty symbol."""
    names, _ = symbol_texts(pdfa.alphabet, percent_encoded)
    lines = (f"{name}\t{number}\n" for number, name in enumerate(["<eps>", *names]))
    stream.write("".join(lines).encode())
