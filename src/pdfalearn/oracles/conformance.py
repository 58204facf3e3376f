"""Oracles that find every fault of a bounded size: the W and the Wp method, for any classes."""

from __future__ import annotations

import numpy as np

from pdfalearn.arrays import numbered_rows
from pdfalearn.checks import check_integer
from pdfalearn.equivalence import check_equivalence, quotient, tell_states_apart
from pdfalearn.errors import InputError
from pdfalearn.observations import ObservationTree
from pdfalearn.oracles.comparison import first_differences
from pdfalearn.oracles.protocol import NOTHING_KNOWN
from pdfalearn.oracles.random_words import StatePrefixOracle
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable, shortest_words
from pdfalearn.results import Certificate
from pdfalearn.typing import Codes, Flags, Floats, Integers
from pdfalearn.words import NO_WORDS, Words, join_words, prefixes_of, visited_states

_MOST_WORDS = 10_000_000
# Words are asked for and compared in parts of about this size.
_PART = 1024


def telling_suffixes(pdfa: PDFA, classes: Integers) -> tuple[Words, Flags]:
    """Return suffixes that tell all states apart, and which of them each state needs for that.

    Every rest of a suffix is one, too, and comes before it. What is needed has a row for each
    state, and a last one for undefined words, which need nothing but the empty suffix.

    Parameters
    ----------
    pdfa : PDFA
        An automaton without equivalent states.
    classes : array of int
        The class of every state's distribution.

    Examples
    --------
    >>> from pdfalearn.datasets import chain
    >>> words, needed = telling_suffixes(chain(4), np.array([0, 0, 0, 1]))
    >>> list(words), needed[0].tolist(), needed[3].tolist()
    ([[], [0], [0, 0]], [False, False, True], [True, False, False])
    """
    words, columns = tell_states_apart(pdfa.table, np.append(classes, -1))
    blocks, needed = np.zeros(len(pdfa), dtype=np.int64), []
    for column in columns[:-1].T:  # what parts the states that were not apart before
        finer = numbered_rows(np.column_stack((blocks, column)))
        needed.append(np.bincount(finer)[finer] < np.bincount(blocks)[blocks])
        blocks = finer
    table = np.column_stack([np.append(column, False) for column in needed])
    table = _without_prefixes(Words.of(words), table)
    table[:, 0] |= ~table.any(axis=1)
    return Words.of(words), table


def _minimal(hypothesis: PDFA, observations: ObservationTree) -> tuple[PDFA, Words, Flags]:
    """Return the quotient of a hypothesis, with its telling suffixes."""
    by = check_equivalence(observations.equivalence)
    small = quotient(hypothesis, equivalence=by)
    return small, *telling_suffixes(small, by.classes(small.probabilities))


class WOracle:
    """Finds every difference to a model that has at most k states more than the hypothesis.

    It asks for a shortest word to every state, followed by every word of at most k + 1 symbols and
    by every one of some suffixes that tell the states of the hypothesis apart. Where it finds
    nothing, the model is equivalent to the hypothesis, or it has more than k states more.

    Parameters
    ----------
    extra_states : int
        The number k.

    Notes
    -----
    Chow (1978) and Vasilevskii (1973), for classes of distributions; undefined is one more class,
    and is not counted as a state. There are at most n·|Σ|ᵏ⁺¹·|W| words of each length in between,
    and |W| < n. More than ten million are refused. Both sides are compared after every prefix.

    Examples
    --------
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import combination_lock
    >>> lock, oracle = combination_lock(5, seed=1), WOracle(extra_states=4)
    >>> print(learn(lock, equivalence=Quantization(10), oracle=oracle).certificate)
    tested: equivalent to the model, if that has at most 9 states
    """

    def __init__(self, *, extra_states: int) -> None:
        self._extra = check_integer(extra_states, "extra_states", 0)
        self.certificate = NOTHING_KNOWN
        """What it means that the last query found no counterexample."""

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the shortest prefixes of such words after which model and hypothesis differ."""
        self.certificate = NOTHING_KNOWN
        small, suffixes, needed = _minimal(hypothesis, observations)
        self._check_count(small, suffixes)
        # Words are compared after every prefix: a suffix that begins another one adds nothing.
        every, last = _without_prefixes(suffixes, np.ones_like(needed)), self._extra + 1
        every[-1] = needed[-1]
        part = reachable(small)
        words, states, count = shortest_words(small, part), part.states.astype(np.int64), 0
        for length in range(last + 1):
            if length:
                words, states = _step(small, words, states, part.parents if length == 1 else None)
            flags = every if length < last else self._last(every, needed)
            # In parts, so that few words are asked where the first ones differ.
            step = max(1, _PART // len(suffixes))
            for begin in range(0, len(words), step):
                rows, columns = flags[states[begin : begin + step]].nonzero()
                rows += begin
                tests = join_words(
                    prefixes_of(words, rows, words.lengths[rows]),
                    prefixes_of(suffixes, columns, suffixes.lengths[columns]),
                )
                found = first_differences(tests, small, observations)
                if len(found):
                    return found
                count += len(tests)
        most = len(small) + self._extra
        self.certificate = Certificate(
            "tested",
            f"equivalent to the model, if that has at most {most} states",
            {"extra_states": self._extra, "states": len(small), "words": count},
        )
        return NO_WORDS

    def _last(self, every: Flags, needed: Flags) -> Flags:
        """Return which suffixes come after the longest words, by the state that these lead to."""
        return every

    def _check_count(self, pdfa: PDFA, suffixes: Words) -> None:
        """Refuse too many words."""
        longest = len(pdfa) * len(suffixes) * len(pdfa.alphabet) ** (self._extra + 1)
        if longest > _MOST_WORDS:
            raise InputError(
                f"{len(pdfa)} states, {len(suffixes)} suffixes, {len(pdfa.alphabet)} symbols and "
                f"extra_states={self._extra} make up to {longest:.3g} words, and {_MOST_WORDS:,} "
                "at most are asked; choose fewer extra states, or RandomWpOracle"
            )


class WpOracle(WOracle):
    """Finds what `WOracle` finds with fewer words.

    After the longest words it asks for those suffixes only that tell the state which they lead to
    from all others; after all other words for all suffixes, as `WOracle` does.

    Parameters
    ----------
    extra_states : int
        The model may have this many states more than the hypothesis.

    Notes
    -----
    Fujiwara, von Bochmann, Khendek, Amalou and Ghedamsi (1991), for classes of distributions.

    Examples
    --------
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import chain
    >>> target, oracle = chain(6, reset=True), WpOracle(extra_states=5)
    >>> print(learn(target, equivalence=Quantization(10), oracle=oracle).certificate)
    tested: equivalent to the model, if that has at most 11 states
    """

    def _last(self, every: Flags, needed: Flags) -> Flags:
        return needed


class RandomWpOracle(StatePrefixOracle):
    """Walks at random from every state, and goes on with a suffix that tells where it should be.

    A walk has any number of symbols up to ``walk_length``, each as likely. The suffix is drawn from
    those that tell the state to which the walk leads from all others (see `WpOracle`).

    Parameters
    ----------
    walks_per_state : int
        How many walks begin at each state; fresh ones at every query.
    walk_length : int
        The most symbols that a walk has between the state and the suffix.
    seed : int
        Seed of all random choices.

    Examples
    --------
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import figure_3
    >>> oracle = RandomWpOracle(walks_per_state=10, walk_length=3)
    >>> print(learn(figure_3(), equivalence=Quantization(10), oracle=oracle).certificate)
    tested: no difference on 10 random tests of 3 symbols from each of the 4 states
    """

    _name = "random tests"

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the shortest prefixes of tests after which model and hypothesis differ."""
        small, self._suffixes, self._needed = _minimal(hypothesis, observations)
        return super().counterexamples(small, observations)

    def _walk(self, hypothesis: PDFA, states: Codes, rows: Floats) -> Words:
        """Walk from states as far as is drawn, and go on with a suffix."""
        walks, random = super()._walk(hypothesis, states, rows), self._random
        lengths = np.minimum(walks.lengths, random.integers(self._length + 1, size=len(walks)))
        walks = prefixes_of(walks, np.arange(len(walks)), lengths)
        needed = self._needed[visited_states(hypothesis.table, states, walks)[walks.ends]]
        drawn = (needed * (1 - random.random(needed.shape))).argmax(axis=1)
        return join_words(walks, prefixes_of(self._suffixes, drawn, self._suffixes.lengths[drawn]))


def _step(
    pdfa: PDFA, words: Words, states: Integers, parents: Integers | None
) -> tuple[Words, Integers]:
    """Return words one symbol longer, but for undefined ones, and the states they lead to.

    With the parents in a tree of shortest words, these words are left out: they come already.
    """
    symbols = len(pdfa.alphabet)
    places = np.repeat((states >= 0).nonzero()[0], symbols)
    letters = np.tile(np.arange(symbols, dtype=np.int32), len(places) // symbols)
    ends = pdfa.table[states[places], letters].astype(np.int64)
    if parents is not None:  # the states are numbered breadth first
        # Of the ways from one word to one state, the tree took the first.
        first = np.unique(places * (len(pdfa) + 1) + ends + 1, return_index=True)[1]
        in_tree = first[(ends[first] > 0) & (parents[ends[first]] == places[first])]
        kept = np.delete(np.arange(len(ends)), in_tree)
        places, letters, ends = places[kept], letters[kept], ends[kept]
    longer = prefixes_of(words, places, words.lengths[places])
    return join_words(longer, Words(letters, np.arange(len(letters) + 1))), ends


def _without_prefixes(words: Words, needed: Flags) -> Flags:
    """Leave out words that are the beginning of another one that is needed with them."""
    places = {tuple(word): place for place, word in enumerate(words)}
    left = needed.copy()
    for word, place in places.items():
        for length in range(len(word)):
            if word[:length] in places:
                left[:, places[word[:length]]] &= ~needed[:, place]
    return left
