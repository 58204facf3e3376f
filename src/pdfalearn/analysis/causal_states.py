"""How much an endless process remembers: statistical complexity and excess entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import entr

from pdfalearn.arrays import numbered_rows
from pdfalearn.chains import Reached, normalise_rows, visits_and_weights
from pdfalearn.checks import check_number
from pdfalearn.equivalence import Equivalence, Exact, quotient
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.reachability import possible_part
from pdfalearn.results import TableValue
from pdfalearn.text import count_text
from pdfalearn.typing import Floats

_MOST_STEPS = 10_000
# At most this many cells are computed before the bounds have come nearer by a tenth.
_PATIENCE = 2**20
# At most this many cells of mixed states are kept; others are merged.
_MOST_CELLS = 2**15


@dataclass(frozen=True, eq=False)
class Complexity(TableValue):
    """What an endless process remembers, in nats.

    Examples
    --------
    >>> even = PDFA(
    ...     alphabet="01", transitions=[[0, 1], [-1, 0]], probabilities=[[0, 0.5, 0.5], [0, 0, 1]]
    ... )
    >>> print(complexity(even))
                                nats
    causal states                  2
    statistical complexity  0.636514
    entropy rate            0.462098
    excess entropy          0.636514
    """

    statistical_complexity: float
    """The entropy of the causal states: what the past leaves behind."""
    entropy_rate: float
    """The entropy of the next symbol, given the past."""
    excess_low: float
    excess_high: float
    """The excess entropy lies between these: what past and future have in common."""
    states: PDFA
    """The ε-machine: a state for each causal state; which one is initial does not matter."""
    shares: Floats
    """The share of each causal state among positions, in the long run."""

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return all figures."""
        low, high = (f"{value:.6g}" for value in (self.excess_low, self.excess_high))
        figures = {
            "causal states": f"{len(self.states):,}",
            "statistical complexity": f"{self.statistical_complexity:.6g}",
            "entropy rate": f"{self.entropy_rate:.6g}",
            "excess entropy": low if low == high else f"{low} to {high}",
        }
        return [[("", "nats"), *figures.items()]]


def complexity(
    pdfa: PDFA, *, equivalence: Equivalence | None = None, gap: float = 1e-9
) -> Complexity:
    """Compute statistical complexity and excess entropy of an automaton whose words never end.

    Words are taken as they are in the long run: the process is stationary, and where words begin
    does not count.

    Parameters
    ----------
    pdfa : PDFA
        An automaton without ends, whose words all come to stay in one and the same part of it. Its
        rows are divided by their sums.
    equivalence : Equivalence, optional
        When two distributions are the same, as for `quotient`; `Exact` if not given. A learnt
        automaton may need ``Rounded(Exact(), decimals=9)``, or to be simplified first.
    gap : float
        The bounds of the excess entropy may be that far apart.

    Notes
    -----
    The causal states of Crutchfield and Young (1989) are the states of the minimal automaton. With
    S₀ for the present one and X for the symbols to come, the excess entropy is H(S₀) - H(S₀ | X).
    After L symbols H(S₀ | X₁…X_L) bounds H(S₀ | X) from above, and H(S₀ | X₁…X_L, S_L) from below;
    the difference is H(S_L | X₁…X_L), which shrinks exponentially. Both are entropies of the mixed
    states of the process backward in time. Where these are too many, near ones are merged: that
    hides a part of the symbols, and by how much it may lower the second bound is added up. So the
    bounds are certain but for rounding, if sometimes more than ``gap`` apart.

    Examples
    --------
    >>> golden = PDFA(
    ...     alphabet="01", transitions=[[0, 1], [0, -1]], probabilities=[[0, 0.5, 0.5], [0, 1, 0]]
    ... )
    >>> found = complexity(golden)
    >>> round(found.statistical_complexity, 6), round(found.excess_low, 6)
    (0.636514, 0.174416)
    """
    gap = check_number(gap, "gap", 0, 1)
    machine = quotient(_lasting_part(pdfa), equivalence=equivalence or Exact())
    shares = visits_and_weights(Reached.of(machine).flow)[1]
    rows = normalise_rows(machine.probabilities[:, 1:])
    whole = float(entr(shares).sum())
    back = _Backward(machine, rows, shares)
    low, high = 0.0, whole
    unsure = back.states(shares[None], np.ones(1))
    sure = back.states(np.eye(len(shares)), shares)
    last, cells = np.inf, 0
    for _ in range(_MOST_STEPS):
        low = max(low, whole - _entropy(unsure.etas, unsure.weights))
        high = min(high, whole - _entropy(sure.etas, sure.weights) + sure.hidden)
        if high - low < 0.9 * last:
            last, cells = high - low, 0
        cells += (unsure.etas.size + sure.etas.size) * len(machine.alphabet)
        if high - low <= gap or cells > _PATIENCE:
            break
        unsure, sure = back.step(unsure), back.step(sure)
    shares.setflags(write=False)
    rate, (low, high) = _entropy(rows, shares), sorted((low, high))
    return Complexity(whole, rate, low, high, machine, shares)


def _lasting_part(pdfa: PDFA) -> PDFA:
    """Return the part in which all words come to stay, without what is impossible."""
    pdfa = check_pdfa(pdfa, "pdfa")
    reached = Reached.of(pdfa)
    flow = reached.flow
    if (flow.leaving > 0).any():
        state = int(reached.states[(flow.leaving > 0).argmax()])
        raise InputError(
            f"words may end in state {state}, and complexity is of words that never end; "
            "entropy and length are for words that do"
        )
    parts = int(flow.components.max()) + 1
    found = np.unique(flow.components, return_index=True)[1][-parts:]
    firsts = sorted(reached.states[found].tolist())
    if parts > 1:
        raise InputError(
            f"words come to stay in one of {count_text(parts, 'parts')} of the automaton; ask "
            f"about each alone, with one of the states {', '.join(map(str, firsts[:5]))} as initial"
        )
    return possible_part(pdfa, firsts[0])


class _Mixed(NamedTuple):
    """What the symbols to come tell of the present state: distributions over states, weighted."""

    etas: Floats
    weights: Floats
    hidden: float
    """So much, in nats, merging may have hidden of what the symbols tell."""


def _entropy(etas: Floats, weights: Floats) -> float:
    return float(weights @ entr(etas).sum(axis=1))


def _merge(etas: Floats, weights: Floats, keys: Floats) -> tuple[Floats, Floats]:
    """Replace mixed states of the same key by their mean."""
    numbers = numbered_rows(keys)
    sums = np.bincount(numbers, weights)
    rows = np.arange(len(numbers))
    means = csr_array((weights / sums[numbers], (numbers, rows)), shape=(len(sums), len(rows)))
    return np.asarray(means @ etas), sums.astype(np.float64)


class _Backward:
    """The process backward in time, whose mixed states are pushed on by one symbol at a time."""

    def __init__(self, machine: PDFA, rows: Floats, shares: Floats) -> None:
        self._successors = machine.transitions.T
        self._flows = (shares[:, None] * rows).T  # of every symbol and state
        self._shares = shares
        self._most = max(16, _MOST_CELLS // len(machine))

    def states(self, etas: Floats, weights: Floats, hidden: float = 0.0) -> _Mixed:
        """Merge mixed states that are the same, and near ones if they are too many."""
        etas, weights = _merge(etas, weights, np.round(etas, 13) + 0.0)
        if len(weights) > self._most:
            before = _entropy(etas, weights)
            # The likeliest half stays as it is: each has a row of its own.
            keys = np.column_stack((np.sqrt(etas), np.zeros(len(etas))))
            order = np.argsort(-weights, kind="stable")
            keys[order[: self._most // 2], -1] = np.arange(1, self._most // 2 + 1)
            # Roots of probabilities are rounded to multiples of 1/2ⁿ, finely if that is enough.
            for grid in range(10, -1, -1):
                rounded = np.rint(keys * 2.0**grid)
                if len(np.unique(numbered_rows(rounded))) <= self._most:
                    break
            etas, weights = _merge(etas, weights, rounded)
            hidden += max(0.0, _entropy(etas, weights) - before)
        return _Mixed(etas, weights, hidden)

    def step(self, mixed: _Mixed) -> _Mixed:
        """Go one symbol back: to the states from which it leads to the present ones."""
        ratios = mixed.etas / self._shares
        parts = [
            ratios[:, to] * flow for to, flow in zip(self._successors, self._flows, strict=True)
        ]
        etas = np.concatenate(parts)
        sums = etas.sum(axis=1)
        weights = np.tile(mixed.weights, len(parts)) * sums
        kept = weights > 0
        return self.states(etas[kept] / sums[kept, None], weights[kept], mixed.hidden)
