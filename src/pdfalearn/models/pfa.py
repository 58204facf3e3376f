"""Automata that need not be deterministic; hidden Markov models are a case."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.arrays import grown
from pdfalearn.checks import SUM_TOLERANCE, check_integer, check_tables_fit, make_generator
from pdfalearn.corpora import PrefixTree
from pdfalearn.errors import InputError
from pdfalearn.frozen import Frozen
from pdfalearn.models.protocol import FREE, LanguageModel
from pdfalearn.pdfa import PDFA, Sample, check_pdfa
from pdfalearn.rows import Rows
from pdfalearn.typing import Codes, Flags, Floats, Integers
from pdfalearn.words import Words, draw_words

if TYPE_CHECKING:
    from pdfalearn.models.batch import Batch

# An opened model keeps at most this many entries of forward vectors (64 MiB), and forgets all of
# them when there would be more. Words are followed in parts of as many entries.
_KEPT = 2**23
# Fewer words than this are followed one by one: a word of 100,000 symbols takes .4 s and not 15 s.
_FEW = 8


class PFA(Frozen, LanguageModel):
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

    cost = FREE
    initial: Floats
    matrices: Floats
    ends: Floats

    def __init__(
        self,
        alphabet: Alphabet | Iterable[Symbol],
        *,
        initial: ArrayLike,
        matrices: ArrayLike,
        ends: ArrayLike,
    ) -> None:
        symbols = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
        given = {"initial": (initial, 1), "matrices": (matrices, 3), "ends": (ends, 1)}
        arrays = {name: _read_array(*each, name) for name, each in given.items()}
        count = len(arrays["initial"])
        shape = (len(symbols), count, count)
        if arrays["matrices"].shape != shape or len(arrays["ends"]) != count:
            raise InputError(
                f"{count} states and {len(symbols)} symbols need matrices of the shape {shape} and "
                f"{count} ends, not {arrays['matrices'].shape} and {len(arrays['ends'])}"
            )
        if abs(arrays["initial"].sum() - 1) > SUM_TOLERANCE:
            raise InputError(f"initial sums to {arrays['initial'].sum():.9g}, not to 1")
        sums = arrays["ends"] + arrays["matrices"].sum(axis=(0, 2))
        if (wrong := np.abs(sums - 1) > SUM_TOLERANCE).any():
            state = int(wrong.argmax())
            what = f"ends and matrices of state {state}"
            raise InputError(f"{what} sum to {sums[state]:.9g}, not to 1")
        self.__dict__.update(alphabet=symbols, **arrays)

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
        moves = _read_array(transitions, 2, "transitions")
        emitted, stops = _read_array(emissions, 2, "emissions"), _read_array(ends, 1, "ends")
        if not len(moves) == len(emitted) == len(stops):
            raise InputError(
                f"there are transitions of {len(moves)} states, emissions of {len(emitted)} and "
                f"ends of {len(stops)}; give all three for the same states"
            )
        matrices = np.einsum("q,qa,qr->aqr", 1 - stops, emitted, moves)
        return cls(alphabet, initial=initial, matrices=matrices, ends=stops)

    def __reduce__(self) -> tuple[object, ...]:
        arrays = dict(zip(("initial", "matrices", "ends"), self._arrays, strict=True))
        return partial(PFA, self.alphabet, **arrays), ()

    def __len__(self) -> int:
        return len(self.initial)

    def __repr__(self) -> str:
        width = len(self.alphabet)
        symbols = f"{width} symbols" if width > 8 else repr(self.alphabet.symbols)
        return f"PFA({len(self)} state{'s' * (len(self) != 1)}, alphabet={symbols})"

    def __eq__(self, other: object) -> bool:
        """Return whether two PFA are the same to the last bit, state for state."""
        if not isinstance(other, PFA):
            return NotImplemented
        are_same = map(np.array_equal, self._arrays, other._arrays)
        return self.alphabet == other.alphabet and all(are_same)

    def __hash__(self) -> int:
        return hash((self.alphabet, self.fingerprint))

    @property
    def _arrays(self) -> tuple[Floats, Floats, Floats]:
        return self.initial, self.matrices, self.ends

    @cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        """A hash of the automaton."""
        names = repr((*self.alphabet.symbols, self.alphabet.terminal))
        parts = [names.encode("utf-8", "backslashreplace"), *map(np.ndarray.tobytes, self._arrays)]
        return sha256(b"".join(parts)).hexdigest()

    @cached_property
    def emissions(self) -> Floats:
        """The distribution of every state: the terminal first, then the symbols."""
        rows = np.column_stack((self.ends, self.matrices.sum(axis=2).T))
        rows.flags.writeable = False
        return rows

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

    def next_distribution(self, word: Word) -> Floats | None:
        """Return the distribution after a word, terminal first; None where it is impossible."""
        [row] = self.next_distributions([word])
        return None if np.isnan(row[0]) else row

    def next_distributions(self, words: Iterable[Word]) -> Floats:
        """Return the distribution after each word, the terminal first; NaN after impossible ones.

        It is the mean of the distributions of the states where the word may have led.
        """
        batch = self.alphabet.encode_words(words)
        rows = np.empty((len(batch), len(self.alphabet) + 1))
        for begin, end in self._parts(batch):
            _, vectors = self._follow(batch.part(begin, end))
            rows[begin:end] = vectors @ self.emissions
            rows[begin:end][~vectors.any(axis=1)] = np.nan
        return rows

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
        # From where no end is reached words never end; without these states a solution is unique.
        live = _reach(self._moves.T, self.ends > 0)
        return min(1.0, self._sum_visits(live, self.ends))

    @cached_property
    def mean_length(self) -> float:
        """The expected length of a word; infinite if words may never end."""
        reached = _reach(self._moves, self.initial > 0)
        if (reached & ~_reach(self._moves.T, self.ends > 0)).any():
            return np.inf
        return self._sum_visits(reached, 1 - self.ends)

    @property
    def _moves(self) -> Floats:
        return np.asarray(self.matrices.sum(axis=0))

    def _sum_visits(self, within: Flags, values: Floats) -> float:
        """Sum values over the states that a word is expected to visit within some states."""
        system = np.eye(int(within.sum())) - self._moves[np.ix_(within, within)]
        return float(self.initial[within] @ np.linalg.solve(system, values[within]))

    def open(self) -> OpenedPFA:
        """Return what remembers forward vectors of one run."""
        return OpenedPFA(self)

    def step(self, vectors: Floats, symbols: Codes | Integers) -> tuple[Floats, Floats]:
        """Return forward vectors after one symbol more each, divided by their sums, and the sums.

        Where the symbol is impossible both are 0.
        """
        new = np.empty_like(vectors)
        for symbol in np.unique(symbols).tolist():
            here = symbols == symbol
            new[here] = vectors[here] @ self.matrices[symbol]
        sums = new.sum(axis=1)
        new /= np.where(sums > 0, sums, 1.0)[:, None]
        return new, sums

    def _parts(self, words: Words) -> Iterable[tuple[int, int]]:
        return words.parts(max(1, _KEPT // len(self)))

    def _follow(self, words: Words) -> tuple[Floats, Floats]:
        """Return ln of the sum of the forward vector after each word, and it divided by the sum."""
        found = np.empty((len(words), len(self)))
        if len(words) < _FEW:
            logs = np.zeros(len(words))
            for place, codes in enumerate(words):
                logs[place], found[place] = self._follow_word(codes)
            return logs, found
        # Prefixes that words share are followed once, all of a length together.
        tree, nodes = PrefixTree.with_ends(words, len(self.alphabet))
        order = np.argsort(nodes, kind="stable")
        edges = np.searchsorted(nodes[order], tree.borders).tolist()
        logs, vectors, before = np.zeros(len(tree)), self.initial[None], 0
        for depth, level in enumerate(tree.levels):
            if depth:
                above = tree.parents[level]
                vectors, sums = self.step(vectors[above - before], tree.symbols[level])
                with np.errstate(divide="ignore"):
                    logs[level] = logs[above] + np.log(sums)
            before = level.start
            here = order[edges[depth] : edges[depth + 1]]
            found[here] = vectors[nodes[here] - before]
        return logs[nodes], found

    def _follow_word(self, codes: list[int]) -> tuple[float, Floats]:
        vector, sums = self.initial, []
        for code in codes:
            vector = vector @ self.matrices[code]
            sums.append(total := vector.sum())
            if not total:
                return -np.inf, vector
            vector = vector / total
        return float(np.log(sums).sum()), vector


class OpenedPFA(LanguageModel):
    """Keeps the forward vectors of words, up to a bound."""

    def __init__(self, pfa: PFA) -> None:
        self.alphabet = pfa.alphabet
        self.cost = pfa.cost
        self._pfa = pfa
        self._most = max(1, _KEPT // len(pfa))
        self._forget()

    def _forget(self) -> None:
        self._vectors, self._count = self._pfa.initial[None].copy(), 1
        # Where the vector of each word is, by the word's id; -1 where it is not kept.
        self._places = np.zeros(1, dtype=np.int64)

    def answer(self, batch: Batch) -> Rows:
        """Return the distributions after words; undefined after impossible ones."""
        if self._count + len(batch.ids) > self._most:
            self._forget()
        self._places = grown(self._places, int(batch.ids[-1]) + 1)
        whole = batch.reaching(self._are_known)
        for level in whole.levels():
            level = level[~self._are_known(whole.ids[level])]
            above = self._vectors[self._places[whole.parents[level]]]
            begin, self._count = self._count, self._count + len(level)
            self._vectors = grown(self._vectors, self._count, 0)
            self._vectors[begin : self._count] = self._pfa.step(above, whole.symbols[level])[0]
            self._places[whole.ids[level]] = np.arange(begin, self._count)
        found = self._vectors[self._places[batch.wanted_ids]]
        rows = found @ self._pfa.emissions
        undefined = np.asarray(~found.any(axis=1))
        return Rows.dense(rows, undefined=undefined, impossible=np.asarray(rows[:, 1:] == 0))

    def _are_known(self, ids: Integers) -> Flags:
        return np.asarray(self._places[ids] >= 0)


def _read_array(given: ArrayLike, dimensions: int, name: str) -> Floats:
    """Return an array of probabilities that is read-only; refuse anything else."""
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not an array of numbers") from error
    if array.ndim != dimensions or not len(array):
        raise InputError(f"{name} has the shape {array.shape}; it needs {dimensions} dimensions")
    if not (array >= 0).all() or not (array <= 1 + SUM_TOLERANCE).all():
        raise InputError(f"{name} has entries that are not probabilities, numbers from 0 to 1")
    array += 0.0  # no -0.0
    array.flags.writeable = False
    return array


def _reach(moves: Floats, begin: Flags) -> Flags:
    """Return which states can be reached by positive moves from some states."""
    reached, count = begin, -1
    while count != (count := int(reached.sum())):
        reached = reached | (moves[reached] > 0).any(axis=0)
    return reached
