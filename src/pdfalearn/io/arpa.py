r"""ARPA files: back-off n-gram models, plain or gzipped.

After a line ``\data\`` come the counts, ``ngram 1=5``; after a line ``\1-grams:`` the n-grams of
order 1, each with the logarithm of its probability before it and, except in the highest order, that
of its back-off weight behind it; and so on for all orders, up to a line ``\end\``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import log10
from typing import BinaryIO

from pdfalearn.errors import FileFormatError
from pdfalearn.files import (
    at_line,
    number_in,
    read_gzipped,
    read_lines,
    read_named,
    show_field,
)
from pdfalearn.io._backoff import LARGEST_CORRECTION, Gram, Grams, automaton_of
from pdfalearn.pdfa import PDFA

# The largest logarithms; the power of ten of that of a weight is still a finite float.
_LARGEST = {"probability": log10(1 + LARGEST_CORRECTION), "back-off weight": 300}
# Logarithms up to this one stand for 0.
_LOGARITHM_OF_ZERO = -99
_COUNT = re.compile(rb"ngram\s+(\d{1,9})\s*=\s*(\d{1,18})")


@dataclass(frozen=True)
class Ngram:
    """A back-off n-gram model, as `read_arpa` gives it.

    Parameters
    ----------
    pdfa : PDFA
        The model as an automaton, whose states are the contexts that words reach.
    order : int
        The length of the longest n-grams.
    largest_correction : float
        How far from 1 the probabilities of a state have summed, at most, before they were divided
        by their sum.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> Ngram(pdfa=figure_1(), order=2, largest_correction=0.0).pdfa.probability("a")
    0.5
    """

    pdfa: PDFA
    order: int
    largest_correction: float


def read_arpa(path: str | os.PathLike[str]) -> Ngram:
    r"""Read a back-off n-gram model from an ARPA file, exactly, as a PDFA.

    `load` gives the same PDFA.

    Parameters
    ----------
    path : str or os.PathLike
        A file that ends in ``.arpa`` or ``.arpa.gz``.

    Raises
    ------
    FileFormatError
        If the file is not ARPA, if the probabilities after a context sum to 1 with an error of more
        than 0.01, or if the automaton's tables would not fit into memory.

    Notes
    -----
    Words begin after ``<s>``, which is never predicted, and end with ``</s>``, the terminal;
    n-grams that go on behind it are dropped. Logarithms up to -99 stand for 0, and an n-gram
    without a back-off weight has weight 1. ``<unk>`` (or ``<UNK>``) is a symbol if it has a
    probability above 0. The probabilities of every state are divided by their sum.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> text = r'''\data\
    ... ngram 1=4
    ... ngram 2=2
    ...
    ... \1-grams:
    ... -99 <s>
    ... -0.6 </s>
    ... -0.6 a
    ... -0.3 b
    ...
    ... \2-grams:
    ... -0.3 <s> a
    ... -0.6 <s> b
    ...
    ... \end\
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.arpa")
    ...     _ = path.write_text(text)
    ...     ngram = read_arpa(path)
    >>> ngram.pdfa
    PDFA(2 states, alphabet=('a', 'b'), initial=1)
    >>> ngram.pdfa.next_distribution(["a"]).round(4)
    array([0.2503, 0.2503, 0.4994])
    >>> ngram.order, round(ngram.largest_correction, 4)
    (2, 0.0036)
    """
    gzipped: Callable[[BinaryIO], Ngram] = partial(read_gzipped, read_ngram)
    return read_named(path, {".arpa": read_ngram, ".arpa.gz": gzipped})


def read_ngram(stream: BinaryIO) -> Ngram:
    """Read an n-gram model from ARPA text."""
    lines = read_lines(stream)
    marks = _marks(lines)
    counts = _counts(lines, *marks[:2])
    titles = [f"\\{order}-grams:" for order in range(1, len(counts) + 1)]
    for place, title in zip(marks[1:], [*titles, "\\end\\"], strict=False):
        found = lines[place].strip()
        if found != title.encode():
            raise at_line(place + 1, f"{show_field(found)} where {title} belongs")
    grams: Grams = {}
    for order, (begin, end) in enumerate(pairwise(marks[1:]), start=1):
        before, (line, wanted) = len(grams), counts[order - 1]
        for place in range(begin + 1, end):
            _add_gram(
                grams, lines[place].split(), place + 1, order, is_highest=order == len(counts)
            )
        if len(grams) - before != wanted:
            listed = f"there are {len(grams) - before} n-grams of order {order}"
            raise at_line(begin + 1, f"{listed} below, but line {line} says {wanted}")
    pdfa, largest_correction = automaton_of(grams, len(counts))
    return Ngram(pdfa, len(counts), largest_correction)


def _marks(lines: list[bytes]) -> list[int]:
    """Find the lines that begin with a backslash, from the beginning of the data to its end."""
    marks: list[int] = []
    for place, line in enumerate(lines):
        if line.startswith(b"\\") and (marks or line.strip() == b"\\data\\"):
            marks.append(place)
            if line.strip() == b"\\end\\":
                return marks
    if not marks:
        raise FileFormatError("there is no line \\data\\: not an ARPA file")
    raise FileFormatError("there is no line \\end\\: cut off; save or fetch it again")


def _counts(lines: list[bytes], begin: int, end: int) -> list[tuple[int, int]]:
    """Read how many n-grams there are of each order, and on which line that stands."""
    counts: list[tuple[int, int]] = []
    for place in range(begin + 1, end):
        line = lines[place].strip()
        if not line:
            continue
        match = _COUNT.fullmatch(line)
        order = len(counts) + 1
        if match is None or int(match[1]) != order:
            raise at_line(place + 1, f"{show_field(line)} where ngram {order}=COUNT belongs")
        counts.append((place + 1, int(match[2])))
    if not counts:
        raise at_line(begin + 1, "\\data\\ without a line such as ngram 1=COUNT")
    return counts


def _add_gram(
    grams: Grams, fields: list[bytes], line: int, order: int, *, is_highest: bool
) -> None:
    """Read an n-gram; an empty line has none."""
    if not fields:
        return
    if len(fields) not in ((order + 1,) if is_highest else (order + 1, order + 2)):
        weight = "" if is_highest else " and, if it has one, a back-off weight"
        what = f"is not a logarithm, an n-gram of order {order}{weight}"
        raise at_line(line, f"{show_field(b' '.join(fields))} {what}")
    values = [number_in(fields[0], line)]
    values.append(number_in(fields[-1], line) if len(fields) == order + 2 else 0.0)
    for value, (name, largest) in zip(values, _LARGEST.items(), strict=True):
        if not value <= largest:
            raise at_line(line, f"{value} is not the logarithm of a {name}")
    words = tuple(map(bytes.decode, fields[1 : order + 1]))
    if words in grams:
        raise at_line(line, "this n-gram is already there; keep one")
    powers = [0.0 if value <= _LOGARITHM_OF_ZERO else 10.0**value for value in values]
    grams[words] = Gram(powers[0], powers[1], line)
