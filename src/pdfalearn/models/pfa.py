"""Automata that need not be deterministic; hidden Markov models are a case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.errors import InputError
from pdfalearn.models.protocol import FREE, LanguageModel
from pdfalearn.rows import Rows
from pdfalearn.typing import Codes, Flags, Floats, Integers

if TYPE_CHECKING:
    from pdfalearn.models.batch import Batch

# An opened model keeps at most this many entries of forward vectors (64 MiB), and forgets all of
# them when there would be more.
_KEPT = 2**23
# Weights that belong together may differ from 1 by this much, as files have rounded decimals.
_TOLERANCE = 1e-6


class PFA(LanguageModel):
    """A probabilistic automaton that may be in several states at once.

    It begins in a state by the initial weights. In a state it ends the word, or emits a symbol and
    moves on, by one table of probabilities. A hidden Markov model is the case in which symbol and
    successor do not depend on each other.

    Parameters
    ----------
    alphabet : Alphabet or iterable of symbols
        The symbols.
    initial : array of float, shape (states,)
        The probability to begin in each state.
    matrices : array of float, shape (symbols, states, states)
        The probability to emit a symbol in a state and to move on to another.
    ends : array of float, shape (states,)
        The probability to end the word in each state.

    Examples
    --------
    >>> coin = PFA("ab", initial=[0.5, 0.5], matrices=[[[0.5, 0], [0, 0]], [[0, 0], [0, 0.5]]],
    ...            ends=[0.5, 0.5])
    >>> coin.probability("aa"), coin.probability("ab")
    (0.0625, 0.0)
    >>> coin.next_distributions(["", "a"]).tolist()
    [[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]
    """

    cost = FREE

    def __init__(
        self,
        alphabet: Alphabet | Iterable[Symbol],
        *,
        initial: ArrayLike,
        matrices: ArrayLike,
        ends: ArrayLike,
    ) -> None:
        self.alphabet = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
        self.initial = _read_array(initial, "initial", 1)
        self.matrices = _read_array(matrices, "matrices", 3)
        self.ends = _read_array(ends, "ends", 1)
        count = len(self.initial)
        shape = (len(self.alphabet), count, count)
        if self.matrices.shape != shape or len(self.ends) != count:
            raise InputError(
                f"{count} states and {len(self.alphabet)} symbols need matrices of the shape "
                f"{shape} and {count} ends, not {self.matrices.shape} and {len(self.ends)}"
            )
        _check_sums(self.initial.sum()[None], "initial")
        _check_sums(self.ends + self.matrices.sum(axis=(0, 2)), "ends and matrices")

    def __len__(self) -> int:
        return len(self.initial)

    def __repr__(self) -> str:
        return f"PFA({len(self)} states, {len(self.alphabet)} symbols)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PFA):
            return NotImplemented
        return self.alphabet == other.alphabet and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self._arrays, other._arrays, strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.alphabet, len(self), self.ends.tobytes()))

    @property
    def _arrays(self) -> tuple[Floats, Floats, Floats]:
        return self.initial, self.matrices, self.ends

    @cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        """A hash of the automaton."""
        names = repr((*self.alphabet.symbols, self.alphabet.terminal))
        parts = [names.encode("utf-8", "backslashreplace")]
        return sha256(b"".join([*parts, *(each.tobytes() for each in self._arrays)])).hexdigest()

    @cached_property
    def emissions(self) -> Floats:
        """The distribution of every state: the terminal first, then the symbols."""
        return np.column_stack((self.ends, self.matrices.sum(axis=2).T))

    def log_probabilities(self, words: Iterable[Word]) -> Floats:
        """Return ln P of whole words; -inf for impossible ones."""
        batch = self.alphabet.encode_words(words)
        return np.array([self._log_probability(codes) for codes in batch])

    def probability(self, word: Word) -> float:
        """Return P of a whole word."""
        return float(np.exp(self.log_probabilities([word])[0]))

    def _log_probability(self, codes: Sequence[int]) -> float:
        vector, log = self.initial, 0.0
        with np.errstate(divide="ignore"):
            for code in codes:
                vector = vector @ self.matrices[code]
                total = vector.sum()
                log += np.log(total)
                vector = vector / total if total else vector
            return float(log + np.log(vector @ self.ends))

    def next_distributions(self, words: Iterable[Word]) -> Floats:
        """Return the distribution after each word, the terminal first; NaN after impossible ones.

        Each is the mean of the distributions of the states in which the word may have left the
        automaton: the forward vector, divided by its sum.
        """
        rows = []
        for codes in self.alphabet.encode_words(words):
            vector = self.initial
            for code in codes:
                vector = vector @ self.matrices[code]
            with np.errstate(invalid="ignore"):
                rows.append(vector / vector.sum() @ self.emissions)
        return np.array(rows).reshape(-1, len(self.alphabet) + 1)

    def open(self) -> OpenedPFA:
        """Return what remembers forward vectors of one run."""
        return OpenedPFA(self)

    def answer(self, batch: Batch) -> Rows:
        """Return the distributions after words."""
        return self.open().answer(batch)


class OpenedPFA(LanguageModel):
    """Keeps the forward vectors of words, up to a bound.

    Parameters
    ----------
    pfa : PFA
        The automaton.
    """

    def __init__(self, pfa: PFA) -> None:
        self.alphabet = pfa.alphabet
        self.cost = pfa.cost
        self._pfa = pfa
        self._most = max(1, _KEPT // len(pfa))
        self._forget()

    def _forget(self) -> None:
        self._vectors = self._pfa.initial[None]
        # Where the vector of each word is, by the word's id; -1 where it is not kept.
        self._places = np.zeros(1, dtype=np.int64)

    def answer(self, batch: Batch) -> Rows:
        """Return the distributions after words; undefined after impossible ones."""
        if len(self._vectors) + len(batch.ids) > self._most:
            self._forget()
        missing = int(batch.ids[-1]) + 1 - len(self._places)
        self._places = np.append(self._places, np.full(max(0, missing), -1))
        whole = batch.reaching(self._are_known)
        for level in whole.levels():
            level = level[~self._are_known(whole.ids[level])]
            above = self._vectors[self._places[whole.parents[level]]]
            count = len(self._vectors)
            self._vectors = np.concatenate((self._vectors, self._step(above, whole.symbols[level])))
            self._places[whole.ids[level]] = np.arange(count, len(self._vectors))
        found = self._vectors[self._places[batch.wanted_ids]]
        return Rows.dense(found @ self._pfa.emissions, undefined=np.asarray(~found.any(axis=1)))

    def _are_known(self, ids: Integers) -> Flags:
        return np.asarray(self._places[ids] >= 0)

    def _step(self, vectors: Floats, symbols: Codes) -> Floats:
        """Return the forward vectors after one symbol more each; zeros where it is impossible."""
        new = np.empty_like(vectors)
        for symbol in np.unique(symbols).tolist():
            here = symbols == symbol
            new[here] = vectors[here] @ self._pfa.matrices[symbol]
        sums = new.sum(axis=1, keepdims=True)
        return new / np.where(sums > 0, sums, 1.0)


def _read_array(given: ArrayLike, name: str, dimensions: int) -> Floats:
    """Return an array of probabilities that is read-only; refuse anything else."""
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not an array of numbers") from error
    if array.ndim != dimensions or not len(array):
        raise InputError(f"{name} has the shape {array.shape}; it needs {dimensions} dimensions")
    if not (array >= 0).all() or not (array <= 1 + _TOLERANCE).all():
        raise InputError(f"{name} has entries that are not probabilities")
    array.flags.writeable = False
    return array


def _check_sums(sums: Floats, name: str) -> None:
    wrong = np.abs(sums - 1) > _TOLERANCE
    if wrong.any():
        state = int(wrong.argmax())
        raise InputError(f"{name} sum to {sums[state]:.9g} in state {state}, not to 1")
