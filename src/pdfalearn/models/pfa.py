"""Automata that need not be deterministic; hidden Markov models are a case."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.checks import SUM_TOLERANCE, check_integer, check_tables_fit, make_generator
from pdfalearn.errors import InputError
from pdfalearn.models.wfa import WFA, read_array
from pdfalearn.pdfa import PDFA, Sample, check_pdfa
from pdfalearn.typing import Flags, Floats
from pdfalearn.words import Words, draw_words


class PFA(WFA):
    """A probabilistic automaton that may be in several states at once.

    It begins in a state by the initial weights. In a state it ends the word, or emits a symbol and
    moves on. In a PDFA, state and symbol leave one successor; in a hidden Markov model, symbol and
    successor do not depend on each other. A PFA never changes after it is made.

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
    >>> coin
    PFA(2 states, alphabet=('a', 'b'))
    >>> coin.probability("aa"), coin.probability("ab")
    (0.0625, 0.0)
    >>> coin.next_distributions(["", "a"]).tolist()
    [[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]
    """

    def __init__(
        self,
        alphabet: Alphabet | Iterable[Symbol],
        *,
        initial: ArrayLike,
        matrices: ArrayLike,
        ends: ArrayLike,
    ) -> None:
        super().__init__(alphabet, initial=initial, matrices=matrices, ends=ends)
        for name in ("initial", "matrices", "ends"):
            _check_probabilities(getattr(self, name), name)
        if abs(self.initial.sum() - 1) > SUM_TOLERANCE:
            raise InputError(f"initial sums to {self.initial.sum():.9g}, not to 1")
        sums = self.ends + self.matrices.sum(axis=(0, 2))
        if (wrong := np.abs(sums - 1) > SUM_TOLERANCE).any():
            state = int(wrong.argmax())
            what = f"ends and matrices of state {state}"
            raise InputError(f"{what} sum to {sums[state]:.9g}, not to 1")

    @classmethod
    def from_pdfa(cls, pdfa: PDFA) -> PFA:
        """Make the PFA with the states and words of a PDFA.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> PFA.from_pdfa(figure_1()).probability("a") == figure_1().probability("a")
        True
        """
        count, width = len(check_pdfa(pdfa, "pdfa")), len(pdfa.alphabet)
        size = f"{count:,} states and {width:,} symbols"
        check_tables_fit(8 * width * count**2, size, "keep it as a PDFA, which is a model too")
        matrices, initial = np.zeros((width, count, count)), np.zeros(count)
        states, symbols = (pdfa.transitions >= 0).nonzero()
        successors = pdfa.transitions[states, symbols]
        matrices[symbols, states, successors] = pdfa.probabilities[states, symbols + 1]
        initial[pdfa.initial] = 1.0
        ends = pdfa.probabilities[:, 0]
        return cls(pdfa.alphabet, initial=initial, matrices=matrices, ends=ends)

    @classmethod
    def from_hmm(
        cls,
        alphabet: Alphabet | Iterable[Symbol],
        initial: ArrayLike,
        transitions: ArrayLike,
        emissions: ArrayLike,
        ends: ArrayLike,
    ) -> PFA:
        """Make a PFA of a hidden Markov model.

        Parameters
        ----------
        alphabet : Alphabet or iterable of symbols
            The symbols.
        initial, ends : array of float, shape (states,)
            The probability to begin in each state; to end there, before a symbol is emitted.
        transitions, emissions : array of float, shapes (states, states) and (states, symbols)
            The probability of each next state and of each symbol, where the word goes on.

        Examples
        --------
        >>> PFA.from_hmm("ab", [1, 0], [[0.5, 0.5], [0, 1]], [[1, 0], [0, 1]], [0, 0.5])
        PFA(2 states, alphabet=('a', 'b'))
        """
        moves = _read_probabilities(transitions, 2, "transitions")
        emitted = _read_probabilities(emissions, 2, "emissions")
        stops = _read_probabilities(ends, 1, "ends")
        if not len(moves) == len(emitted) == len(stops):
            raise InputError(
                f"there are transitions of {len(moves)} states, emissions of {len(emitted)} and "
                f"ends of {len(stops)}; give all three for the same states"
            )
        matrices = np.einsum("q,qa,qr->aqr", 1 - stops, emitted, moves)
        return cls(alphabet, initial=initial, matrices=matrices, ends=stops)

    @cached_property
    def prefix_weights(self) -> Floats:
        """A state's probability to go on in any way, for ever included: 1."""
        return np.ones(len(self))

    @cached_property
    def emissions(self) -> Floats:
        """The distribution of every state: the terminal first, then the symbols."""
        rows = np.column_stack((self.ends, self.matrices.sum(axis=2).T))
        rows.flags.writeable = False
        return rows

    @property
    def total(self) -> float:
        """The sum over all words, which is `ending_probability`."""
        return self.ending_probability

    def make_rows(self, vectors: Floats) -> tuple[Floats, Flags]:
        """Return the distributions after forward vectors, and which words are impossible."""
        return vectors @ self.emissions, np.asarray(~vectors.any(axis=1))

    def probability(self, word: Word) -> float:
        """Return the probability of a whole word, terminal included."""
        return float(np.exp(self.log_probability(word)))

    def log_probability(self, word: Word) -> float:
        """Return the natural logarithm of a whole word's probability; -inf for 0."""
        return float(self.log_probabilities([word])[0])

    def log_probabilities(self, words: Iterable[Word]) -> Floats:
        """Return the natural logarithm of the probability of each of many whole words.

        Examples
        --------
        >>> pfa = PFA("a", initial=[1], matrices=[[[0.5]]], ends=[0.5])
        >>> round(float(pfa.log_probabilities(["a" * 10_000])[0] / np.log(0.5)), 6)
        10001.0
        """
        batch = self.alphabet.encode_words(words)
        found = np.empty(len(batch))
        for begin, end in self._parts(batch):
            logs, vectors = self._follow(batch.part(begin, end))
            with np.errstate(divide="ignore"):
                found[begin:end] = logs + np.log(vectors @ self.ends)
        return found

    def sample(self, count: int, seed: int | None = None, max_length: int = 1000) -> Sample:
        """Draw words, as `PDFA.sample` does: words are cut at a length, and flagged.

        Examples
        --------
        >>> PFA("a", initial=[1], matrices=[[[1]]], ends=[0]).sample(1, seed=0, max_length=3)
        Sample(words=[('a', 'a', 'a')], cut=array([ True]))
        """
        count = check_integer(count, "count", 0)
        max_length = check_integer(max_length, "max_length", 0)
        random = np.random.default_rng() if seed is None else make_generator(seed)
        # Drawn are pairs of a symbol and a successor: with these as symbols it is deterministic.
        states = len(self)
        pairs = self.matrices.transpose(1, 0, 2).reshape(states, -1)
        table = np.broadcast_to(np.arange(pairs.shape[1], dtype=np.int32) % states, pairs.shape)
        starts = random.choice(states, size=count, p=self.initial / self.initial.sum())
        rows = np.column_stack((self.ends, pairs))
        drawn, cut = draw_words(table, rows, starts.astype(np.int32), count, max_length, random)
        words = Words(drawn.symbols // np.int32(states), drawn.offsets)
        return Sample(self.alphabet.decode_words(words), cut)

    @cached_property
    def ending_probability(self) -> float:
        """The probability of all finite words: 1 if words end for certain.

        Examples
        --------
        >>> pfa = PFA("a", initial=[0.25, 0.75], matrices=[[[1, 0], [0, 0.5]]], ends=[0, 0.5])
        >>> pfa.ending_probability, pfa.mean_length
        (0.75, inf)
        """
        return min(1.0, self._expect(self.ends))

    @cached_property
    def mean_length(self) -> float:
        """The expected length of a word; infinite if words may never end."""
        return self._expect(self._moves.sum(axis=1))

    def _expect(self, gains: Floats) -> float:
        """Return what a word is expected to gain in the states that it visits."""
        from pdfalearn.chains import Flow  # with SciPy, which few need

        sources, successors = self._moves.nonzero()
        flow = Flow(sources, successors, self._moves[sources, successors], self.ends)
        begins = self.initial > 0
        return float(self.initial[begins] @ flow.values(gains)[begins])


def _read_probabilities(given: ArrayLike, dimensions: int, name: str) -> Floats:
    return _check_probabilities(read_array(given, dimensions, name), name)


def _check_probabilities(array: Floats, name: str) -> Floats:
    if not (array >= 0).all() or not (array <= 1 + SUM_TOLERANCE).all():
        raise InputError(f"{name} has entries that are not probabilities, numbers from 0 to 1")
    return array
