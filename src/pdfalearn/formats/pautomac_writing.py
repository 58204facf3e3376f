"""Writes model files of the PAutomaC competition; `pdfalearn.formats.pautomac` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.pdfa import PDFA


def write(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA; symbols become numbers.

    Probabilities of symbols are written as shares of what does not stop, so that they come back but
    for the rounding of a division and a multiplication.
    """
    numbers = symbol_numbers(pdfa.alphabet)
    parts = (_stops(pdfa), _symbols(pdfa, numbers), _successors(pdfa, numbers))
    stream.write("".join(line for part in parts for line in part).encode())


def symbol_numbers(alphabet: Alphabet) -> list[int]:
    """Return the number of every symbol: its own if all are numbers in order, else its place.

    Examples
    --------
    >>> symbol_numbers(Alphabet(["0", "3"])), symbol_numbers(Alphabet(["3", "0"]))
    ([0, 3], [0, 1])
    """
    texts = [str(symbol) for symbol in alphabet]
    if all(text.isascii() and text.isdigit() and len(text) < 10 for text in texts):
        numbers = [int(text) for text in texts]
        if numbers == sorted(set(numbers)) and [str(number) for number in numbers] == texts:
            return numbers
    return list(range(len(alphabet)))


def _stops(pdfa: PDFA) -> Iterator[str]:
    yield f"I: (state)\n\t({pdfa.initial}) 1.0\nF: (state)\n"
    for state, probability in enumerate(pdfa.probabilities[:, 0].tolist()):
        if probability:
            yield f"\t({state}) {min(probability, 1.0)!r}\n"


def _symbols(pdfa: PDFA, numbers: list[int]) -> Iterator[str]:
    yield "S: (state,symbol)\n"
    rows = pdfa.probabilities[:, 1:]
    sums = rows.sum(axis=1, keepdims=True)
    shares = (rows / (sums + (sums == 0))).tolist()
    unused = set(numbers) - {numbers[code] for code in _codes_used(pdfa)}
    for number in sorted(unused):  # or nobody would know of them
        yield f"\t({pdfa.initial},{number}) 0.0\n"
    for state, row in enumerate(shares):
        for number, share in zip(numbers, row, strict=True):
            if share:
                yield f"\t({state},{number}) {share!r}\n"


def _codes_used(pdfa: PDFA) -> list[int]:
    """Return the symbols that have a successor anywhere."""
    return np.flatnonzero((pdfa.transitions >= 0).any(axis=0)).tolist()


def _successors(pdfa: PDFA, numbers: list[int]) -> Iterator[str]:
    yield "T: (state,symbol,state)\n"
    for state, row in enumerate(pdfa.transitions.tolist()):
        for number, successor in zip(numbers, row, strict=True):
            if successor >= 0:
                yield f"\t({state},{number},{successor}) 1.0\n"
