"""A PDFA as a language model."""

from __future__ import annotations

import os
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.arrays import grown
from pdfalearn.errors import InputError
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import CheckedModel
from pdfalearn.models.protocol import FREE, LanguageModel, QueryCost
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Integers

# Stands where the state after a word has not been computed; -1 is undefined.
_UNKNOWN = -2


class AutomatonModel(LanguageModel):
    """A PDFA as a language model: what is kept of a word is the state after it.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    cost : QueryCost
        What asking costs: nothing if not given.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> AutomatonModel(figure_1()).open().answer(Batch.of([()])).to_dense()
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

    def open(self) -> OpenedAutomaton:
        """Return what remembers the states after the words of one run."""
        return OpenedAutomaton(self)


class OpenedAutomaton(CheckedModel):
    """Remembers the state after every word of a run."""

    def __init__(self, model: AutomatonModel) -> None:
        self.alphabet = model.alphabet
        self.cost = model.cost
        self.fingerprint = None
        pdfa = model.pdfa
        self._rows = pdfa.probabilities
        if np.signbit(self._rows).any():
            self._rows = self._rows + 0.0  # among answers a zero with a sign has a meaning
        impossible = pdfa.transitions < 0
        self._impossible = impossible if impossible.any() else None
        self._states = WordStates(pdfa.table, pdfa.initial)

    def answer(self, batch: Batch) -> Rows:
        """Return the distributions of the states after words."""
        states, impossible = self._states.after(batch), self._impossible
        if impossible is None or not (undefined := states < 0).any():
            return Rows.shared(self._rows, states, impossible=impossible)
        states = np.maximum(states, 0)  # any row will do where a word is undefined
        return Rows.shared(self._rows, states, impossible=impossible, undefined=undefined)


class WordStates:
    """The state of an automaton after every word of a run, as a cache.

    Examples
    --------
    >>> states = WordStates(np.array([[1, -1], [0, 1], [-1, -1]], dtype=np.int32), 0)
    >>> states.after(Batch.of([(0, 1), (1, 0)]))
    array([ 1, -1])
    """

    def __init__(self, table: NDArray[np.int32], initial: int) -> None:
        self._initial = initial
        self._table = table
        self._flat = table.reshape(-1).data
        self._states: NDArray[np.int32] = np.empty(0, dtype=np.int32)

    def at(self, ids: Integers) -> NDArray[np.int64]:
        """Return the states after words of earlier batches; -1 where one is undefined."""
        return self._states[ids].astype(np.int64)

    def after(self, batch: Batch) -> NDArray[np.int64]:
        """Return the states after the wanted words of a batch; -1 where one is undefined."""
        last = int(batch.ids[-1])
        if last >= len(self._states):
            known = len(self._states)
            self._states = grown(self._states, last + 1)
            self._states[known:] = _UNKNOWN
            self._states[0] = self._initial
            self._state_at = self._states.data
        if batch.is_narrow:
            self._run_few(batch)
        else:
            self._run(batch)
        return self.at(batch.wanted_ids)

    def _is_known(self, ids: Integers) -> NDArray[np.bool_]:
        return np.asarray(self._states[ids] != _UNKNOWN)

    def _run(self, batch: Batch) -> None:
        """Compute the states after words, level by level."""
        states, parents = self._states, batch.parents
        if parents[0] >= 0 and self._is_known(parents).all():
            states[batch.ids] = self._table[states[parents], batch.symbols]
            return
        batch = batch.reaching(self._is_known)
        for places in batch.levels():
            above = states[batch.parents[places]]
            ids = batch.ids[places]
            states[ids] = self._table[above, batch.symbols[places]]
            states[0] = self._initial  # the empty word has no parent

    def _run_few(self, batch: Batch) -> None:
        """Do what `_run` does, word by word."""
        state_at, successors, width = self._state_at, self._flat, self._table.shape[1]
        steps = zip(batch.ids.tolist(), batch.parents.tolist(), batch.symbols.tolist(), strict=True)
        before, state = -2, _UNKNOWN  # the last word, and the state after it
        for word, parent, symbol in steps:
            if parent != before:
                if parent < 0:
                    continue
                state = state_at[parent]
                if state == _UNKNOWN:
                    self._run_few(batch.reaching(self._is_known))
                    return
            state_at[word] = state = successors[state * width + symbol]
            before = word


def as_model(given: PDFA | LanguageModel) -> LanguageModel:
    """Return a model as it is, and a PDFA as a model; refuse anything else."""
    if isinstance(given, PDFA):
        return AutomatonModel(given)
    if not isinstance(given, LanguageModel):
        remedy = "a class of your own has to be a subclass of LanguageModel"
        if isinstance(given, str | os.PathLike) or hasattr(given, "pdfa"):
            remedy = f"{pdfa_remedy(given)}; {remedy}"
        elif hasattr(given, "best"):
            remedy = "its attribute best is an automaton; explore asks the model behind it"
        elif callable(given):
            remedy = "a function becomes one by FunctionModel(function, alphabet)"
        raise InputError(f"{described(given)} is neither a PDFA nor a LanguageModel; {remedy}")
    try:
        alphabet = getattr(given, "alphabet", None)
    except Exception as error:
        raise InputError(f"the alphabet of {type(given).__name__} raised {error!r}") from error
    if not isinstance(alphabet, Alphabet):
        raise InputError(f"{given!r} has no alphabet: set its attribute alphabet to an Alphabet")
    return given
