"""What models say along words: a PDFA is run, any other model is asked for each prefix once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence.relations import Exact
from pdfalearn.errors import InputError
from pdfalearn.models.automaton import AutomatonModel
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.samplers.drawing import model_words
from pdfalearn.text import described
from pdfalearn.words import Words, sampled_words, visited_states

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

_MOST_PREFIXES = 2**20
"""At most this many prefixes of words are asked for at once."""


class Run:
    """A PDFA: the number of a distribution is that of a state."""

    def __init__(self, pdfa: PDFA) -> None:
        self._pdfa = pdfa

    @property
    def rows(self) -> Floats:
        """The distributions, by their numbers."""
        return self._pdfa.probabilities

    def drawn(self, count: int, max_length: int, random: np.random.Generator) -> Words:
        """Draw words; those that do not end are cut at the length."""
        pdfa = self._pdfa
        rows, start = pdfa.probabilities, pdfa.initial
        return sampled_words(pdfa.table, rows, start, count, max_length, random)[0]

    def numbers_along(self, words: Words) -> Numbers:
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

    def drawn(self, count: int, max_length: int, random: np.random.Generator) -> Words:
        """Draw words; those that do not end are cut at the length."""
        return model_words(count, max_length, self._tree, random)

    def numbers_along(self, words: Words) -> Numbers:
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
