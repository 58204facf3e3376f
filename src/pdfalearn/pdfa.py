"""PDFA: probabilistic deterministic finite automata (§2 of the paper)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.checks import (
    check_integer,
    check_probabilities,
    check_transitions,
    make_generator,
)
from pdfalearn.errors import InputError
from pdfalearn.frozen import Frozen
from pdfalearn.text import described
from pdfalearn.typing import Flags, Floats
from pdfalearn.words import Words, draw_words, visited_states

States = NDArray[np.int32]


class Sample(NamedTuple):
    """Words drawn from a PDFA; ``cut`` marks those that were stopped at the maximal length.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> drawn = figure_1().sample(3, seed=1, max_length=4)
    >>> len(drawn.words), drawn.cut.tolist()
    (3, [False, False, False])
    """

    words: list[tuple[Symbol, ...]]
    cut: Flags


class PDFA(Frozen):
    """A probabilistic deterministic finite automaton (Q, q_in, π, τ).

    States are the integers 0, 1, …. A PDFA never changes after it is made.

    Parameters
    ----------
    alphabet : iterable of hashable, or Alphabet
        The symbols, in the order of the columns of ``transitions``.
    transitions : array_like of int, shape (states, symbols)
        The successor τ(q, σ). -1 is an undefined transition, allowed only where the symbol has
        probability 0: words through it are undefined.
    probabilities : array_like of float, shape (states, symbols + 1)
        The distribution π(q) of every state, the terminal's probability first.
    initial : int
        The initial state.
    terminal : hashable
        The terminal symbol; not in the alphabet. An `Alphabet` brings its own.

    Notes
    -----
    An undefined word has probability 0 and no next distribution, and so have all its
    continuations. Undefined is never a state: ``state_after`` returns None; in arrays it is -1.

    Examples
    --------
    >>> pdfa = PDFA(alphabet="a", transitions=[[1], [1]], probabilities=[[0, 1], [0.5, 0.5]])
    >>> pdfa
    PDFA(2 states, alphabet=('a',), initial=0)
    >>> pdfa.probability("aaa")
    0.125
    """

    alphabet: Alphabet
    transitions: States
    probabilities: Floats
    initial: int
    table: States  # one row more, all -1: index -1 finds it, so undefined leads to undefined

    def __init__(
        self,
        *,
        alphabet: Iterable[Symbol] | Alphabet,
        transitions: ArrayLike,
        probabilities: ArrayLike,
        initial: int = 0,
        terminal: Symbol = "$",
    ) -> None:
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        rows = check_probabilities(probabilities, alphabet)
        table = check_transitions(transitions, rows, alphabet)
        self.__dict__.update(
            alphabet=alphabet, probabilities=rows, transitions=table[:-1], table=table
        )
        self.__dict__["initial"] = self.checked_state(initial, "initial state")

    def __reduce__(self) -> tuple[object, ...]:
        names = ("alphabet", "transitions", "probabilities", "initial")
        return partial(PDFA, **{name: getattr(self, name) for name in names}), ()

    @property
    def terminal(self) -> Symbol:
        """The terminal symbol $."""
        return self.alphabet.terminal

    def __len__(self) -> int:
        return len(self.transitions)

    def __repr__(self) -> str:
        symbols = repr(self.alphabet.symbols)
        if len(self.alphabet) > 8:
            symbols = f"{len(self.alphabet)} symbols"
        states = "1 state" if len(self) == 1 else f"{len(self)} states"
        return f"PDFA({states}, alphabet={symbols}, initial={self.initial})"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        from pdfalearn.viewing import pdfa_bundle

        return pdfa_bundle(self)

    def __eq__(self, other: object) -> bool:
        """Return whether two PDFA are the same to the last bit, state for state."""
        if not isinstance(other, PDFA):
            return NotImplemented
        return (
            self.alphabet == other.alphabet
            and self.initial == other.initial
            and np.array_equal(self.transitions, other.transitions)
            and np.array_equal(self.probabilities, other.probabilities)
        )

    @cached_property
    def _hash(self) -> int:
        arrays = (self.transitions.tobytes(), self.probabilities.tobytes())
        return hash((self.alphabet, self.initial, *arrays))

    def __hash__(self) -> int:
        return self._hash

    def state_after(self, word: Word, *, state: int | None = None) -> int | None:
        """Return the state τ*(q, s) after a word, or None where the word is undefined.

        Parameters
        ----------
        word : sequence of symbols
            The word s.
        state : int, optional
            The state q to start from; the initial state if not given.
        """
        end = int(self.states_after([word], state=state)[0])
        return None if end < 0 else end

    def states_after(self, words: Iterable[Word], *, state: int | None = None) -> States:
        """Return the state after each of many words; -1 where a word is undefined."""
        batch = self.alphabet.encode_words(words)
        ends: States = self._run(batch, state)[batch.ends]
        return ends

    def next_distribution(self, word: Word, *, state: int | None = None) -> Floats | None:
        """Return the distribution π*(s|q) after a word, terminal first; None where undefined.

        Examples
        --------
        >>> pdfa = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.25, 0.75, 0]])
        >>> pdfa.next_distribution("aa")
        array([0.25, 0.75, 0.  ])
        >>> pdfa.next_distribution("ab") is None
        True
        """
        end = self.state_after(word, state=state)
        return None if end is None else self.probabilities[end]

    def next_distributions(self, words: Iterable[Word], *, state: int | None = None) -> Floats:
        """Return the distribution after each of many words; a row of NaN where undefined."""
        ends = self.states_after(words, state=state)
        rows = self.probabilities[ends]
        rows[ends < 0] = np.nan
        return rows

    def probability(self, word: Word, *, state: int | None = None) -> float:
        """Return the probability P(s|q) of a whole word, terminal included."""
        return float(self.word_probabilities([word], state=state)[0])

    def word_probabilities(self, words: Iterable[Word], *, state: int | None = None) -> Floats:
        """Return the probability of each of many whole words."""
        return self._multiply(words, state)

    def log_probability(self, word: Word, *, state: int | None = None) -> float:
        """Return the natural logarithm of P(s|q): no underflow on long words, -inf for 0."""
        return float(self.log_probabilities([word], state=state)[0])

    def log_probabilities(self, words: Iterable[Word], *, state: int | None = None) -> Floats:
        """Return the natural logarithm of the probability of each of many whole words."""
        return self._multiply(words, state, are_logs=True)

    def prefix_probability(self, word: Word, *, state: int | None = None) -> float:
        """Return the probability that a word drawn from state q begins with this one."""
        return float(self.prefix_probabilities([word], state=state)[0])

    def prefix_probabilities(self, words: Iterable[Word], *, state: int | None = None) -> Floats:
        """Return the prefix probability of each of many words."""
        return self._multiply(words, state, stop=False)

    def last_symbol_probability(self, word: Word, *, state: int | None = None) -> float:
        """Return π^ℓ(sσ|q) = π*(s|q)(σ), σ the last symbol of the word or the terminal.

        It is 0 where the word before the last symbol is undefined.

        Examples
        --------
        >>> pdfa = PDFA(alphabet="a", transitions=[[1], [1]], probabilities=[[0, 1], [0.25, 0.75]])
        >>> pdfa.last_symbol_probability("aa"), pdfa.last_symbol_probability("a$")
        (0.75, 0.25)
        """
        return float(self.last_symbol_probabilities([word], state=state)[0])

    def last_symbol_probabilities(
        self, words: Iterable[Word], *, state: int | None = None
    ) -> Floats:
        """Return π^ℓ of each of many words, none empty; each may end with the terminal."""
        batch = self.alphabet.list_words(words)
        if not all(map(len, batch)):
            raise InputError("the empty word has no last symbol; give a word of one or more")
        ends = self.states_after([word[:-1] for word in batch], state=state)
        terminal = self.alphabet.terminal
        last = [0 if w[-1] == terminal else self.alphabet.index(w[-1]) + 1 for w in batch]
        values = self.probabilities[ends, np.array(last, dtype=np.intp)]
        values[ends < 0] = 0.0
        return values

    def sample(
        self,
        count: int,
        seed: int | None = None,
        max_length: int = 1000,
        *,
        state: int | None = None,
    ) -> Sample:
        """Draw words from the PDFA.

        Parameters
        ----------
        count : int
            How many words.
        seed : int, optional
            Seed of the random generator: same seed, same words. Other words each time if not given.
        max_length : int
            Words are cut at this length, and flagged: a state may never stop.
        state : int, optional
            The state to start from; the initial state if not given.

        Examples
        --------
        >>> pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0, 1]])
        >>> pdfa.sample(1, seed=0, max_length=3)
        Sample(words=[('a', 'a', 'a')], cut=array([ True]))
        """
        count = check_integer(count, "count", 0)
        max_length = check_integer(max_length, "max_length", 0)
        start = self.initial if state is None else self.checked_state(state)
        random = np.random.default_rng() if seed is None else make_generator(seed)
        words, cut = draw_words(self.table, self.probabilities, start, count, max_length, random)
        return Sample(self.alphabet.decode_words(words), cut)

    def score(self, words: str | os.PathLike[str] | Iterable[Word]) -> Any:
        """Score a corpus, a path or words, as `pdfalearn.score` does.

        Examples
        --------
        >>> pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
        >>> pdfa.score(["a", ""]).words
        2
        """
        from pdfalearn.analysis import score

        return score(self, words)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the PDFA to a file; the ending of its name says the format, as for `save`."""
        from pdfalearn.io import save

        save(self, path)

    def to_networkx(self) -> Any:
        """Make a directed multigraph of networkx, for its algorithms on graphs.

        Returns
        -------
        networkx.MultiDiGraph
            Its nodes are the states, each with its ``terminal`` probability; its edges the defined
            transitions, with ``symbol`` and ``probability``, the symbol as key. ``graph.graph`` has
            the ``initial`` state and the ``terminal`` symbol.

        Raises
        ------
        MissingExtraError
            If networkx is not installed.
        """
        from pdfalearn.io import to_networkx

        return to_networkx(self)

    def to_frame(self) -> Any:
        """Make a table of pandas with a line for every state and symbol, the terminal first.

        Returns
        -------
        pandas.DataFrame
            Its columns are ``state``, ``symbol``, ``probability`` and ``successor``, which is
            missing for the terminal and for undefined transitions.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        from pdfalearn.io import to_frame

        return to_frame(self)

    def _run(self, words: Words, state: int | None) -> States:
        start = self.initial if state is None else self.checked_state(state)
        return visited_states(self.table, start, words)

    def _multiply(
        self, words: Iterable[Word], state: int | None, *, stop: bool = True, are_logs: bool = False
    ) -> Floats:
        """Multiply the probabilities of every word's symbols and, to stop, of the terminal."""
        batch = self.alphabet.encode_words(words)
        if not len(batch):
            return np.empty(0)
        # Once a run is undefined its factors are arbitrary, but finite: the symbol that made it so
        # has put a 0 among them.
        factors = self.probabilities[self._run(batch, state), batch.next_columns()]
        if not stop:
            factors[batch.ends] = 1.0
        begins = batch.offsets[:-1] + np.arange(len(batch))
        if not are_logs:
            return np.multiply.reduceat(factors, begins)
        with np.errstate(divide="ignore"):
            return np.add.reduceat(np.log(factors), begins)

    def checked_state(self, state: int, name: str = "state") -> int:
        """Refuse what is not a state of this PDFA."""
        return check_integer(state, name, 0, len(self) - 1)


def pdfa_of_arrays(
    alphabet: Alphabet, table: States, probabilities: Floats, initial: int = 0
) -> PDFA:
    """Make a PDFA of arrays that are right and that nobody else uses, without copying them.

    The table of transitions has a last row of -1.
    """
    probabilities += 0.0  # no -0.0
    for array in (table, probabilities):
        array.setflags(write=False)
    pdfa = PDFA.__new__(PDFA)
    rows = {"probabilities": probabilities, "transitions": table[:-1], "table": table}
    pdfa.__dict__.update(alphabet=alphabet, initial=initial, **rows)
    return pdfa


def check_pdfa(given: object, name: str) -> PDFA:
    """Return a PDFA as it is; refuse anything else, by the name of the argument.

    Examples
    --------
    >>> check_pdfa("a.json", "target")
    Traceback (most recent call last):
    pdfalearn.errors.InputError: target is 'a.json', not a PDFA; load(path) reads one from a file
    """
    if isinstance(given, PDFA):
        return given
    raise InputError(f"{name} is {described(given)}, not a PDFA; {pdfa_remedy(given)}")


def pdfa_remedy(given: object) -> str:
    """Return the advice on how to turn something that is not a PDFA into one."""
    if isinstance(given, str | os.PathLike):
        return "load(path) reads one from a file"
    if isinstance(getattr(given, "pdfa", None), PDFA):
        return "give its attribute pdfa"
    if isinstance(getattr(given, "best", None), PDFA):
        return "give one of its automata, such as its best or at_most(8)"
    if hasattr(given, "answer"):
        return "learn(model).pdfa or distill(model).best is one for a language model"
    if callable(given) and not isinstance(given, type):
        return "learn(FunctionModel(function, alphabet)).pdfa is one for a function"
    return "make one with PDFA(…), load(path) or learn(model).pdfa"
