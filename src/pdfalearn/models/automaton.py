"""A PDFA as a language model."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import InputError
from pdfalearn.models.cost import FREE, QueryCost
from pdfalearn.models.protocol import Handles, LanguageModel, Mask, Session
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Rows
from pdfalearn.runs import states_along
from pdfalearn.words import Words


class AutomatonModel(LanguageModel):
    """A PDFA as a language model: the handle of a word is the state after it.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    cost : QueryCost
        What asking costs: nothing if not given.

    Examples
    --------
    >>> from pdfalearn import figure_1
    >>> model = AutomatonModel(figure_1())
    >>> session = model.open()
    >>> session.read(np.array([session.start()])).to_dense()
    array([[0., 1.]])
    """

    def __init__(self, pdfa: PDFA, *, cost: QueryCost = FREE) -> None:
        if not isinstance(pdfa, PDFA):
            raise InputError(f"{pdfa!r} is not a PDFA")
        self.pdfa = pdfa
        self.alphabet = pdfa.alphabet
        self.cost = cost

    @cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        """A hash of the automaton."""
        names = (*self.pdfa.alphabet.symbols, self.pdfa.terminal, self.pdfa.initial)
        parts = [repr(names).encode("utf-8", "backslashreplace")]
        parts += [self.pdfa.transitions.tobytes(), self.pdfa.probabilities.tobytes()]
        return sha256(b"".join(parts)).hexdigest()

    def open(self) -> AutomatonSession:
        """Begin a conversation; all of them are alike."""
        return AutomatonSession(self.pdfa)


class AutomatonSession(Session):
    """Leads through the states of a PDFA."""

    shared = True

    def __init__(self, pdfa: PDFA) -> None:
        self._pdfa = pdfa
        self._any_undefined = bool((pdfa.transitions < 0).any())

    def start(self) -> int:
        """Return the initial state."""
        return self._pdfa.initial

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Return the states along the run of every word."""
        return states_along(self._pdfa.table, handles, words)

    def read(self, handles: Handles) -> Rows:
        """Return the states' distributions."""
        return Rows(len(self._pdfa.alphabet) + 1, self._pdfa.probabilities[handles])

    def possible(self, handles: Handles) -> Mask | None:
        """Return which transitions are defined."""
        if not self._any_undefined:
            return None
        return np.asarray(self._pdfa.transitions[handles] >= 0)


def as_model(given: PDFA | LanguageModel) -> LanguageModel:
    """Return a model as it is, and a PDFA as a model; refuse anything else."""
    if isinstance(given, PDFA):
        return AutomatonModel(given)
    if not isinstance(given, LanguageModel):
        hint = (
            "a function becomes one by FunctionModel(function, alphabet)"
            if callable(given)
            else "a class of your own has to be a subclass of LanguageModel"
        )
        raise InputError(f"{given!r} is neither a PDFA nor a LanguageModel; {hint}")
    try:
        alphabet = getattr(given, "alphabet", None)
    except Exception as error:
        raise InputError(f"the alphabet of {type(given).__name__} raised {error!r}") from error
    if not isinstance(alphabet, Alphabet):
        raise InputError(f"{given!r} has no alphabet: set its attribute alphabet to an Alphabet")
    return given
