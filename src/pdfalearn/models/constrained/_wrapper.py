"""What all wrappers have in common: they pass on what they do not change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import ModelError
from pdfalearn.memory import check_tables_fit
from pdfalearn.models.automaton import as_model
from pdfalearn.models.constrained._rows import Floats, changed
from pdfalearn.models.protocol import Handles, LanguageModel, SaysUndefined
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words

_LITTLE = 2**24
"""For so few bytes nobody has to be asked whether there is room."""


class Wrapper(ABC):
    """A model around another one, with the same alphabet and the same handles.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    """

    def __init__(self, model: PDFA | LanguageModel) -> None:
        self.model: LanguageModel = as_model(model)

    @property
    def alphabet(self) -> Alphabet:
        """The alphabet of the model inside."""
        return self.model.alphabet

    @property
    def fingerprint(self) -> str | None:
        """A hash of the inner model's fingerprint and of what the wrapper does; None without."""
        inner = self.model.fingerprint
        return None if inner is None else sha256(f"{self._does} of {inner}".encode()).hexdigest()

    @property
    def settings(self) -> str:
        """What this wrapper and those inside do, in one word, whatever the model is."""
        inner = getattr(self.model, "settings", "")
        return sha256(f"{self._does} {inner}".encode()).hexdigest()

    @property
    def _does(self) -> str:
        return f"{type(self).__name__}({self._parameters()})"

    @property
    def capacity(self) -> int | None:
        """The capacity of the model inside."""
        return self.model.capacity

    @property
    def prefixes_free(self) -> bool:
        """Whether prefixes are free in the model inside."""
        return self.model.prefixes_free

    def start(self) -> int:
        """Give a handle of the empty word."""
        return self.model.start()

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Continue words as the model inside does."""
        return self._extended(handles, words)

    @abstractmethod
    def distributions(self, handles: Handles) -> Floats:
        """Give the changed distributions."""

    def undefined_after(self, handles: Handles) -> NDArray[np.bool_]:
        """Say what the model inside says."""
        if isinstance(self.model, SaysUndefined):
            return self.model.undefined_after(handles)
        return np.zeros((len(handles), len(self.alphabet)), dtype=bool)

    def release(self, handles: Handles) -> None:
        """Give handles back to the model inside."""
        self.model.release(handles)

    @abstractmethod
    def _parameters(self) -> str:
        """Say what tells this wrapper from others of its class."""

    def _changed(self, handles: Handles, change: Callable[[Floats], Floats]) -> Floats:
        """Ask the model inside, and change its rows."""
        shape = len(handles), len(self.alphabet) + 1
        size = np.dtype(np.float64).itemsize * shape[0] * shape[1]
        if size > _LITTLE:
            check_tables_fit(
                size,
                f"the distributions of {shape[0]:,} words over {shape[1] - 1:,} symbols",
                "give the model a capacity, which bounds batches, or a smaller alphabet",
            )
        return changed(self.model.distributions(handles), shape, change)

    def _extended(self, handles: Handles, words: Words) -> Handles:
        answer = np.asarray(self.model.extend(handles, words))
        if answer.shape != words.symbols.shape or answer.dtype.kind not in "iu":
            raise ModelError(
                f"extend gave an array of {answer.dtype} of shape {answer.shape} for words of "
                f"{len(words.symbols)} symbols in all; it has to give an integer for each"
            )
        return answer.astype(np.int64)
