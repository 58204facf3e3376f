"""ARPA files: back-off n-gram models, plain or gzipped."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO

from pdfalearn.files import read_named
from pdfalearn.io._arpa_text import parsed
from pdfalearn.io._backoff import automaton_of
from pdfalearn.io._lines import inflate_lines, read_lines
from pdfalearn.pdfa import PDFA


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
    return read_named(path, {".arpa": read, ".arpa.gz": read_gzipped})


def read(stream: BinaryIO) -> Ngram:
    """Read an n-gram model from ARPA text."""
    return _ngram(read_lines(stream))


def read_gzipped(stream: BinaryIO) -> Ngram:
    """Read an n-gram model from gzipped ARPA text."""
    return _ngram(inflate_lines(stream))


def _ngram(lines: list[bytes]) -> Ngram:
    vocabulary, orders = parsed(lines)
    pdfa, largest_correction = automaton_of(vocabulary, orders)
    return Ngram(pdfa, len(orders), largest_correction)
