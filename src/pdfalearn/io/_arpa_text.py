r"""The text of ARPA files.

After a line ``\data\`` come the counts, ``ngram 1=5``; after a line ``\1-grams:`` the n-grams of
order 1, each with the logarithm of its probability before it and, except in the highest order, that
of its back-off weight behind it; and so on for all orders, up to a line ``\end\``.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import FileFormatError
from pdfalearn.io._lines import at_line, number_in, show_field

LARGEST_CORRECTION = 1e-2
"""The probabilities of a context may sum to 1 within this much."""

LARGEST_WEIGHT = 300
"""The largest logarithm of a back-off weight: its power of ten is still a finite float."""

LOGARITHM_OF_ZERO = -99
"""Logarithms up to this one stand for 0."""

_COUNT = re.compile(rb"ngram\s+(\d{1,9})\s*=\s*(\d{1,18})")


@dataclass(frozen=True, eq=False)
class Grams:
    """All n-grams of one order: words as positions in the vocabulary, and what the file says."""

    words: NDArray[np.int32]  # a row for each n-gram
    probabilities: NDArray[np.float64]
    weights: NDArray[np.float64]  # back-off weights, 1 where there is none
    lines: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.words)

    def where(self, chosen: NDArray[np.bool_]) -> Grams:
        """Choose some of the n-grams."""
        return Grams(
            self.words[chosen],
            self.probabilities[chosen],
            self.weights[chosen],
            self.lines[chosen],
        )


def parsed(lines: list[bytes]) -> tuple[list[str], list[Grams]]:
    """Return the vocabulary and the n-grams of every order."""
    marks = _marks(lines)
    counts = _counts(lines, *marks[:2])
    _check_titles(lines, marks, highest=len(counts))
    codes: defaultdict[bytes, int] = defaultdict(count().__next__)
    orders = []
    for order, (begin, end) in enumerate(pairwise(marks[1:]), start=1):
        grams = _grams(lines, range(begin + 1, end), order, codes, highest=order == len(counts))
        line, wanted = counts[order - 1]
        if len(grams) != wanted:
            listed = f"there are {len(grams)} n-grams of order {order}"
            raise at_line(begin + 1, f"{listed} below, but line {line} says {wanted}")
        orders.append(grams)
    return [word.decode("utf-8") for word in codes], orders


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


def _check_titles(lines: list[bytes], marks: list[int], *, highest: int) -> None:
    expected = [f"\\{order}-grams:".encode() for order in range(1, highest + 1)]
    for place, title in zip(marks[1:], [*expected, b"\\end\\"], strict=False):
        if lines[place].strip() != title:
            raise at_line(
                place + 1, f"{show_field(lines[place].strip())} where {title.decode()} belongs"
            )


def _grams(
    lines: list[bytes], places: range, order: int, codes: defaultdict[bytes, int], *, highest: bool
) -> Grams:
    """Read the n-grams of one order; words that are new get the next codes."""
    words, numbers, kept = array("i"), array("d"), array("q")
    widths = (order + 1,) if highest else (order + 1, order + 2)
    for place in places:
        fields = lines[place].split()
        if not fields:
            continue
        if len(fields) not in widths:
            raise at_line(place + 1, _wrong_width(fields, order, highest))
        words.extend(map(codes.__getitem__, fields[1 : order + 1]))
        numbers.append(number_in(fields[0], place + 1))
        numbers.append(number_in(fields[-1], place + 1) if len(fields) == order + 2 else 0.0)
        kept.append(place + 1)
    logarithms = np.array(numbers).reshape(-1, 2)
    _check_logarithms(logarithms, kept)
    values = np.where(logarithms <= LOGARITHM_OF_ZERO, 0.0, 10.0**logarithms)
    codes_of_words = np.array(words, dtype=np.int32).reshape(-1, order)
    return Grams(codes_of_words, values[:, 0], values[:, 1], np.array(kept, dtype=np.int64))


def _wrong_width(fields: list[bytes], order: int, highest: bool) -> str:
    weight = "" if highest else " and, if it has one, a back-off weight"
    line = show_field(b" ".join(fields))
    return f"{line} is not a logarithm, an n-gram of order {order}{weight}"


def _check_logarithms(logarithms: NDArray[np.float64], lines: array[int]) -> None:
    bad = ~(logarithms <= [np.log10(1 + LARGEST_CORRECTION), LARGEST_WEIGHT])
    if bad.any():
        place, column = np.argwhere(bad)[0].tolist()
        name = ("probability", "back-off weight")[column]
        value = logarithms[place, column]
        raise at_line(lines[place], f"{value} is not the logarithm of a {name}")
