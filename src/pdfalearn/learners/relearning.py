"""QuaNT that begins with an automaton which the model may be like, and trusts none of it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from pdfalearn.equivalence import check_equivalence, distinguish, quotient
from pdfalearn.errors import OracleError
from pdfalearn.learners._guess import Guess, Wrong
from pdfalearn.learners.protocol import Findings
from pdfalearn.learners.quant import QuaNT
from pdfalearn.models import AutomatonModel
from pdfalearn.observations import UNDEFINED, ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in
from pdfalearn.typing import Codes, Integers
from pdfalearn.words import Words, visited_states

# Walks have at least this many symbols, or this many times the depth of the guess if that is more.
_SYMBOLS, _TIMES = 64, 2
# Larger guesses are not walked through.
_MOST_CELLS = 2**17
# A guess is dropped after this many walks, and one for this many transitions; and after this many
# rounds of counterexamples.
_WALKS, _TRANSITIONS, _ROUNDS = 24, 4, 8
# How often nothing may explain walks before what explains little is taken, and then is dropped.
_PATIENCE = 2
# Of the counterexamples to a guess, at most this many become walks.
_ENOUGH = 10


class RelearningQuaNT(QuaNT):
    """QuaNT that begins with an automaton which the model may be like, and trusts none of it.

    Long words walk through the automaton until they have tested every transition. Where the model's
    classes are not as it says, what is changed is the transition that lets all walks agree for
    longest. What the oracle then finds wrong is one more walk. If walks show that too much has
    changed, or nothing explains them, the automaton is dropped: QuaNT learns, and nothing asked is
    asked again.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    reference : PDFA
        The automaton. Its symbols are those of the same name.
    traces : bool, optional
        As for `QuaNT`.

    Notes
    -----
    No state has been told apart by words of its own: the tree is one for the automaton that was
    found, not one of what was asked. Where distributions on the way to a word cost something, only
    some of them are asked for; all of them where one is not as guessed.

    Examples
    --------
    >>> from functools import partial
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import random_pdfa
    >>> old = random_pdfa(200, seed=1)
    >>> learn(old).statistics.words, learn(old, reference=old).statistics.words
    (403, 20)
    """

    def __init__(
        self, observations: ObservationTree, *, reference: PDFA, traces: bool | None = None
    ) -> None:
        super().__init__(observations, traces=traces)
        self._traces = traces
        self._guess = Guess(reference, observations)
        self._known = len(self._guess)
        self._most = _WALKS + self._guess.table.size // _TRANSITIONS
        self._rounds = 0  # of counterexamples
        self._draws = np.random.default_rng(0)
        # What makes a tree of the guess; None once it is dropped.
        self._told: QuaNT | None = None
        has_bound = observations.budget.max_states is not None
        self._is_dropped = has_bound or self._guess.table.size > _MOST_CELLS

    def start(self) -> None:
        """Walk through the guess, or learn without it."""
        if self._is_dropped:
            super().start()
            return
        self.size = 1
        if self.observations.budget.bounds_words:  # the empty word is asked even where none may be
            self.observations.ask(np.zeros(1, dtype=np.int64))
        self._walk()

    def hypothesis(self) -> PDFA:
        """Return the quotient of the guess, or QuaNT's hypothesis."""
        if self._is_dropped:
            return super().hypothesis()
        by = check_equivalence(self.observations.equivalence)
        small = quotient(self._guess.make_pdfa(), equivalence=by)
        with ObservationTree(AutomatonModel(small), by) as tree:
            self._told = told = QuaNT(tree, traces=self._traces)
            told.start()
            found = told.hypothesis()
            while (word := distinguish(small, found, equivalence=by)) is not None:
                told.refine(Words.of([small.alphabet.encode(word).tolist()]))
                found = told.hypothesis()
        return found

    def unresolved(self) -> Integers:
        """Return the transitions that no walk has tested, or QuaNT's unresolved ones."""
        if self._told is None:
            return super().unresolved()
        guess, words = self._guess, self._told.findings().access_words
        members = [0]
        for parent, symbol in zip(words.parents[1:], words.symbols[1:], strict=True):
            members.append(max(0, int(guess.table[members[parent], symbol])))
        is_tested = guess.counts[np.array(members)[words.ends]] > 0
        return np.flatnonzero(~is_tested & (self._told.hypothesis().transitions >= 0))

    def findings(self, states: int = 0) -> Findings:
        """Return what `QuaNT` does, and how much rests on walks."""
        guess, is_dropped = self._guess, self._told is None
        is_used = guess.possible.copy()
        is_used[~np.isin(np.arange(len(is_used)), reachable_in(guess.table, 0).states)] = False
        report: dict[str, object] = {
            "states": self._known,
            "dropped": is_dropped,
            "walks": guess.walks,
            "not_sifted": 0 if is_dropped else int(is_used.sum()),
            "not_tested": 0 if is_dropped else int((is_used & (guess.counts == 0)).sum()),
        }
        source = QuaNT.findings(self, states) if self._told is None else self._told.findings(states)
        return source._replace(reference=report)

    def refine(self, counterexamples: Words) -> None:
        """Walk along counterexamples to the guess, or split leaves."""
        if self._told is None:
            super().refine(counterexamples)
            return
        self._rounds += 1
        guess, observations = self._guess, self.observations
        pdfa = self._told.hypothesis()
        nodes = observations.path(counterexamples)[counterexamples.ends][:_ENOUGH]
        ends = visited_states(pdfa.table, pdfa.initial, counterexamples)[counterexamples.ends]
        labels = observations.classes_of(pdfa.probabilities[ends[: len(nodes)]])
        labels[ends[: len(nodes)] < 0] = UNDEFINED
        classes = observations.asked_classes(nodes)
        for word, class_, label in zip(counterexamples, classes, labels, strict=False):
            if class_ == label:
                name = observations.alphabet.decode(word)
                raise OracleError(f"the word {name} is not a counterexample to the hypothesis")
            guess.add(word + self._draw(-1, guess.tail))
        self._walk()

    # Walks

    def _walk(self) -> None:
        """Walk until every transition of the guess is tested and all walks are explained."""
        guess, patience, asked = self._guess, _PATIENCE, -1
        is_hopeful = guess.walks <= self._most and self._rounds <= _ROUNDS
        while is_hopeful and patience >= 0 and not guess.is_hopeless():
            before, wrong = guess.changes, list[Wrong]()
            if guess.walks:
                wrong = guess.settle(is_forced=patience == 0)
                is_stuck = any(not (one.changes and one.explained) for one in wrong)
                patience = patience - 1 if is_stuck and guess.changes == before else _PATIENCE
            self.size = max(1, int((guess.seen >= 0).sum()))
            words = self._plan(wrong, max(1, guess.walks // 4))
            if not wrong and (not words or self.observations.counts.words == asked):
                return
            asked = self.observations.counts.words
            for word in words:
                guess.add(word)
            is_hopeful = guess.walks <= self._most
        self._is_dropped, self._told, self.size = True, None, 0
        super().start()

    def _plan(self, wrong: list[Wrong], most: int) -> list[list[int]]:
        """Plan words for what is open, then such as take transitions that none has tested yet."""
        guess, words = self._guess, list[list[int]]()
        ways = _Ways(guess.table)
        for one in {(*one.changes, *one.suspects[-1:]): one for one in wrong}.values():
            places = [change[:2] for change in one.changes] or one.suspects or [(0, 0)]
            state, symbol = places[self._draws.integers(len(places))]
            way = []
            if state:  # a way on which nothing else explains the walk, if there is one
                others = {change[:2] for change in one.changes} - {(state, symbol)}
                way = ways.find(0, {state}, others) or ways.find(0, {state})
            if symbol >= 0:
                way, state = [*way, symbol], int(guess.table[state, symbol])
            words.append(way + self._draw(state, 2 * guess.tail))
        is_left = guess.possible & (guess.counts == 0)
        left = {
            state: np.flatnonzero(is_left[state]).tolist()
            for state in np.flatnonzero(is_left.any(axis=1)).tolist()
        }
        depth = reachable_in(guess.table, 0).depth
        length = max(_SYMBOLS - guess.tail, _TIMES * depth)
        while len(words) < most and (word := self._plan_one(ways, left, length)):
            words.append(word)
        return words or ([] if guess.walks else [self._draw(0, guess.tail)])

    def _plan_one(self, ways: _Ways, left: dict[int, list[int]], length: int) -> list[int]:
        """Return a word that takes transitions which are left, always the nearest one next."""
        here, word, table = 0, list[int](), ways.table
        while len(word) < length and here >= 0:
            if here in left:
                symbols = left[here]
                way = [symbols.pop(self._draws.integers(len(symbols)))]
                if not symbols:
                    del left[here]
            else:
                way = ways.find(here, left.keys())
            if not way:
                break
            for symbol in way:
                here = table[here][symbol]
            word += way
        return word + self._draw(here, self._guess.tail) if word else word

    def _draw(self, state: int, length: int) -> list[int]:
        """Draw symbols that are possible from a state on; any symbols where it is not known."""
        guess, word = self._guess, list[int]()
        for _ in range(length):
            symbols = np.arange(guess.table.shape[1])
            if state >= 0:
                symbols = np.flatnonzero(guess.possible[state])
                if not len(symbols):
                    break
            symbol = int(symbols[self._draws.integers(len(symbols))])
            state = int(guess.table[state, symbol]) if state >= 0 else -1
            word.append(symbol)
        return word


class _Ways:
    """Finds shortest ways through a guess."""

    def __init__(self, table: Codes) -> None:
        self.table = table.tolist()
        self._ways_on: list[list[tuple[int, int]]] = [
            [(symbol, end) for symbol, end in enumerate(ends) if end >= 0] for ends in self.table
        ]

    def find(
        self, begin: int, goals: Collection[int], avoid: Collection[tuple[int, int]] = ()
    ) -> list[int]:
        """Return the symbols of a shortest way to one of some states; none if there is none."""
        back = {begin: (begin, -1)}
        queue = [begin]
        for state in queue:  # it grows in front of the loop
            for symbol, end in self._ways_on[state]:
                if end in back or (state, symbol) in avoid:
                    continue
                back[end] = state, symbol
                if end in goals:
                    way = []
                    while end != begin:
                        end, symbol = back[end]
                        way.append(symbol)
                    return way[::-1]
                queue.append(end)
        return []
