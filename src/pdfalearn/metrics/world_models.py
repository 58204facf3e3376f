"""Does a model know the states of a world? Coherence with a known automaton."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import nlargest
from itertools import combinations
from math import nan
from typing import Any

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.arrays import numbered_rows
from pdfalearn.chains import Pairs, Reached, normalise_rows, visits_and_weights
from pdfalearn.checks import check_integer, check_number
from pdfalearn.equivalence import (
    Equivalence,
    Support,
    check_equivalence,
    over_union,
    tell_states_apart,
)
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA, trim_dfa
from pdfalearn.models import LanguageModel, as_model, wrapped_pdfa
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.reachability import possible_part, reachable_part
from pdfalearn.results import TableValue, figure
from pdfalearn.text import are_characters, short_word_text
from pdfalearn.typing import Floats, Integers

DEFAULT_EQUIVALENCE = Support(0.01)
_MOST_QUESTIONS = 10**6
# Masses below it are what rounding has left.
_ROUNDING = 1e-12

Codes = list[int]
_Facts = dict[str, Any]


@dataclass(frozen=True)
class Incoherence:
    """Two words that a model takes for the same and that are not, or the other way round.

    Examples
    --------
    >>> from pdfalearn.datasets import reber
    >>> from pdfalearn.metrics import coherence
    >>> found = coherence(reber(), reber())
    >>> found.split, found.merged
    ((), ())
    """

    word: tuple[Symbol, ...]
    other: tuple[Symbol, ...]
    suffix: tuple[Symbol, ...]
    """What tells them apart: in the model if it splits a state, in truth if it merges two."""
    mass: float
    """The share of all pairs of beginnings that are alike: same states, same answers."""


@dataclass(frozen=True)
class Coherence(TableValue):
    """How far a model's answers follow the states of a known automaton.

    Examples
    --------
    >>> from pdfalearn import PDFA
    >>> from pdfalearn.languages import DFA
    >>> from pdfalearn.metrics import coherence
    >>> stairs = DFA(alphabet="ud", transitions=[[1, -1], [2, 0], [-1, 1]], accepting=[True] * 3)
    >>> rows = [[0.2, 0.8, 0], [0.2, 0.4, 0.4]]  # all that counts is where it began
    >>> climber = PDFA(alphabet="ud", transitions=[[1, 1], [1, 1]], probabilities=rows)
    >>> print(coherence(climber, stairs, count=1))
    over all words, with their probabilities
    <BLANKLINE>
    of two beginnings of words             share
    same state: same answers            0.771429
    other states: other answers         0.695652
    suffixes told apart: rightly               1
    suffixes to tell apart: told apart  0.695652
    <BLANKLINE>
    same state, other answers              apart by     mass
    (the empty word)           ud  (the empty word)  0.09877
    <BLANKLINE>
    other states, same answers              apart by     mass
    u                           ud  (the empty word)  0.07407
    """

    compression: float
    """Of two beginnings of words that reach one state: how likely all answers are the same."""
    distinction: float
    """Of two that reach different states: how likely some answers differ; NaN for one state."""
    precision: float
    """Of suffixes after which the model tells such two apart, the share that does; NaN if none."""
    recall: float
    """Of suffixes that tell such two apart, the share after which the model does, too."""
    split: tuple[Incoherence, ...]
    """Beginnings that reach one state and have different answers; the largest mass first."""
    merged: tuple[Incoherence, ...]
    """Beginnings that reach different states and have the same answers."""
    suffixes: tuple[tuple[Symbol, ...], ...]
    """After these the answers were compared."""
    beginnings: int | None
    """How many beginnings of words there were; None for all."""
    covered: float
    """Their share of all positions of words; 0 if words may never end."""
    words: int
    """How many words the model was asked for."""

    @property
    def statement(self) -> str:
        """What was looked at."""
        if self.beginnings is None:
            return "over all words, with their probabilities"
        return (
            f"over {self.beginnings:,} beginnings of words, {self.covered:.4g} of all positions; "
            f"suffixes: {len(self.suffixes):,}; words asked: {self.words:,}"
        )

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return a table of the shares, and one of the words for each kind of mistake."""
        shares: list[tuple[str, ...]] = [
            ("of two beginnings of words", "share"),
            ("same state: same answers", figure(self.compression)),
            ("other states: other answers", figure(self.distinction)),
            ("suffixes told apart: rightly", figure(self.precision)),
            ("suffixes to tell apart: told apart", figure(self.recall)),
        ]
        titles = {
            "same state, other answers": self.split,
            "other states, same answers": self.merged,
        }
        tables: list[list[tuple[str, ...]]] = [shares]
        for title, found in titles.items():
            parts = [(one.word, one.other, one.suffix) for one in found]
            joined = are_characters(s for words in parts for word in words for s in word)
            lines = [
                (*(short_word_text(word, joined=joined) for word in words), f"{one.mass:.4g}")
                for words, one in zip(parts, found, strict=True)
            ]
            tables += [[(title, "", "apart by", "mass"), *lines]] if lines else []
        return tables


def coherence(
    model: PDFA | LanguageModel,
    truth: PDFA | DFA,
    *,
    equivalence: Equivalence = DEFAULT_EQUIVALENCE,
    least: float = 1e-3,
    count: int = 5,
) -> Coherence:
    """Measure how far a model's answers follow the states of a known automaton.

    Parameters
    ----------
    model : PDFA or LanguageModel
        What is measured, over the symbols of the truth. A PDFA, alone or in wrappers, is measured
        over all words at once, exactly.
    truth : PDFA or DFA
        The world. Words are those that it finds possible, with its probabilities; after a word of a
        DFA all that it allows is equally likely.
    equivalence : Equivalence
        When two answers are the same: by which symbols have more than 0.01 if not given. For a
        PDFA as truth also when two of its rows are; states of a DFA are told apart by what may
        follow.
    least : float
        Of other models: every beginning of words that is at least this likely is asked for.
    count : int
        How many pairs of words of each kind are kept, at most.

    Notes
    -----
    After Vafa, Chen, Rambachan, Kleinberg and Mullainathan (2024), who draw words and suffixes. Two
    beginnings are drawn independently, each as likely as it is (of an automaton: as often as words
    come by). Answers are compared after the empty suffix and those that tell the states of the
    truth apart, each pair by one at least; where the model is an automaton, its own states, too, so
    that answers which are the same after all these suffixes always are. Compression is the paper's
    precision for words that reach one state. For different states precision and recall are means
    over suffixes, weighted by the pair's mass, where the paper takes the shortest suffixes that one
    of two words allows and the other does not.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> from pdfalearn.datasets import reber
    >>> def network(words):  # which knows all about the last symbol and nothing else
    ...     ends = {"T": "SX", "S": "SX", "X": "SX", "P": "TV", "V": "PV"}
    ...     return [[0.01, *(0.495 * (s in ends.get(w[-1:][0], "")) for s in "PSTVX")] if w
    ...             else [0.01, 0.495, 0, 0.495, 0, 0] for w in words]
    >>> found = coherence(FunctionModel(network, "PSTVX"), reber())
    >>> 0 < found.compression < 1 and 0 < found.recall < 1
    True
    """
    check_equivalence(equivalence)
    least, count = check_number(least, "least", 1e-9, 1), check_integer(count, "count", 0)
    world, known = _world(truth), Support() if isinstance(truth, DFA) else equivalence
    classes = np.append(known.classes(world.probabilities), -1)
    asked = as_model(model)
    world.alphabet.positions_in(asked.alphabet)  # refuses other symbols
    pdfa = wrapped_pdfa(asked)
    if pdfa is not None:
        found, facts = _pairs_reached(world, classes, pdfa, equivalence)
    else:
        found, facts = _likely_words(world, classes, asked, equivalence, least)
    return found.measure(world.alphabet, count, **facts)


def _world(truth: PDFA | DFA) -> PDFA:
    """Return the automaton of the possible words."""
    if isinstance(truth, DFA):
        trimmed = trim_dfa(truth)
        if trimmed is None:
            raise InputError("the truth accepts no word; mark the states where words may end")
        rows = normalise_rows(np.column_stack((trimmed.accepting, trimmed.transitions >= 0)))
        return PDFA(alphabet=truth.alphabet, transitions=trimmed.transitions, probabilities=rows)
    return possible_part(check_pdfa(truth, "truth"))


def _pairs_reached(
    world: PDFA, classes: Integers, pdfa: PDFA, equivalence: Equivalence
) -> tuple[_Beginnings, _Facts]:
    """Return all pairs of states that words reach, each as one beginning."""
    world, pdfa = over_union(world, reachable_part(pdfa))
    pairs, size = Pairs.visited(world, pdfa), len(world)
    # Both automata in one table, the undefined state of both last.
    others = equivalence.classes(pdfa.probabilities) + classes.max() + 1
    table = np.concatenate((world.transitions, np.where(pdfa.table < 0, -1, pdfa.table + size)))
    suffixes, columns = tell_states_apart(table, np.concatenate((classes[:-1], others, [-1])))
    answers = columns[np.where(pairs.rights < 0, -1, pairs.rights + size)]
    weights = visits_and_weights(pairs.flow)[1]
    facts = {"suffixes": suffixes, "beginnings": None, "covered": 1.0, "words": 0}
    decode = world.alphabet.decode
    truths = columns[pairs.lefts]
    return _Beginnings(truths, answers, weights, lambda one: decode(pairs.word(one))), facts


def _likely_words(
    world: PDFA, classes: Integers, model: LanguageModel, equivalence: Equivalence, least: float
) -> tuple[_Beginnings, _Facts]:
    """Return all beginnings of words that are likely enough, and ask the model for them."""
    suffixes, columns = tell_states_apart(world.table, classes)
    codes = world.alphabet.positions_in(model.alphabet)
    rows = normalise_rows(world.probabilities)
    states, masses, nodes = [world.initial], [1.0], [0]
    with ObservationTree(model, equivalence) as tree:
        for place, (state, mass) in enumerate(zip(states, masses, strict=False)):  # they grow
            for symbol in np.flatnonzero(mass * rows[state, 1:] >= least).tolist():
                states.append(int(world.table[state, symbol]))
                masses.append(mass * float(rows[state, symbol + 1]))
                nodes.append(tree.node([int(codes[symbol])], nodes[place]))
            if len(nodes) * len(suffixes) > _MOST_QUESTIONS:
                raise InputError(
                    f"more than {_MOST_QUESTIONS:,} words would be asked for, {len(suffixes):,} "
                    f"for each beginning that is at least {least:g} likely; take a larger least, "
                    "or a world whose words end"
                )
        numbers = [tree.suffixes.add_word(codes[suffix].tolist()) for suffix in suffixes]
        every = np.array(nodes)
        answers = [tree.classes(every, np.full(len(every), number)) for number in numbers]
        asked = tree.counts.words
    flow = Reached.of(world).flow
    covered = sum(masses) / float(flow.values(flow.sums)[0])
    facts = {"suffixes": suffixes, "beginnings": len(nodes), "covered": covered, "words": asked}
    table, weights = np.column_stack(answers), np.array(masses)
    return _Beginnings(columns[states], table, weights, lambda one: tree.word(nodes[one])), facts


@dataclass(frozen=True)
class _Beginnings:
    """Beginnings of words: classes of what they reach, and of answers, after every suffix."""

    truths: Integers
    answers: Integers
    weights: Floats
    spell: Callable[[int], tuple[Symbol, ...]]
    """Returns the word of one of them."""

    def measure(
        self, alphabet: Alphabet, count: int, suffixes: list[Codes], **facts: Any
    ) -> Coherence:
        """Compare all pairs, each as likely as its two beginnings."""
        weights = self.weights / self.weights.sum()
        states, answers = numbered_rows(self.truths), numbered_rows(self.answers)

        def different(*keys: Integers) -> float:
            """Return how likely all of some keys differ, by inclusion and exclusion."""
            mass = 0.0
            for size in range(len(keys) + 1):
                for some in combinations(keys, size):
                    labels = numbered_rows(np.column_stack((np.zeros(len(weights)), *some)))
                    mass += (-1) ** size * float(np.square(np.bincount(labels, weights)).sum())
            return mass if mass > _ROUNDING else 0.0

        told = sum(different(answer, states) for answer in self.answers.T)
        to_tell = sum(map(different, self.truths.T))
        rightly = sum(map(different, self.truths.T, self.answers.T))
        others, distinct = different(states), different(states, answers)
        # Two beginnings with different answers reach different states, or they split one.
        alike = 1 - others - different(answers) + distinct
        shares = (alike, 1 - others), (distinct, others), (rightly, told), (rightly, to_tell)
        after = tuple(map(alphabet.decode, suffixes))
        # All beginnings with the same state and answers count as one, the likeliest of them.
        groups = numbered_rows(np.column_stack((states, answers)))
        masses, order = np.bincount(groups, weights), np.argsort(-weights, kind="stable")
        firsts = order[np.unique(groups[order], return_index=True)[1]]

        def likeliest(labels: Integers, table: Integers) -> tuple[Incoherence, ...]:
            """Name groups of one label, which differ in the table."""
            members: dict[int, list[int]] = {}
            for group in np.argsort(-masses, kind="stable").tolist():
                found = members.setdefault(int(labels[firsts[group]]), [])
                if len(found) <= count:
                    found.append(group)
            pairs = (pair for found in members.values() for pair in combinations(found, 2))
            largest = nlargest(count, pairs, key=lambda pair: masses[pair[0]] * masses[pair[1]])
            return tuple(
                Incoherence(
                    self.spell(int(firsts[one])),
                    self.spell(int(firsts[other])),
                    after[int((table[firsts[one]] != table[firsts[other]]).argmax())],
                    2 * float(masses[one] * masses[other]),
                )
                for one, other in largest
            )

        names = ("compression", "distinction", "precision", "recall")
        for name, (part, whole) in zip(names, shares, strict=True):
            facts[name] = round(part / whole, 12) if whole else nan
        return Coherence(
            split=likeliest(states, self.answers),
            merged=likeliest(answers, self.truths),
            suffixes=after,
            **facts,
        )
