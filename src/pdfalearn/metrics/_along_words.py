"""What models say along words, and how often each pair of their distributions comes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from pdfalearn.arrays import IntMap
from pdfalearn.chains import minus_logs
from pdfalearn.equivalence import Exact
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel, LanguageModel
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.samplers import model_words
from pdfalearn.text import described
from pdfalearn.typing import Codes, Floats, Integers
from pdfalearn.words import Words, sampled_words, visited_states

_MOST_PREFIXES = 2**20
"""At most this many prefixes of words are asked for at once."""
_PART = 2**15
"""At most this many prefixes are counted together."""


class Run:
    """A PDFA: the number of a distribution is that of a state."""

    def __init__(self, pdfa: PDFA) -> None:
        self._pdfa = pdfa

    @property
    def rows(self) -> Floats:
        """The distributions, by their numbers."""
        return self._pdfa.probabilities

    def draw_words(self, count: int, max_length: int, random: np.random.Generator) -> Words:
        """Draw words; those that do not end are cut at the length."""
        pdfa = self._pdfa
        rows, start = pdfa.probabilities, pdfa.initial
        return sampled_words(pdfa.table, rows, start, count, max_length, random)[0]

    def numbers_along(self, words: Words) -> Codes:
        """Return the number of the distribution after every prefix of every word.

        Word ``i`` of length k has k + 1 entries, the first of them at ``offsets[i] + i``; -1
        where the prefix is undefined. Numbers are places in `rows`.
        """
        return visited_states(self._pdfa.table, self._pdfa.initial, words)


class Asked:
    """A language model and all that it has said so far.

    An observation tree asks it, which checks its answers and keeps to its room.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._tree = ObservationTree(model, Exact())

    @property
    def rows(self) -> Floats:
        """The different distributions seen so far, by their numbers."""
        return self._tree.answers.rows(np.arange(self._tree.answers.size)).to_dense()

    def draw_words(self, count: int, max_length: int, random: np.random.Generator) -> Words:
        """Draw words; those that do not end are cut at the length."""
        return model_words(count, max_length, self._tree, random)

    def numbers_along(self, words: Words) -> Codes:
        """Return what `Run.numbers_along` does, after asking for what is not known yet."""
        parts = [words.part(begin, end) for begin, end in words.parts(_MOST_PREFIXES)]
        nodes = np.concatenate([self._tree.ask_path(part) for part in parts])
        is_defined = self._tree.nodes.classes[nodes] >= 0
        return np.where(is_defined, self._tree.nodes.rows[nodes], np.int32(-1))

    def close(self) -> None:
        """End the conversation with the model."""
        self._tree.close()


@contextmanager
def asking(model: PDFA | LanguageModel) -> Iterator[Run | Asked]:
    """Run a PDFA, or ask a model, with which the conversation ends here."""
    if type(model) is AutomatonModel:  # a class of its own may answer otherwise
        model = model.pdfa
    if isinstance(model, PDFA):
        yield Run(model)
        return
    asked = Asked(model)
    try:
        yield asked
    finally:
        asked.close()


def check_model(model: object) -> None:
    """Refuse what is not a language model."""
    if isinstance(model, PDFA | LanguageModel):
        return
    remedy = "a function becomes one by FunctionModel(function, alphabet)"
    if not callable(model) or isinstance(model, type):
        remedy = pdfa_remedy(model)
    raise InputError(f"{described(model)} is neither a PDFA nor a LanguageModel; {remedy}")


class Tally(NamedTuple):
    """The different pairs of distributions along words, and how often each has come."""

    numbers: Integers
    others: Integers
    """The numbers of the two distributions of every pair; -1 for undefined."""
    over_prefixes: Floats
    """How often each pair came after a prefix."""
    over_words: Floats
    """How often each pair came after a whole word."""


def tally_pairs(words: Words, numbers: Codes, others: Codes) -> Tally:
    """Count the pairs of distributions after all prefixes of words, given the numbers of both."""
    base, seen = int(others.max()) + 2, IntMap()
    codes_of: Integers = np.empty(0, dtype=np.int64)
    counts: Floats = np.zeros((2, 0))
    for begin, end, here in _parts_of(words):
        codes = (numbers[here].astype(np.int64) + 1) * base + others[here] + 1
        places = seen.get_or_add(codes)
        new = len(seen) - len(codes_of)
        codes_of = np.append(codes_of, np.empty(new, dtype=np.int64))
        codes_of[places] = codes
        ends = places[words.part(begin, end).ends]
        counts = np.pad(counts, ((0, 0), (0, new)))
        counts += [np.bincount(part, minlength=len(seen)) for part in (places, ends)]
    return Tally(codes_of // base - 1, codes_of % base - 1, *counts)


def sum_logs(words: Words, rows: Floats, numbers: Codes) -> Floats:
    """Return the logarithms of the probabilities of whole words; -inf where one is undefined."""
    logs = np.empty(len(words))
    for begin, end, here in _parts_of(words):
        part = words.part(begin, end)
        values = np.where(numbers[here] < 0, 0.0, rows[numbers[here], part.next_columns()])
        begins = part.offsets[:-1] + np.arange(len(part))
        logs[begin:end] = -np.add.reduceat(minus_logs(values), begins)
    return logs


def _parts_of(words: Words) -> Iterator[tuple[int, int, slice]]:
    """Return from which word to which parts are, and where the numbers of their prefixes stand."""
    for begin, end in words.parts(_PART):
        yield begin, end, slice(int(words.offsets[begin]) + begin, int(words.offsets[end]) + end)
