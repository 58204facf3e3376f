"""A PDFA as a language model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import InputError
from pdfalearn.models.protocol import Handles, LanguageModel
from pdfalearn.pdfa import PDFA
from pdfalearn.runs import visited_states
from pdfalearn.words import Words

_FEW = 64
"""Below this many words, one after the other is faster than array passes."""


_MEMBERS = [
    *("alphabet", "fingerprint", "capacity", "prefixes_free"),
    *("start", "extend", "distributions", "release"),
]
"""What a LanguageModel has."""


class AutomatonModel:
    """A PDFA as a language model: the handle of a word is the state after it.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    """

    capacity = None
    prefixes_free = True

    def __init__(self, pdfa: PDFA) -> None:
        self.pdfa = pdfa
        self._successors = pdfa.table.reshape(-1).data

    @property
    def alphabet(self) -> Alphabet:
        """The automaton's alphabet."""
        return self.pdfa.alphabet

    @property
    def fingerprint(self) -> str:
        """A hash of the automaton."""
        from hashlib import sha256

        parts = [repr((self.pdfa.alphabet, self.pdfa.initial)).encode()]
        parts += [self.pdfa.transitions.tobytes(), self.pdfa.probabilities.tobytes()]
        return sha256(b"".join(parts)).hexdigest()

    def start(self) -> int:
        """Give the initial state."""
        return self.pdfa.initial

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Give the states along the run of every word."""
        table = self.pdfa.table
        if len(words) < _FEW:
            return np.array(self._extend_few(handles, words), dtype=np.int64)
        if (words.lengths == 1).all():
            return table[handles, words.symbols].astype(np.int64)
        visited = visited_states(table, handles, words)
        after_symbol = np.ones(len(visited), dtype=bool)
        after_symbol[words.offsets[:-1] + np.arange(len(words))] = False
        return visited[after_symbol].astype(np.int64)

    def _extend_few(self, handles: Handles, words: Words) -> list[int]:
        successors, width = self._successors, len(self.pdfa.alphabet)
        symbols, ends = words.symbols.tolist(), words.offsets.tolist()
        visited = []
        for place, state in enumerate(handles.tolist()):
            for symbol in symbols[ends[place] : ends[place + 1]]:
                state = successors[state * width + symbol]
                visited.append(state)
        return visited

    def distributions(self, handles: Handles) -> NDArray[np.float64]:
        """Give the states' distributions."""
        return self.pdfa.probabilities[handles]

    def undefined_after(self, handles: Handles) -> NDArray[np.bool_]:
        """Say which transitions are undefined."""
        return self.pdfa.transitions[handles] < 0

    def release(self, handles: Handles) -> None:
        """Do nothing: a state costs nothing to remember."""


def as_model(given: PDFA | LanguageModel) -> LanguageModel:
    """Give a model as it is, and a PDFA as a model; refuse anything else."""
    if isinstance(given, PDFA):
        return AutomatonModel(given)
    missing = [name for name in _MEMBERS if not hasattr(given, name)]
    if "distributions" in missing:
        raise InputError(
            f"{given!r} is neither a PDFA nor a LanguageModel; a function becomes one by "
            "FunctionModel(function, alphabet)"
        )
    if missing:
        raise InputError(f"{given!r} is no LanguageModel: it has no {', '.join(missing)}")
    return given
