"""Recorded words as evidence: candidates for automata, their rows, and words that are held out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from pdfalearn.alphabet import Alphabet
from pdfalearn.corpora import PrefixTree, RecordedWords
from pdfalearn.distilling.evidence import Evidence, Table
from pdfalearn.distilling.machines import Machine, States
from pdfalearn.distilling.searching import search, search_from
from pdfalearn.distilling.settings import SearchSettings
from pdfalearn.passive import Weights, merge_variously, predict_words
from pdfalearn.pdfa import PDFA
from pdfalearn.results import comparable, find_supported
from pdfalearn.text import shorten
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

# At least this many words, and half of all, begin with a symbol of their own if that is an
# identifier.
_IDENTIFIERS = 10

# Tables of at most this many columns are dense.
_NARROW = 64
# How many words the prior of a row may be worth, where that is the row of a state or context that
# the state came from.
_COUNTED = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3)
# The same where the prior is what a teacher says.
_TAUGHT = (1.0, 10.0, 100.0, 1e3, 1e5)
# Smaller automata are not searched for in a teacher's answers: counts are enough for them.
TAUGHT_AT_LEAST = 12
# Merged prefixes are given up where they have more states than one for this many words or for this
# many positions: they would have learnt chance, slowly. Few states are enough for any words, and
# beyond many it takes too long.
_WORDS, _POSITIONS, _FEW_STATES, _MANY_STATES = 40, 200, 120, 1_000
# The shares for what was never seen, if a larger one than that given suits held-out words better.
_SHARES = (0.1, 0.3, 0.9)
# It has to lower the loss of one state to this share of it.
_WORTH_IT = 0.99


class Candidate(NamedTuple):
    """An automaton without its rows, and how these may be estimated."""

    # The size that it was searched for.
    size: int
    transitions: States
    # What rows are drawn to.
    priors: Floats
    # How many words the prior may be worth.
    strengths: tuple[float, ...]
    # Whether it was searched for in what a teacher says.
    is_taught: bool = False


class MeasuredCandidate(NamedTuple):
    """A candidate, with what held-out words say about it."""

    candidate: Candidate
    # How many words the prior is worth, by all held-out words.
    strength: float
    # The mean loss of a position of the words to learn from, each left out in turn.
    training_loss: float
    # Of every held-out word the loss, and how many of its positions are impossible, with the
    # strength that the other half of these words prefers.
    losses: Floats
    infinite: Floats


class Recorded:
    """Words to learn from: the tree of their prefixes, and what follows each of these."""

    def __init__(self, recorded: RecordedWords, width: int) -> None:
        self.tree = tree = PrefixTree.of(recorded.words, width, recorded.is_cut)
        nodes = np.arange(len(tree))
        rows = np.concatenate((nodes, tree.parents[1:]))
        columns = np.concatenate((np.zeros(len(tree), dtype=np.int64), tree.symbols[1:] + 1))
        counts = np.concatenate((tree.ends, tree.passes[1:]))
        self._counts = csr_array((counts, (rows, columns)), shape=(len(tree), width + 1))
        self._counts.eliminate_zeros()
        # How often something follows each prefix: words that were cut there say nothing.
        self._weights: Floats = np.asarray(self._counts.sum(axis=1))
        self.positions = self._weights.sum()

    def make_evidence(self, rows: Table | None = None) -> Evidence:
        """Return what follows every prefix, or the rows of a teacher, as evidence."""
        tree, table = self.tree, rows
        if table is None:
            shares = self._counts.copy()
            shares.data /= np.repeat(self._weights, np.diff(shares.indptr))
            table = shares.toarray() if tree.width < _NARROW else shares
        # Prefixes at which all words were cut have nothing below them, and say nothing.
        known = self._weights.nonzero()[0]
        if len(known) == len(tree):
            return Evidence(tree.parents, tree.symbols, self._weights, table)
        parents = np.searchsorted(known, tree.parents[known])
        return Evidence(parents, tree.symbols[known], self._weights[known], table[known])

    def count_rows(self, transitions: States) -> Floats:
        """Return how often each symbol and the end follow the words that lead to each state."""
        states, count = run_tree(self.tree, transitions), len(self.tree)
        shape = (len(transitions), count)
        groups = csr_array((np.ones(count), (states, np.arange(count))), shape=shape)
        return np.asarray((groups @ self._counts).toarray())


def take_words(recorded: RecordedWords, places: Integers) -> RecordedWords:
    """Return the words at some places."""
    return RecordedWords(recorded.words.take(places), recorded.is_cut[places])


def take_first(recorded: RecordedWords, most: int) -> RecordedWords:
    """Return the first words, of at most this many prefixes but at least one word."""
    words, _ = recorded.words.split(most)
    return RecordedWords(words, recorded.is_cut[: len(words)])


def run_tree(tree: PrefixTree, transitions: States) -> States:
    """Return the state after every prefix."""
    states = np.zeros(len(tree), dtype=np.int32)
    for level in tree.levels[1:]:
        states[level] = transitions[states[tree.parents[level]], tree.symbols[level]]
    return states


def propose_counted(
    recorded: Recorded, sizes: Sequence[int], settings: SearchSettings
) -> Iterator[Candidate]:
    """Yield automata of at most each size, searched for in what follows every prefix."""
    for size, fit in search(recorded.make_evidence(), sizes, counted=True, settings=settings):
        yield Candidate(size, fit.machine.transitions, fit.machine.priors, _COUNTED)


def propose_one_state(recorded: Recorded) -> Candidate:
    """Return the automaton of one state."""
    transitions = np.zeros((1, recorded.tree.width), dtype=np.int32)
    counts = recorded.count_rows(transitions)
    return Candidate(1, transitions, counts / counts.sum(), _COUNTED)


def propose_merged(
    recorded: Recorded, sizes: Sequence[int], most: int, settings: SearchSettings
) -> Iterator[Iterator[Candidate]]:
    """Yield runs of automata: each begins with one that a criterion of state merging finds.

    These have no more states than ``most``, or than the words support.

    This one is polished, and then made smaller. These criteria are quick, and other than contexts
    they see what words of the same end have in common from their beginning.
    """
    evidence = recorded.make_evidence()
    words, positions = recorded.tree.passes[0], recorded.positions
    most = int(
        max(most, _FEW_STATES, min(_MANY_STATES, max(words / _WORDS, positions / _POSITIONS)))
    )
    for transitions, counts in merge_variously(recorded.tree, most):
        totals = counts.sum(axis=0) + 0.5
        rows = np.tile(totals / totals.sum(), (len(counts), 1))
        fits = search_from(Machine(transitions, rows, rows), evidence, sizes, settings=settings)
        yield (
            Candidate(len(fit.machine.rows), fit.machine.transitions, fit.machine.priors, _COUNTED)
            for fit in fits
        )


def propose_taught(
    recorded: Recorded, rows: Floats, sizes: Sequence[int], settings: SearchSettings
) -> Iterator[Candidate]:
    """Yield automata of at most each size, searched for in what a teacher says of every prefix.

    Words say little about what follows each prefix, and a teacher says all of it: so the search
    need not tell chance from what is there.
    """
    wanted = [size for size in sizes if size >= TAUGHT_AT_LEAST]
    if wanted:
        for size, fit in search(
            recorded.make_evidence(rows), wanted, cycles=False, settings=settings
        ):
            yield Candidate(size, fit.machine.transitions, fit.machine.rows, _TAUGHT, True)


def mix_priors(counts: Floats, priors: Floats, unseen: float) -> Floats:
    """Return what rows are drawn to.

    A share ``unseen`` of it goes to all symbols alike. Without it, what was never seen after the
    words of a state stays impossible there.
    """
    if unseen:
        return np.asarray((1 - unseen) * priors + unseen / priors.shape[1])
    return np.where((counts > 0) | (counts.sum(axis=1) == 0)[:, None], priors, 0.0)


def estimate_rows(counts: Floats, priors: Floats, strength: float, unseen: float) -> Floats:
    """Return rows drawn to their priors, as if these were worth some words."""
    rows = counts + strength * mix_priors(counts, priors, unseen)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def choose_unseen(recorded: Recorded, held_out: HeldOutWords, least: float) -> float:
    """Return the share for what was never seen: that given, or more if one state loses much less.

    Where there are many symbols, much of what comes was never seen before.
    """
    single = propose_one_state(recorded)
    counts = recorded.count_rows(single.transitions)

    def lose(share: float) -> float:
        tables = [estimate_rows(counts, single.priors, each, share) for each in single.strengths]
        return min(float(held_out.losses(single.transitions, rows)[0].sum()) for rows in tables)

    chosen, lost = least, lose(least)
    for share in (share for share in _SHARES if share > least > 0):
        if (less := lose(share)) < _WORTH_IT * lost:
            chosen, lost = share, less
    return chosen


def leave_one_out(counts: Floats, priors: Floats, strength: float, unseen: float) -> float:
    """Return what words lose in all if each position is predicted from all others.

    So rows of many symbols that were seen once look no better than they are. Where nothing else was
    seen and nothing unseen is allowed, a position counts as itself.
    """
    others = np.maximum(counts - 1, 0) if unseen else counts
    totals = counts.sum(axis=1, keepdims=True) - (1 if unseen else 0)
    prior = mix_priors(counts, priors, unseen)
    rows = (others + strength * prior) / np.maximum(totals + strength, strength)
    return -float(xlogy(counts, rows).sum())


def choose_points(
    found: Iterable[MeasuredCandidate], words: slice | NDArray[np.bool_] = slice(None)
) -> list[MeasuredCandidate]:
    """Return automata of growing size, each better on held-out words than all smaller ones."""
    chosen: list[MeasuredCandidate] = []
    least = np.inf
    order = [(len(each.candidate.transitions), sum_up(each, words), each) for each in found]
    for _, lost, each in sorted(order, key=lambda each: each[:2]):
        if lost < least:
            chosen.append(each)
            least = lost
    return chosen


def choose_best(
    found: Iterable[MeasuredCandidate],
    words: NDArray[np.bool_],
    recorded: Recorded,
    lengths: Floats,
) -> MeasuredCandidate:
    """Return the automaton that is best by some of the held-out words."""
    points = choose_points(found, words)
    place = find_supported(
        [len(each.candidate.transitions) for each in points],
        recorded.tree.width,
        np.array([each.training_loss for each in points]) * recorded.positions,
        np.array([comparable(each.losses, each.infinite)[words] for each in points]),
        lengths[words],
        [each.candidate.is_taught for each in points],
    )
    return points[place]


def sum_up(found: MeasuredCandidate, words: slice | NDArray[np.bool_] = slice(None)) -> float:
    """Return what held-out words lose in all."""
    return float(comparable(found.losses, found.infinite)[words].sum())


class HeldOutWords:
    """Words that nothing is learnt from."""

    def __init__(self, recorded: RecordedWords, width: int) -> None:
        words, self._is_cut = recorded
        self._tree, self._ends = PrefixTree.with_ends(words, width, self._is_cut)
        # How many positions every word has.
        self.lengths: Floats = (words.lengths + ~self._is_cut).astype(np.float64)

    def losses(self, transitions: States, rows: Floats) -> tuple[Floats, Floats]:
        """Return of every word -ln P, and how many of its positions are impossible.

        Impossible positions add nothing to the first.
        """
        tree, states = self._tree, run_tree(self._tree, transitions)
        before, columns = states[tree.parents[1:]], tree.symbols[1:] + 1
        return self._sum_up(rows[before, columns], rows[states[self._ends], 0])

    def teacher_losses(self, teacher: Weights) -> Floats:
        """Return -ln P of every word where an automaton need not be deterministic."""
        followed, ended = predict_words(teacher, self._tree)
        return comparable(*self._sum_up(followed[1:], ended[self._ends]))

    def _sum_up(self, followed: Floats, ended: Floats) -> tuple[Floats, Floats]:
        """Add up surprisals along words, and impossible positions, given the symbols' shares."""
        found = np.zeros((2, len(self._ends)))
        for place, values in enumerate((_surprisals(followed), followed == 0)):
            sums = np.concatenate(([0.0], values))
            for level in self._tree.levels[1:]:
                sums[level] += sums[self._tree.parents[level]]
            found[place] = sums[self._ends]
        ended = np.where(self._is_cut, 1.0, ended)
        return found[0] + _surprisals(ended), found[1] + (ended == 0)

    def measure(self, transitions: States, rows: Floats) -> tuple[float, float]:
        """Return the mean of Σ |p - p̂| where p is all on what follows, and the word error rate."""
        tree, likeliest = self._tree, rows.argmax(axis=1)
        states = run_tree(tree, transitions)
        before, columns = states[tree.parents[1:]], tree.symbols[1:] + 1
        total = tree.passes[1:].sum() + tree.ends.sum()
        missed = tree.passes[1:] @ (1 - rows[before, columns]) + tree.ends @ (1 - rows[states, 0])
        wrong = tree.passes[1:] @ (likeliest[before] != columns) + tree.ends @ (
            likeliest[states] != 0
        )
        return 2 * float(missed / total), float(wrong / total)


def find_worst_loss(pdfa: PDFA) -> float:
    """Return the most that a position loses which is not impossible."""
    rows = pdfa.probabilities
    return -float(np.log(rows[rows > 0].min()))


def _surprisals(probabilities: Floats) -> Floats:
    """Return -ln of every probability, 0 where it is 0."""
    return -np.log(np.where(probabilities > 0, probabilities, 1.0))


def warn_of_identifiers(words: Words, alphabet: Alphabet) -> None:
    """Warn where most words begin with a symbol that comes only there."""
    counts = np.bincount(words.symbols, minlength=len(alphabet))
    first = words.symbols[words.offsets[:-1][words.lengths > 0]]
    first = first[counts[first] == 1]
    # Where symbols are rare at other places, too, the first ones are nothing special.
    others = int((counts == 1).sum()) - len(first)
    if len(first) >= max(_IDENTIFIERS, len(words) / 2) and 10 * others < len(words.symbols):
        warnings.warn(
            f"{len(first):,} of {len(alphabet):,} symbols occur once, as the first of their words: "
            f"is that an identifier, as {shorten(repr(alphabet.symbols[first[0]]), 60)}? Then "
            "leave it out, as 'cut -d, -f2-' does where a comma is behind it",
            stacklevel=6,
        )
