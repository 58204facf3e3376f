"""Ask a language model along words, for each prefix once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence.relations import Exact
from pdfalearn.errors import InputError
from pdfalearn.models.automaton import AutomatonModel
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.paths import asked_path_nodes
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.samplers.drawing import model_words
from pdfalearn.text import described
from pdfalearn.words import Words

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Asked:
    """A model and all that it has said so far; ask it inside a ``with`` block only.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model. An observation tree asks it, which checks its answers and keeps to its capacity.
    """

    def __init__(self, model: PDFA | LanguageModel) -> None:
        asked = AutomatonModel(model) if isinstance(model, PDFA) else model
        self._tree = ObservationTree(asked, Exact())

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *_: object) -> None:
        self._tree.release_handles()

    @property
    def rows(self) -> Floats:
        """The different distributions seen so far, and last a row of NaN for undefined words."""
        rows = self._tree.answers.rows
        return np.vstack((rows, np.full(rows.shape[1], np.nan)))

    def drawn(self, count: int, max_length: int, random: np.random.Generator) -> Words:
        """Draw words from the model; those that do not end are cut at the length."""
        return model_words(count, max_length, self._tree, random)

    def numbers_along(self, words: Words) -> Numbers:
        """Give the number of the distribution after every prefix of every word.

        Word ``i`` of length k has k + 1 entries, the first of them at ``offsets[i] + i``; -1
        where the prefix is undefined. Numbers are places in `rows`.
        """
        nodes = asked_path_nodes(self._tree, words)
        is_defined = self._tree.nodes.classes[nodes] >= 0
        return np.where(is_defined, self._tree.nodes.rows[nodes], -1)


def check_model(model: object) -> None:
    """Refuse what is no language model."""
    if isinstance(model, PDFA) or hasattr(model, "distributions"):
        return
    remedy = "a function becomes one by FunctionModel(function, alphabet)"
    if not callable(model) or isinstance(model, type):
        remedy = pdfa_remedy(model)
    raise InputError(f"{described(model)} is neither a PDFA nor a LanguageModel; {remedy}")
