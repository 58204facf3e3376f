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
from pdfalearn.observations.paths import asked_path_nodes, path_nodes
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.runs import sampled_words, visited_states
from pdfalearn.samplers.asking import MOST_CELLS, ask_in_parts
from pdfalearn.samplers.drawing import model_words
from pdfalearn.text import described
from pdfalearn.words import Words

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]


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

    An observation tree asks it, which checks its answers and keeps to its capacity.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._tree = ObservationTree(model, Exact())

    @property
    def rows(self) -> Floats:
        """The different distributions seen so far, by their numbers."""
        return self._tree.answers.rows

    def drawn(self, count: int, max_length: int, random: np.random.Generator) -> Words:
        """Draw words; those that do not end are cut at the length."""
        return model_words(count, max_length, self._tree, random)

    def numbers_along(self, words: Words) -> Numbers:
        """Return what `Run.numbers_along` does, after asking for what is not known yet."""
        most = max(1, MOST_CELLS // (len(self._model.alphabet) + 1))
        if self._model.prefixes_free or self._model.capacity is not None:
            parts = [words.part(begin, end) for begin, end in words.parts(most)]
            nodes = np.concatenate([asked_path_nodes(self._tree, part) for part in parts])
        else:
            nodes = path_nodes(self._tree, words)
            self._ask_whole_words(nodes, words)
        is_defined = self._tree.nodes.classes[nodes] >= 0
        return np.where(is_defined, self._tree.nodes.rows[nodes], np.int32(-1))

    def _ask_whole_words(self, nodes: NDArray[np.int64], words: Words) -> None:
        """Ask for all prefixes in batches of words that are about as long as one another.

        A model that is asked for whole words sees all prefixes of a word of n symbols as n²/2.
        """
        # The ends of words first: they lead the model to all prefixes.
        ask_in_parts(self._tree, nodes[words.ends], words.lengths)
        lengths = np.zeros(self._tree.nodes.size, dtype=np.int32)
        begins = np.repeat(words.offsets[:-1] + np.arange(len(words)), words.lengths + 1)
        lengths[nodes] = np.arange(len(nodes)) - begins
        is_there = np.zeros(len(lengths), dtype=bool)
        is_there[nodes] = True
        different = is_there.nonzero()[0]
        ask_in_parts(self._tree, different, lengths[different])

    def release(self) -> None:
        """Hand all handles back to the model."""
        self._tree.release_handles()


@contextmanager
def asking(model: PDFA | LanguageModel) -> Iterator[Run | Asked]:
    """Run a PDFA, or ask a model, which gets its handles back at the end."""
    if type(model) is AutomatonModel:  # a class of its own may answer otherwise
        model = model.pdfa
    if isinstance(model, PDFA):
        yield Run(model)
        return
    asked = Asked(model)
    try:
        yield asked
    finally:
        asked.release()


def check_model(model: object) -> None:
    """Refuse what is no language model."""
    if isinstance(model, PDFA) or hasattr(model, "distributions"):
        return
    remedy = "a function becomes one by FunctionModel(function, alphabet)"
    if not callable(model) or isinstance(model, type):
        remedy = pdfa_remedy(model)
    raise InputError(f"{described(model)} is neither a PDFA nor a LanguageModel; {remedy}")
