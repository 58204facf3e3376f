"""Merge prefixes of words into states, the surest first; such automata can count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.distilling.evidence import Evidence, make_dense, xlogx
from pdfalearn.distilling.machines import Machine
from pdfalearn.typing import Floats, Integers

# At most about this many prefixes are merged, the heaviest ones.
_MOST_NODES = 2**13
# So few are merged before, to see whether it is worth it.
_FEW_NODES = 2**10
# Larger alphabets are left to contexts.
_WIDEST = 512
# About this many pairs of probabilities are compared at once.
_AT_ONCE = 2**20
# At most this many transitions are looked at in a round, the heaviest ones.
_BLUES = 48
# Prefixes that fewer words pass are not compared.
_LIGHT = 0.5
# At most this many words count: an answer is not surer if it is given more often.
_HEAVY = 10.0
# Merge transitions whose compared weight is at least this share of the largest.
_SURE = 0.5


class Scores(NamedTuple):
    """How far transitions (rows) are from states (columns)."""

    # How many nats a merge loses beyond what is tolerated; from 1 on the two are different.
    excess: Floats
    # How many words were compared.
    weights: Floats


class Folding:
    """Prefixes that are being folded into states.

    A prefix is *red* if it is a state, and *blue* if it follows a state and is not one yet. Answers
    may differ by ``tolerated`` nats for each word that passes.
    """

    def __init__(self, evidence: Evidence, tolerated: float, nodes: int | None = None) -> None:
        self._tolerated, most = tolerated, nodes or _MOST_NODES
        kept = np.arange(evidence.size)
        if evidence.size > most:
            kept = _find_heaviest(evidence, most)
        numbers = np.full(evidence.size, -1)
        numbers[kept] = np.arange(len(kept))
        self.children = np.full((len(kept), evidence.width), -1, dtype=np.int64)
        inner = kept[1:]
        self.children[numbers[evidence.parents[inner]], evidence.symbols[inner]] = numbers[inner]
        self.weights = evidence.weights[kept]
        self.sums: Floats = make_dense(evidence.answers[kept]) * self.weights[:, None]
        self.reds: list[int] = [0]

    def blues(self) -> tuple[Integers, Integers, Integers]:
        """Return the heaviest blue prefixes, and the states and symbols that lead there."""
        reds = np.array(self.reds)
        found = self.children[reds]
        is_blue = (found >= 0) & ~np.isin(found, reds)
        places, symbols = is_blue.nonzero()
        blues = found[places, symbols]
        order = np.argsort(-self.weights[blues], kind="stable")[:_BLUES]
        return blues[order], reds[places[order]], symbols[order]

    def scores(self, blues: Integers, reds: Integers) -> Scores:
        """Compare the words after blue prefixes with those after red ones."""
        shape = (len(blues), len(reds))
        totals = np.zeros((2, blues.size * reds.size))
        lefts, rights = np.repeat(blues, len(reds)), np.tile(reds, len(blues))
        # Pairs of prefixes, and the pair of the beginning that each belongs to.
        pending = [np.stack((lefts, rights, np.arange(len(lefts))))]
        most = max(1, _AT_ONCE // self.sums.shape[1])
        while pending:
            pairs = pending.pop()
            if pairs.shape[1] > most:
                pending.append(pairs[:, most:])
            lefts, rights, owners = pairs[:, :most]
            left, right = self.weights[lefts], self.weights[rights]
            ours, theirs = self.sums[lefts], self.sums[rights]
            # What one mean for both loses.
            both, weight = ours + theirs, left + right
            lost = xlogx(ours).sum(1) + xlogx(theirs).sum(1) - xlogx(both).sum(1)
            lost += xlogx(weight) - xlogx(left) - xlogx(right)
            shared = left * right / weight
            compared = np.minimum(shared, _HEAVY)
            beyond = np.maximum(lost / shared - self._tolerated, 0.0) * compared
            for total, value in zip(totals, (beyond, compared), strict=True):
                total += np.bincount(owners, value, len(total))
            # Go on with the pairs one symbol longer.
            ours_after, theirs_after = self.children[lefts], self.children[rights]
            places, symbols = ((ours_after >= 0) & (theirs_after >= 0)).nonzero()
            longer = np.stack((ours_after[places, symbols], theirs_after[places, symbols]))
            heavy = self.weights[longer].min(axis=0) >= _LIGHT
            if heavy.any():
                pending.append(np.vstack((longer, owners[places]))[:, heavy])
        return Scores(*totals.reshape(2, *shape))

    def merge(self, red: int, symbol: int, target: int) -> None:
        """Lead a transition to a state, and fold what was there into what follows this state."""
        lefts = self.children[red, symbol][None]
        self.children[red, symbol] = target
        rights = np.array([target])
        while len(lefts):
            np.add.at(self.sums, rights, self.sums[lefts])
            np.add.at(self.weights, rights, self.weights[lefts])
            places, symbols = (self.children[lefts] >= 0).nonzero()
            left, owner = self.children[lefts[places], symbols], rights[places]
            keys = owner * self.children.shape[1] + symbols
            new = np.unique(keys, return_index=True)[1]
            new = new[self.children[owner[new], symbols[new]] < 0]
            self.children[owner[new], symbols[new]] = left[new]
            is_new = np.zeros(len(left), dtype=bool)
            is_new[new] = True
            lefts, rights = left[~is_new], self.children[owner, symbols][~is_new]


def _find_heaviest(evidence: Evidence, most: int) -> Integers:
    """Return the heaviest nodes, each with all that lead to it, in their order."""
    least = float(np.partition(evidence.weights, -most)[-most])
    is_kept = evidence.weights >= least
    is_kept[0] = True
    for level in evidence.levels[1:]:
        is_kept[level] &= is_kept[evidence.parents[level]]
    return is_kept.nonzero()[0]


def merge_prefixes(evidence: Evidence, tolerated: float, most: int) -> Machine | None:
    """Return an automaton whose states are merged prefixes; None if it would be too large."""
    if evidence.width > _WIDEST:
        return None
    # A few prefixes mostly show already that there are too many states.
    for nodes in (_FEW_NODES, None):
        folding = Folding(evidence, tolerated, nodes)
        while _do_round(folding, most):
            if len(folding.reds) > most:
                return None
    return _make_machine(folding, evidence)


def _do_round(folding: Folding, most: int) -> bool:
    """Make states of blue prefixes that are different from all, or merge the surest others.

    Return whether there were any.
    """
    blues, befores, symbols = folding.blues()
    if not len(blues):
        return False
    scores = folding.scores(blues, np.array(folding.reds))
    is_open = np.ones(len(blues), dtype=bool)
    while len(folding.reds) <= most:
        least = np.where(is_open, scores.excess.min(axis=1), -np.inf)
        furthest = int(least.argmax())
        if least[furthest] < 1.0:
            break
        is_open[furthest] = False
        folding.reds.append(int(blues[furthest]))
        column = folding.scores(blues, blues[furthest : furthest + 1])
        scores = Scores(*(np.hstack(pair) for pair in zip(scores, column, strict=True)))
    if is_open.all():
        nearest = scores.excess.argmin(axis=1)
        weights = scores.weights[np.arange(len(nearest)), nearest]
        # Transitions that have one choice are sure; without any, the heaviest is merged.
        certain = ((scores.excess < 1.0).sum(axis=1) <= 1).nonzero()[0]
        surest = certain[weights[certain] >= _SURE * weights[certain].max(initial=0.0)]
        for place in surest.tolist() or [int(weights.argmax())]:
            target = folding.reds[int(nearest[place])]
            folding.merge(int(befores[place]), int(symbols[place]), target)
    return True


def _make_machine(folding: Folding, evidence: Evidence) -> Machine:
    """Return the states; an unseen transition leads where most words with its symbol are led."""
    reds = np.array(folding.reds)
    numbers: NDArray[np.int32] = np.full(len(folding.weights) + 1, -1, dtype=np.int32)
    numbers[reds] = np.arange(len(reds), dtype=np.int32)
    transitions = numbers[folding.children[reds]]
    flows = evidence.spread(folding.sums[reds])[:, 1:]
    for symbol in range(transitions.shape[1]):
        column = transitions[:, symbol]
        taken = column >= 0
        if not taken.all():
            led = np.bincount(column[taken], flows[taken, symbol], len(reds))
            column[~taken] = led.argmax()
    rows = folding.sums[reds] / folding.weights[reds][:, None]
    return Machine(transitions, rows, rows)
