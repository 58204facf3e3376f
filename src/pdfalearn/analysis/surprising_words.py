"""The odd words of a corpus: those with the most surprising step, and where that is."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.analysis.scoring import OTHER, Steps
from pdfalearn.corpora import CorpusLike, Others, as_corpus
from pdfalearn.pdfa import PDFA, check_pdfa


@dataclass(frozen=True)
class OddWord:
    """A word and its most surprising step.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = odd_words(figure_1(), ["a", "aab", "aa"], 1)
    >>> found[0].number, found[0].position, found[0].symbol, round(found[0].surprisal, 1)
    (2, 2, '(unknown)', 13.8)
    """

    number: int
    """Its place in the corpus; the first is 1."""
    length: int
    """How many symbols it has."""
    codes: tuple[int, ...]
    """Its symbols up to the step, as places in the alphabet."""
    position: int
    """How many symbols come before the step."""
    symbol: Symbol
    """The symbol of the step; it may be the terminal, or "(unknown)"."""
    surprisal: float
    """-ln of its probability; infinite if it is impossible."""


def odd_words(
    pdfa: PDFA, words: CorpusLike, count: int, *, other: float = OTHER
) -> tuple[OddWord, ...]:
    """Find the words of a corpus with the most surprising steps, in bounded memory.

    ``other`` is the probability of an event that the automaton does not have; the state stays.
    """
    steps = Steps(check_pdfa(pdfa, "pdfa"), other)
    waiting: list[tuple[float, int, OddWord]] = []  # the least odd one first
    before = 0
    for batch, is_cut in as_corpus(words).read(pdfa.alphabet, Others()):
        if not len(batch):
            continue
        values, columns = steps.surprisals(batch)
        values[batch.ends[is_cut]] = 0.0
        begins = batch.offsets[:-1] + np.arange(len(batch))
        largest = np.maximum.reduceat(values, begins)
        for place in np.argsort(-largest, kind="stable")[:count].tolist():
            entry = float(largest[place]), -(before + place + 1)
            if len(waiting) == count and entry <= waiting[0][:2]:
                break
            begin, length = int(begins[place]), int(batch.lengths[place])
            position = int(values[begin : begin + length + 1].argmax())
            symbol = steps.names[columns[begin + position]]
            codes = tuple(batch[place][: position + 1])
            one = OddWord(before + place + 1, length, codes, position, symbol, entry[0])
            (heapq.heappush if len(waiting) < count else heapq.heappushpop)(waiting, (*entry, one))
        before += len(batch)
    return tuple(one for _, _, one in sorted(waiting, key=lambda item: (-item[0], -item[1])))
