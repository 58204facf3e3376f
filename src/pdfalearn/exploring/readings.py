"""How a model's symbols are read by languages: which of them settle something, and which go on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.languages import (
    OPEN,
    LabelledDFA,
    LanguageLike,
    label_languages,
    label_texts,
    language_dfa,
)
from pdfalearn.typing import Codes, Floats, Integers

# Maps of states are forgotten, all together, when they take more than this many bytes.
_MOST_BYTES = 2**28


Kinds = NDArray[np.int16]
"""What columns settle: numbers of labels, or those behind them."""


class StateMap(NamedTuple):
    """What each column of a row does in a state of the languages."""

    settled: Kinds
    """The label that is settled with a column, the terminal's first; ``control``, or one more where
    nothing is."""
    live: Codes
    """The symbols that leave it open, ascending."""
    targets: Codes
    """The states after these."""

    def mass_behind(self, masses: Floats, control: int, is_cut: bool) -> Floats:
        """Sum up what settled columns have although the answer goes on; the first is its end."""
        goes_on = (self.settled <= control) & (np.arange(len(self.settled)) > 0) & (not is_cut)
        return np.asarray(masses[:, goes_on].sum(axis=1))


class Reading(Protocol):
    """Languages, read in the symbols of a model."""

    dfa: LabelledDFA
    """The languages, with the states that maps speak of."""
    control: int
    """The number after all labels: neither text nor an end."""
    cuts: Integers
    """What is settled in each state where words are cut: a label, or ``control + 1`` if nothing."""

    @property
    def spelling(self) -> tuple[bytes | None, ...] | None:
        """The bytes of every symbol where languages are about text."""
        ...

    @property
    def stops(self) -> tuple[bytes, ...]:
        """The texts before which a text ends."""
        ...

    def map(self, state: int) -> StateMap:
        """Return what every column does in an open state."""
        ...


class SymbolReading:
    """Languages over a model's own symbols.

    Examples
    --------
    >>> from pdfalearn.alphabet import Alphabet
    >>> reading = SymbolReading(["ab?"], Alphabet("ab"))
    >>> after = reading.map(reading.dfa.initial)
    >>> after.settled.tolist(), after.live.tolist()
    ([0, 3, 0], [0])
    """

    spelling, stops = None, ()

    def __init__(
        self,
        languages: Sequence[LanguageLike],
        alphabet: Alphabet,
        *,
        by_beginning: bool = False,
        cut_ends: bool = False,
    ) -> None:
        dfas = [language_dfa(language, alphabet) for language in languages]
        self.dfa, sure = label_languages(dfas, by_beginning=by_beginning).label_sure()
        self.control = len(self.dfa.members)
        self.cuts = _label_cuts(self.dfa, sure, is_end=cut_ends)

    def map(self, state: int) -> StateMap:
        """Return what every column does in an open state."""
        after = self.dfa.table[state]
        decided = self.dfa.decided[after]
        live = (decided == OPEN).nonzero()[0].astype(np.int32)
        settled = np.append(
            self.dfa.labels[state], np.where(decided < 0, self.control + 1, decided)
        )
        return StateMap(settled.astype(np.int16), live, after[live])


class TokenReading:
    """Languages over text, read in tokens: maps are made when they are needed first.

    A text counts as soon as it matches whatever follows. The tree of all tokens' bytes is walked
    from a state of the languages, no further than it is open what a text will come to; all tokens
    behind that settle the same.

    Examples
    --------
    >>> reading = TokenReading(["ab?"], (b"a", b"ab", b"abc", None, b"b"))
    >>> after = reading.map(reading.dfa.initial)
    >>> after.settled.tolist(), after.live.tolist()
    ([0, 3, 3, 0, 2, 0], [0, 1])
    """

    def __init__(
        self,
        languages: Sequence[LanguageLike],
        spelling: tuple[bytes | None, ...],
        *,
        by_beginning: bool = False,
        cut_ends: bool = False,
        is_lasting: bool = True,
        stops: Sequence[bytes] = (),
    ) -> None:
        self.spelling, self.stops = spelling, tuple(stops)
        labelled = label_texts(
            languages, by_beginning=by_beginning, is_lasting=is_lasting, stops=self.stops
        )
        self.dfa, self._sure = labelled.label_sure()
        self.control = len(self.dfa.members)
        self.cuts = _label_cuts(self.dfa, self._sure, is_end=cut_ends)
        self._trie = _make_trie(spelling)
        self._base = np.full(len(spelling) + 1, self.control, dtype=np.int16)
        self._base[1 + self._trie.order] = 0
        self._maps: dict[int, StateMap] = {}
        self._bytes = 0

    def map(self, state: int) -> StateMap:
        """Return what every column does in an open state."""
        if state not in self._maps:
            made = self._make(state)
            self._bytes += sum(part.nbytes for part in made)
            if self._bytes > _MOST_BYTES:
                self._maps, self._bytes = {}, 0
            self._maps[state] = made
        return self._maps[state]

    def _make(self, state: int) -> StateMap:
        trie, dfa = self._trie, self.dfa
        columns = self._base.copy()  # label 0 is what most tokens come to
        columns[0] = dfa.labels[state]
        if (sure := self._sure[state]) > 0:  # whatever follows, even what is not text
            columns[columns == self.control] = sure
        live, targets = list[Integers](), list[Integers]()
        nodes, states = np.zeros(1, dtype=np.int64), np.array([state])
        while len(nodes):
            # Where a byte leads back to the same state, all its repetitions are walked at once.
            is_loop = dfa.table[states, trie.bytes[nodes]] == states
            if has_loops := bool(is_loop.any()):
                runs = np.where(is_loop, trie.run_lengths[nodes], 1)
                nodes = trie.runs[_ranges(trie.run_places[nodes], runs)]
                states, is_loop = np.repeat(states, runs), np.repeat(is_loop, runs)
            own = trie.own_ends[nodes] - trie.begins[nodes]
            live.append(_ranges(trie.begins[nodes], own))
            targets.append(np.repeat(states, own))
            counts = trie.child_counts[nodes]
            children = _ranges(trie.first_children[nodes], counts)
            after = dfa.table[np.repeat(states, counts), trie.bytes[children]]
            decided = dfa.decided[after]
            here = decided > 0
            if here.any():
                begins = trie.begins[children[here]]
                ends = trie.ends[children[here]]
                labels = np.repeat(decided[here], ends - begins)
                columns[1 + trie.order[_ranges(begins, ends - begins)]] = labels
            goes_on = decided == OPEN
            if has_loops:
                goes_on &= ~(np.repeat(is_loop, counts) & trie.repeats[children])
            nodes, states = children[goes_on], after[goes_on].astype(np.int64)
        symbols, goals = trie.order[np.concatenate(live)], np.concatenate(targets)
        columns[1 + symbols] = self.control + 1
        order = np.argsort(symbols)
        return StateMap(columns, symbols[order].astype(np.int32), goals[order].astype(np.int32))


def _label_cuts(dfa: LabelledDFA, sure: Integers, *, is_end: bool) -> Integers:
    """Return what is settled by cutting words in each state: as if they ended, or what is sure."""
    return dfa.labels if is_end else np.where(sure == 0, len(dfa.members) + 1, sure)


def _ranges(begins: Integers, counts: Integers) -> Integers:
    """Return the numbers from each begin on, as many as are counted."""
    ends = np.cumsum(counts)
    return np.repeat(begins - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)


@lru_cache(maxsize=2)
def _make_trie(spelling: tuple[bytes | None, ...]) -> _ByteTrie:
    """Return the tree of tokens, made once for all questions to a model."""
    return _ByteTrie(spelling)


class _ByteTrie:
    """The bytes of all tokens as a tree, whose nodes are ranges of the sorted tokens."""

    def __init__(self, spelling: Sequence[bytes | None]) -> None:
        texts = [(text, symbol) for symbol, text in enumerate(spelling) if text is not None]
        texts.sort()
        self.order = np.array([symbol for _, symbol in texts], dtype=np.int64)
        lengths = np.array([len(text) for text, _ in texts], dtype=np.int64)
        offsets = np.cumsum(lengths) - lengths
        flat = np.frombuffer(b"".join(text for text, _ in texts), dtype=np.uint8)
        # Level by level: a node is a range of tokens that begin alike.
        begins, ends = [np.zeros(1, dtype=np.int64)], [np.array([len(texts)])]
        own_ends, firsts, counts, letters = [], [], [], [np.zeros(1, dtype=np.uint8)]
        # A run is a node with all below it that repeat its byte; each is known by its first node.
        heads = [np.zeros(1, dtype=np.int64)]
        depth, size = 0, 1
        while len(begins[-1]):
            low, high = begins[-1], ends[-1]
            # Sorted, the tokens that end at a node stand before those that go on.
            members = _ranges(low, high - low)
            owners = np.repeat(np.arange(len(low)), high - low)
            over = lengths[members] == depth
            own = low + np.bincount(owners[over], minlength=len(low))
            members, owners = members[~over], owners[~over]
            byte = flat[offsets[members] + depth]
            keys = owners * 256 + byte
            new, where = np.unique(keys, return_index=True)
            own_ends.append(own)
            counts.append(np.bincount(new // 256, minlength=len(low)))
            firsts.append(size + np.cumsum(counts[-1]) - counts[-1])
            begins.append(members[where])
            # Ranges of children reach up to the next child, or the end of their parent.
            ends.append(members[np.append(where[1:], len(members)) - 1] + 1 if len(new) else where)
            letters.append((new % 256).astype(np.uint8))
            repeats = (letters[-2][new // 256] == letters[-1]) & (depth > 0)
            numbers = np.arange(size, size + len(new))
            heads.append(np.where(repeats, heads[-1][new // 256], numbers))
            size, depth = size + len(new), depth + 1
        self.begins, self.ends = np.concatenate(begins), np.concatenate(ends)
        self.own_ends, self.bytes = np.concatenate(own_ends), np.concatenate(letters)
        self.first_children = np.concatenate(firsts)
        self.child_counts = np.concatenate(counts)
        head = np.concatenate(heads)
        self.repeats = head != np.arange(size)
        self.runs = np.argsort(head, kind="stable")
        self.run_places = np.argsort(self.runs)
        self.run_lengths = np.searchsorted(head[self.runs], head, side="right") - self.run_places
