"""A model that is held to the words that a guide allows."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from pdfalearn.dfa import DFA
from pdfalearn.errors import ModelError
from pdfalearn.models.constrained._guides import guide_over
from pdfalearn.models.constrained._rows import Floats, renormalised
from pdfalearn.models.constrained._wrapper import Wrapper
from pdfalearn.models.protocol import Handles, LanguageModel
from pdfalearn.pdfa import PDFA
from pdfalearn.runs import visited_states
from pdfalearn.words import Words


class Guided(Wrapper):
    """A language model guided by a regular expression or an automaton.

    A symbol after which the guide cannot be satisfied any more has probability 0, and words
    through it are undefined: the model inside is never led there. The terminal has probability 0
    where the guide does not let a word end. What is left is divided by its sum; if nothing is
    left, that is a `ModelError` which names the word.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    guide : str, DFA or PDFA
        A regular expression that whole words have to match, each symbol being read as its text
        (needs the extra ``regex``); a DFA; or a PDFA, whose support is then the guide: words of
        positive probability. Symbols that an automaton does not have are not allowed.

    Notes
    -----
    A handle is a handle of the model inside and a state of the guide in one number.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> model = FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab")
    >>> guide = DFA(alphabet="ab", transitions=[[1, -1], [0, 1]], accepting=[True, False])
    >>> guided = Guided(model, guide)
    >>> guided.distributions(np.array([guided.start()])).round(3)
    array([[0.333, 0.667, 0.   ]])
    """

    guide: DFA
    """The guide over the model's alphabet, without states that are of no use."""

    def __init__(self, model: PDFA | LanguageModel, guide: str | DFA | PDFA) -> None:
        super().__init__(model)
        self.guide = guide_over(self.alphabet, guide)
        self._allowed = np.column_stack((self.guide.accepting, self.guide.transitions >= 0))

    def _parameters(self) -> str:
        return sha256(self._allowed.tobytes() + self.guide.table.tobytes()).hexdigest()

    def start(self) -> int:
        """Give a handle of the empty word."""
        inner = np.array([self.model.start()])
        return int(self._packed(inner, np.array([self.guide.initial]))[0])

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Lead the model inside along what the guide allows of every word."""
        inner, states = np.divmod(handles, len(self.guide))
        after = _after_each_symbol(self.guide.table, states, words)
        allowed = after >= 0
        offsets = np.append(0, np.cumsum(allowed))[words.offsets]
        begun = np.diff(offsets) > 0
        answer = np.full(len(after), -1, dtype=np.int64)
        if begun.any():
            parts = Words(words.symbols[allowed], np.append(offsets[:-1][begun], offsets[-1]))
            answer[allowed] = self._packed(self._extended(inner[begun], parts), after[allowed])
        return answer

    def distributions(self, handles: Handles) -> Floats:
        """Give the distributions over what the guide allows."""
        inner, states = np.divmod(handles, len(self.guide))
        return self._changed(inner, lambda rows: self._held(rows, states))

    def _held(self, rows: Floats, states: Handles) -> Floats:
        rows *= self._allowed[states]
        return renormalised(rows)

    def undefined_after(self, handles: Handles) -> NDArray[np.bool_]:
        """Say which symbols leave the guide, or are undefined in the model inside."""
        inner, states = np.divmod(handles, len(self.guide))
        return super().undefined_after(inner) | ~self._allowed[states, 1:]

    def release(self, handles: Handles) -> None:
        """Give handles back to the model inside."""
        self.model.release(handles // len(self.guide))

    def _packed(self, inner: Handles, states: NDArray[np.integer]) -> Handles:
        """Put inner handles and states of the guide into one number each."""
        if len(inner) and inner.max() > (2**63 - 1) // len(self.guide) - 1:
            raise ModelError(
                f"the model gave the handle {inner.max()}; with a guide of {len(self.guide)} "
                "states that is too large: hand out smaller numbers"
            )
        return np.where(inner < 0, -1, inner * len(self.guide) + states)


def _after_each_symbol(
    table: NDArray[np.int32], states: NDArray[np.int64], words: Words
) -> NDArray[np.int32]:
    """Give the guide's state after each symbol of each word; -1 from where it is left."""
    if (words.lengths == 1).all():
        return table[states, words.symbols]
    visited = visited_states(table, states, words)
    return np.delete(visited, words.offsets[:-1] + np.arange(len(words)))
